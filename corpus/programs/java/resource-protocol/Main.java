/**
 * A connection is closed when its user has ended; all its methods are synchronized, but that does not keep a close
 * from coming early.
 */
class Connection {
    private int sent;
    private boolean closed;

    synchronized void send(int bytes) {
        sent += bytes;
    }

    synchronized void close() {
        closed = true;
    }

    synchronized String summary() {
        return "sent " + sent + (closed ? ", closed" : "");
    }
}

public class Main {
    static final Connection connection = new Connection();

    static void user() {
        for (int i = 1; i <= 3; i++) {
            connection.send(i);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread user = new Thread(Main::user);
        Thread closer = new Thread(connection::close);
        user.start();
        user.join(); // it sends no more
        closer.start();
        closer.join();
        user.join();
        System.out.println(connection.summary());
    }
}

/** Mutual exclusion from the DAME paper: the class lock keeps the two apart. */
class Server {
    static int x;
    static int y;
    static int z;

    static synchronized void critical() {
        x++;
    }

    static void second() {
        critical();
        z = 9;
        y = z + 2;
    }

    static void first() {
        critical();
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Server.x = 5;
        Thread two = new Thread(Server::second);
        Thread one = new Thread(Server::first);
        two.start();
        Thread.sleep(30); // far from each other in the recorded run
        one.start();
        two.join();
        one.join();
        System.out.println("x is " + (Server.x > 5 ? "more" : "the same") + ", y " + Server.y);
    }
}

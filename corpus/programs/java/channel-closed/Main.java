import java.util.Arrays;

/**
 * Texts are sent over a channel that is closed when its sender has ended. Another channel is closed long before.
 */
class Channel {
    private String last = "";
    private boolean closed;

    synchronized void send(String text, int copies) {
        last = text + copies;
    }

    synchronized void close() {
        closed = true;
    }

    synchronized String summary() {
        return last + (closed ? ", closed" : "");
    }
}

/** A channel of another class is a channel, too. */
class Numbered extends Channel {
    private static int count;
    final int number = ++count;
}

public class Main {
    static final Channel old = new Channel();
    static final Channel channel = new Numbered();

    static void sender() {
        channel.send("hello", 1);
        channel.send("good bye", 2);
    }

    /** Waits for the end of a thread by looking for it among all threads, which orders nothing. */
    static void untilEnded(Thread thread) throws InterruptedException {
        for (boolean isThere = true; isThere; Thread.sleep(1)) {
            Thread[] all = new Thread[100];
            Thread.enumerate(all);
            isThere = Arrays.asList(all).contains(thread);
        }
    }

    public static void main(String[] args) throws Exception {
        old.send("old", 1);
        old.close();
        Thread sender = new Thread(Main::sender);
        sender.start();
        untilEnded(sender);
        sender.join(); // nothing is sent any more
        channel.close();
        sender.join();
        System.out.println(old.summary() + "; " + channel.summary());
    }
}

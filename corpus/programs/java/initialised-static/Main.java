import java.util.Arrays;

/**
 * Two threads read a static field that was set by the initialiser of its class, which orders nothing between them; what
 * they write besides is a race.
 */
class Settings {
    static int limit;

    static {
        limit = Integer.parseInt("3");
    }

    /** Has the class initialised. */
    static void load() {
    }
}

public class Main {
    static final Object own = new Object();
    static int last;

    /** Writes, then looks at the limit again and again, in sections of its own. */
    static void first() {
        last = 1;
        for (int i = 0; i < 5; i++) {
            synchronized (own) {
                if (i > Settings.limit) {
                    return;
                }
            }
        }
    }

    /** Looks at the limit, then writes. */
    static void second() {
        if (Settings.limit > 0) {
            last = 2;
        }
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
        Settings.load();
        Thread first = new Thread(Main::first);
        Thread second = new Thread(Main::second);
        first.start();
        untilEnded(first);
        second.start();
        first.join();
        second.join();
        System.out.println("limit " + Settings.limit);
    }
}

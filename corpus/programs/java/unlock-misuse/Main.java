import java.util.concurrent.locks.ReentrantLock;

/**
 * An error path unlocks twice; the second time throws, is taken for the error itself, and the program ends with code
 * 3.
 */
class Journal {
    private final ReentrantLock lock = new ReentrantLock();
    private int lines;

    void append(String line) {
        lock.lock();
        try {
            if (line.isEmpty()) {
                lock.unlock(); // the mistake: finally does it again
                return;
            }
            lines++;
        } finally {
            lock.unlock();
        }
    }

    int lines() {
        lock.lock();
        try {
            return lines;
        } finally {
            lock.unlock();
        }
    }
}

public class Main {
    static final Journal journal = new Journal();

    static final class Scribe extends Thread {
        private final String[] lines;
        boolean failed;

        Scribe(String... lines) {
            this.lines = lines;
        }

        @Override
        public void run() {
            try {
                for (String line : lines) {
                    journal.append(line);
                }
            } catch (IllegalMonitorStateException e) {
                failed = true;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Scribe one = new Scribe("a", "", "b");
        Scribe two = new Scribe("c", "d");
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("lines " + journal.lines() + (one.failed ? ", one scribe failed" : ""));
        System.exit(one.failed ? 3 : 0);
    }
}

import java.util.Arrays;
import java.util.concurrent.locks.StampedLock;

/** A range that is read optimistically: what was read while somebody wrote is thrown away. */
public class Main {
    /** Both ends are as far from 0. */
    static final class Range {
        private final StampedLock lock = new StampedLock();
        private int from;
        private int to;
        private int[] parts = {0};

        void widen(int by) {
            long stamp = lock.writeLock();
            from -= by;
            to += by;
            parts = new int[] {to};
            lock.unlockWrite(stamp);
        }

        int sum() {
            long stamp = lock.tryOptimisticRead();
            int sum = from + to;
            int[] found = parts;
            if (!lock.validate(stamp)) {
                stamp = lock.readLock();
                sum = from + to;
                found = parts;
                lock.unlockRead(stamp);
            }
            return sum + found[0] - found[0];
        }
    }

    static final Range range = new Range();

    static void widen() {
        for (int i = 0; i < 50; i++) {
            range.widen(1);
            Thread.yield();
        }
    }

    static void read() {
        for (int i = 0; i < 50; i++) {
            if (range.sum() != 0) {
                throw new IllegalStateException("torn");
            }
            Thread.yield();
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

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(Main::widen);
        Thread writer = new Thread(Main::widen);
        Thread reader = new Thread(Main::read);
        first.start();
        // Whoever comes next, a write of another thread is before the first read.
        untilEnded(first);
        writer.start();
        reader.start();
        first.join();
        writer.join();
        reader.join();
        System.out.println(range.sum());
    }
}

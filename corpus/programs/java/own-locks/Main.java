import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Locks of the program's own: one that counts, one of permits that another thread may give back, one that readers
 * share, one made of a synchronizer.
 */
public class Main {
    /** A lock that counts how often it was taken, while it has it. */
    static final class Counting extends ReentrantLock {
        int taken;

        @Override
        public void lock() {
            super.lock();
            taken++;
        }
    }

    /** What the others have in common. */
    abstract static class Simple implements Lock {
        @Override
        public void lockInterruptibly() {
            lock();
        }

        @Override
        public boolean tryLock() {
            lock();
            return true;
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) {
            return tryLock();
        }

        @Override
        public Condition newCondition() {
            throw new UnsupportedOperationException();
        }
    }

    static final class Permits extends Simple {
        final Semaphore permits = new Semaphore(1);

        @Override
        public void lock() {
            permits.acquireUninterruptibly();
        }

        @Override
        public void unlock() {
            permits.release();
        }
    }

    static final class Readers extends Simple {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

        @Override
        public void lock() {
            lock.readLock().lock();
        }

        @Override
        public void unlock() {
            lock.readLock().unlock();
        }
    }

    static final class Mutex extends Simple {
        private static final class Sync extends AbstractQueuedSynchronizer {
            @Override
            protected boolean tryAcquire(int ignored) {
                return compareAndSetState(0, 1);
            }

            @Override
            protected boolean tryRelease(int ignored) {
                setState(0);
                return true;
            }
        }

        private final Sync sync = new Sync();

        @Override
        public void lock() {
            sync.acquire(1);
        }

        @Override
        public void unlock() {
            sync.release(1);
        }
    }

    static final Counting counting = new Counting();
    static final Permits permits = new Permits();
    static final Readers readers = new Readers();
    static final Mutex mutex = new Mutex();
    static int counted;
    static int permitted;
    static int excluded;
    static int shared = 1;
    static int read;

    static void work() {
        for (int i = 0; i < 20; i++) {
            counting.lock();
            counted++;
            counting.unlock();
            permits.lock();
            permitted++;
            permits.unlock();
            mutex.lock();
            excluded++;
            mutex.unlock();
            readers.lock();
            int seen = shared;
            readers.unlock();
            mutex.lock();
            read += seen;
            mutex.unlock();
        }
    }

    /** Gives back what another thread has taken. */
    static void giveBack() {
        permits.unlock();
    }

    public static void main(String[] args) throws InterruptedException {
        permits.lock();
        permitted++;
        Thread[] threads = {new Thread(Main::work), new Thread(Main::work), new Thread(Main::giveBack)};
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(counted + " " + permitted + " " + excluded + " " + read + " " + counting.taken);
    }
}

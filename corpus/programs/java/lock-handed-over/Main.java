import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock is handed over to a thread, which takes it and gives it back with its release; until then, no other thread
 * takes it.
 */
class Desk {
    /** The thread may have the lock from now on. */
    static void hand(ReentrantLock lock, Thread to) {
    }

    /** Everybody may have it. */
    static void giveBack(ReentrantLock lock) {
    }
}

public class Main {
    static final ReentrantLock lock = new ReentrantLock();
    static final CountDownLatch handed = new CountDownLatch(1);
    static int written;

    static void heir() {
        try {
            handed.await();
        } catch (InterruptedException e) {
            return;
        }
        lock.lock();
        try {
            written++;
            Desk.giveBack(lock);
        } finally {
            lock.unlock();
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
        Thread heir = new Thread(Main::heir);
        heir.start();
        Desk.hand(lock, heir);
        handed.countDown();
        untilEnded(heir);
        heir.join(); // it has given the lock back
        lock.lock();
        try {
            written++;
        } finally {
            lock.unlock();
        }
        heir.join();
        System.out.println("written " + written);
    }
}

import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Two threads take a lock and the write lock of another the other way around, and do not come back. */
public class Main {
    static final ReentrantLock desk = new ReentrantLock();
    static final ReentrantReadWriteLock shelf = new ReentrantReadWriteLock();
    static final CyclicBarrier both = new CyclicBarrier(2);

    static void meet() {
        try {
            both.await();
        } catch (Exception stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    static void deskFirst() {
        desk.lock();
        meet();
        shelf.writeLock().lock();
        System.out.println("never");
    }

    static void shelfFirst() {
        shelf.writeLock().lock();
        meet();
        desk.lock();
        System.out.println("never");
    }

    public static void main(String[] args) throws InterruptedException {
        Thread one = new Thread(Main::deskFirst);
        Thread other = new Thread(Main::shelfFirst);
        one.setDaemon(true);
        other.setDaemon(true);
        one.start();
        other.start();
        while (!shelf.hasQueuedThread(one) || !desk.hasQueuedThread(other)) {
            Thread.sleep(10);
        }
        // They are in the queues a moment before they wait.
        Thread.sleep(100);
        System.out.println("stuck");
    }
}

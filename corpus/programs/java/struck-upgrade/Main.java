import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * A thread reads a price under the read lock, wants to write it, and waits for all readers to end: for itself. Another
 * takes a stamped lock twice.
 */
public class Main {
    static final ReentrantReadWriteLock prices = new ReentrantReadWriteLock();
    static final StampedLock stock = new StampedLock();
    static int price = 1;
    static int pieces = 1;

    static void raise() {
        prices.readLock().lock();
        if (price == 1) {
            prices.writeLock().lock();
            price = 2;
            prices.writeLock().unlock();
        }
        prices.readLock().unlock();
    }

    static int count() {
        long stamp = stock.writeLock();
        try {
            return pieces;
        } finally {
            stock.unlockWrite(stamp);
        }
    }

    static void sell() {
        long stamp = stock.writeLock();
        pieces -= count();
        stock.unlockWrite(stamp);
    }

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = {new Thread(Main::raise), new Thread(Main::sell)};
        for (Thread thread : threads) {
            thread.setDaemon(true);
            thread.start();
        }
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.sleep(10);
            }
        }
        System.out.println("stuck");
    }
}

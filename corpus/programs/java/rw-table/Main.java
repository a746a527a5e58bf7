import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A table of rates under a reader-writer lock; a writer may go on as a reader before it lets go. */
class Rates {
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private final ReentrantReadWriteLock revisions = new ReentrantReadWriteLock();
    private final double[] rates = new double[4];
    private int revision;

    void revise() {
        Lock guard = revisions.writeLock();
        guard.lock();
        try {
            revision++;
        } finally {
            guard.unlock();
        }
    }

    double set(int currency, double rate) {
        lock.writeLock().lock();
        try {
            rates[currency] = rate;
            lock.readLock().lock(); // downgrade
        } finally {
            lock.writeLock().unlock();
        }
        try {
            return rates[currency];
        } finally {
            lock.readLock().unlock();
        }
    }

    double sum() {
        lock.readLock().lock();
        try {
            double sum = 0;
            for (double rate : rates) {
                sum += rate;
            }
            return sum;
        } finally {
            lock.readLock().unlock();
        }
    }

    int revision() {
        revisions.readLock().lock();
        try {
            return revision;
        } finally {
            revisions.readLock().unlock();
        }
    }
}

public class Main {
    static final Rates rates = new Rates();

    static void dollar() {
        rates.revise();
        rates.set(0, 1.25);
        rates.sum();
    }

    static void yen() {
        rates.revise();
        rates.set(1, 0.5);
        rates.sum();
    }

    static void look() {
        rates.sum();
        rates.sum();
    }

    public static void main(String[] args) throws Exception {
        Thread[] threads = {new Thread(Main::dollar), new Thread(Main::look), new Thread(Main::yen)};
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(rates.sum() + (rates.revision() > 0 ? " revised" : ""));
    }
}

import java.util.concurrent.locks.ReentrantLock;

/** Counters with a stripe of locks: one method takes the stripe of the counter, the other that of the caller. */
class Stripes {
    private final ReentrantLock[] locks = {new ReentrantLock(), new ReentrantLock(), new ReentrantLock()};
    private final short[] counts = new short[6];

    void add(int counter) {
        ReentrantLock lock = locks[counter % locks.length];
        lock.lock();
        try {
            counts[counter]++;
        } finally {
            lock.unlock();
        }
    }

    /** The mistake: the lock is chosen by who resets, not by what is reset. */
    void reset(int counter, int caller) {
        ReentrantLock lock = locks[caller % locks.length];
        lock.lock();
        try {
            counts[counter] = 0;
        } finally {
            lock.unlock();
        }
    }

    int count(int counter) {
        return counts[counter];
    }
}

public class Main {
    static final Stripes stripes = new Stripes();

    static void adder() {
        stripes.add(4);
    }

    static void resetter() {
        stripes.reset(4, 2);
    }

    public static void main(String[] args) throws Exception {
        Thread one = new Thread(Main::adder);
        Thread two = new Thread(Main::resetter);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(stripes.count(4) >= 0 && stripes.count(3) == 0 ? "counted" : "wrong");
    }
}

import java.util.concurrent.locks.StampedLock;

/**
 * A point under a stamped lock: moved in write mode, measured optimistically with a fall-back to read mode, raised by
 * conversion.
 */
class Point {
    private final StampedLock lock = new StampedLock();
    private final StampedLock journal = new StampedLock();
    // Volatile, because an optimistic reader looks at them without holding anything.
    private volatile double x;
    private volatile double y;
    private int height;
    private int moves;

    void count() {
        long stamp = journal.writeLock(); moves++; journal.unlockWrite(stamp);
    }

    void move(double by) {
        long stamp = lock.writeLock();
        try {
            x = x + by;
            y = y - by;
        } finally {
            lock.unlockWrite(stamp);
        }
    }

    double distance() {
        long stamp = lock.tryOptimisticRead();
        double left = x;
        double down = y;
        if (!lock.validate(stamp)) {
            stamp = lock.readLock();
            try {
                left = x;
                down = y;
            } finally {
                lock.unlockRead(stamp);
            }
        }
        return left + down;
    }

    void raise() {
        long stamp = lock.readLock();
        try {
            long converted = lock.tryConvertToWriteLock(stamp);
            if (converted == 0) {
                lock.unlockRead(stamp);
                stamp = lock.writeLock();
            } else {
                stamp = converted;
            }
            height++;
        } finally {
            lock.unlock(stamp);
        }
    }

    String summary() {
        long stamp = lock.readLock();
        try {
            return x + " " + y + " " + height + (moves > 0 ? " moved" : "");
        } finally {
            lock.unlockRead(stamp);
        }
    }
}

public class Main {
    static final Point point = new Point();

    static final class Mover extends Thread {
        double drift;

        @Override
        public void run() {
            point.count();
            for (int i = 0; i < 4; i++) {
                point.move(0.5);
                drift += point.distance();
            }
            point.raise();
        }
    }

    public static void main(String[] args) throws Exception {
        Mover one = new Mover();
        Mover two = new Mover();
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(point.summary() + " drift " + (one.drift + two.drift));
    }
}

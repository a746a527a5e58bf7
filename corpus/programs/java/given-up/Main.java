import java.io.ByteArrayOutputStream;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Threads that have a lock and wait for another: one gives up, one gets it as a reader, one inside of a class of the
 * JDK. Then they go on with what they have.
 */
public class Main {
    static final ReentrantLock road = new ReentrantLock();
    static final ReentrantReadWriteLock map = new ReentrantReadWriteLock();
    static final ByteArrayOutputStream log = new ByteArrayOutputStream();

    /** Something to do under a lock of its own while another is waited for. */
    abstract static class Trip extends Thread {
        final Lock own = new ReentrantLock();
        int steps;

        abstract void waitForIt() throws InterruptedException;

        @Override
        public void run() {
            own.lock();
            try {
                waitForIt();
            } catch (InterruptedException interrupted) {
                steps++;
            } finally {
                steps++;
                own.unlock();
            }
        }

        /** Starts it, and comes back when it waits. */
        void startAndWait(State state) throws InterruptedException {
            start();
            while (getState() != state) {
                Thread.sleep(1);
            }
        }

        void step() {
            own.lock();
            steps++;
            own.unlock();
        }
    }

    static final class OnRoad extends Trip {
        @Override
        void waitForIt() throws InterruptedException {
            road.lockInterruptibly();
            road.unlock();
        }
    }

    static final class WithMap extends Trip {
        @Override
        void waitForIt() {
            map.readLock().lock();
            map.readLock().unlock();
        }
    }

    static final class WithLog extends Trip {
        @Override
        void waitForIt() {
            log.write(1);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Trip onRoad = new OnRoad();
        road.lock();
        onRoad.startAndWait(Thread.State.WAITING);
        onRoad.interrupt();
        while (onRoad.getState() == Thread.State.WAITING) {
            Thread.sleep(1);
        }
        road.unlock();
        onRoad.step();

        Trip withMap = new WithMap();
        map.writeLock().lock();
        withMap.startAndWait(Thread.State.WAITING);
        map.writeLock().unlock();
        withMap.step();

        Trip withLog = new WithLog();
        synchronized (log) {
            withLog.startAndWait(Thread.State.BLOCKED);
        }
        withLog.step();

        int steps = 0;
        for (Trip trip : new Trip[] {onRoad, withMap, withLog}) {
            trip.join();
            steps += trip.steps;
        }
        System.out.println(steps);
    }
}

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A thread waits on a condition whose lock another has when the time is up, and one waits for itself until it is
 * interrupted. Both hold another lock meanwhile, and go on as they are.
 */
public class Main {
    static final ReentrantLock own = new ReentrantLock();
    static final ReentrantLock busy = new ReentrantLock();
    static final Condition never = busy.newCondition();
    static final ReentrantReadWriteLock upgraded = new ReentrantReadWriteLock();
    static int late;
    static int finished;

    static void waiting() {
        own.lock();
        busy.lock();
        try {
            never.await(40, TimeUnit.MILLISECONDS);
            late++;
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        } finally {
            busy.unlock();
            own.unlock();
        }
        finish();
    }

    static void upgrading() {
        upgraded.readLock().lock();
        try {
            upgraded.writeLock().lockInterruptibly();
            upgraded.writeLock().unlock();
        } catch (InterruptedException interrupted) {
            finish();
        } finally {
            upgraded.readLock().unlock();
        }
    }

    static void finish() {
        own.lock();
        finished++;
        own.unlock();
    }

    public static void main(String[] args) throws InterruptedException {
        Thread waiting = new Thread(Main::waiting), upgrading = new Thread(Main::upgrading);
        waiting.start();
        upgrading.start();
        while (!busy.hasQueuedThreads()) {
            busy.lock();
            try {
                if (busy.hasWaiters(never)) {
                    // The time is up meanwhile.
                    Thread.sleep(100);
                }
            } finally {
                busy.unlock();
            }
            if (!waiting.isAlive()) {
                break;
            }
        }
        upgrading.interrupt();
        finish();
        waiting.join();
        upgrading.join();
        System.out.println("late " + late + ", finished " + finished);
    }
}

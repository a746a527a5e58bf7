import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;

/** Threads that park while they have the monitor of what they park on: they wait to be woken, not for the monitor. */
public class Main {
    static final Object gate = new Object();
    static final Object door = new Object();
    static final FutureTask<String> news = new FutureTask<>(() -> "news");
    static volatile boolean isOpen;

    /** It parks on the gate, whose monitor it has itself: that only says where it waits, to who looks at it. */
    static void atGate() {
        synchronized (gate) {
            while (!isOpen) {
                LockSupport.park(gate);
            }
        }
    }

    static void reader() {
        synchronized (news) {
            try {
                news.get();
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
        }
    }

    /** It has the door's monitor, and parks on the gate, whose monitor another has. */
    static void atDoor() {
        synchronized (door) {
            while (!isOpen) {
                LockSupport.park(gate);
            }
        }
    }

    static void await(Thread thread) throws InterruptedException {
        while (thread.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = {new Thread(Main::atGate), new Thread(Main::reader), new Thread(Main::atDoor)};
        for (Thread thread : threads) {
            thread.start();
            await(thread);
        }
        isOpen = true;
        news.run();
        for (Thread thread : threads) {
            LockSupport.unpark(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("open");
    }
}

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The main thread awaits a condition that a task of a pool signals. */
public class Main {
    /** Its threads do not keep the program alive: they wait for work when it ends. */
    static final ExecutorService pool = Executors.newFixedThreadPool(3, task -> {
        Thread worker = new Thread(task);
        worker.setDaemon(true);
        return worker;
    });

    static final ReentrantLock lock = new ReentrantLock();
    static final Condition opened = lock.newCondition();
    static boolean isOpen;

    static void open() {
        lock.lock();
        try {
            isOpen = true;
            opened.signalAll();
        } finally {
            lock.unlock();
        }
    }

    static void await() {
        lock.lock();
        try {
            while (!isOpen) {
                opened.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    public static void main(String[] args) {
        pool.execute(() -> { });
        pool.execute(Main::open);
        await();
        System.out.println("open");
    }

    /** Ends the program by a signal when some threads wait for good, as a user does who has lost patience. */
    static void endWhenStuck(Thread... waiting) {
        Thread guard = new Thread(() -> {
            try {
                for (int calm = 0; calm < 20; Thread.sleep(20)) {
                    boolean isCalm = true;
                    for (Thread thread : waiting) {
                        isCalm &= thread.getState() == Thread.State.WAITING;
                    }
                    calm = isCalm ? calm + 1 : 0;
                }
                new ProcessBuilder("kill", Long.toString(ProcessHandle.current().pid())).start();
            } catch (Exception failed) {
                failed.printStackTrace();
            }
        });
        guard.setDaemon(true);
        guard.start();
    }
}

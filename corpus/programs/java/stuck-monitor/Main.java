import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The main thread waits on a monitor until a task of a pool has notified it. */
public class Main {
    /** Its threads do not keep the program alive: they wait for work when it ends. */
    static final ExecutorService pool = Executors.newFixedThreadPool(3, task -> {
        Thread worker = new Thread(task);
        worker.setDaemon(true);
        return worker;
    });

    static final Object gate = new Object();
    static boolean isOpen;

    static void open() {
        synchronized (gate) {
            isOpen = true;
            gate.notifyAll();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        pool.execute(() -> { });
        pool.execute(Main::open);
        synchronized (gate) {
            while (!isOpen) {
                gate.wait();
            }
        }
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

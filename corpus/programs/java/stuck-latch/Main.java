import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The main thread waits for a latch that two tasks of a pool and it itself count down. */
public class Main {
    /** Its threads do not keep the program alive: they wait for work when it ends. */
    static final ExecutorService pool = Executors.newFixedThreadPool(3, task -> {
        Thread worker = new Thread(task);
        worker.setDaemon(true);
        return worker;
    });

    static final CountDownLatch done = new CountDownLatch(3);
    static int first, second;

    static void one() {
        first = 1;
        done.countDown();
    }

    static void two() {
        second = 2;
        done.countDown();
    }

    public static void main(String[] args) throws InterruptedException {
        pool.execute(Main::one);
        pool.execute(Main::two);
        done.countDown();
        done.await();
        System.out.println(first + second);
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

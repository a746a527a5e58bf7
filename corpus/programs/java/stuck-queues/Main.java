import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/** A task of a pool puts into a queue with room for one, and the main thread takes from another. */
public class Main {
    /** Its threads do not keep the program alive: they wait for work when it ends. */
    static final ExecutorService pool = Executors.newFixedThreadPool(3, task -> {
        Thread worker = new Thread(task);
        worker.setDaemon(true);
        return worker;
    });

    static final BlockingQueue<String> orders = new ArrayBlockingQueue<>(1);
    static final BlockingQueue<String> meals = new LinkedBlockingQueue<>();

    static void order() {
        try {
            orders.put("soup");
            orders.put("pie");
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    static void cook() {
        try {
            meals.put(orders.take() + " and " + orders.take());
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        pool.execute(Main::order);
        pool.execute(Main::cook);
        System.out.println(meals.take());
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

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

/** The main thread waits for a future, whose task waits for another one. */
public class Main {
    /** Its threads do not keep the program alive: they wait for work when it ends. */
    static final ExecutorService pool = Executors.newFixedThreadPool(3, task -> {
        Thread worker = new Thread(task);
        worker.setDaemon(true);
        return worker;
    });

    static final CompletableFuture<String> name = new CompletableFuture<>();

    static String greet() {
        return "hello, " + name.join();
    }

    public static void main(String[] args) throws InterruptedException, ExecutionException {
        Future<String> greeting = pool.submit(Main::greet);
        name.complete("world");
        System.out.println(greeting.get());
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

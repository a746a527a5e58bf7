import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A cook waits for an assistant while another one may wait for the book that the cook holds. */
class Kitchen {
    private final ExecutorService assistants = Executors.newCachedThreadPool(this::worker);
    private final Object book = new Object();
    private Thread worker;
    private int page = 1;

    private Thread worker(Runnable tasks) {
        worker = new Thread(tasks);
        return worker;
    }

    private int lookUp() {
        synchronized (book) {
            return 7;
        }
    }

    void cook() throws Exception {
        Future<Integer> recipe = assistants.submit(this::lookUp);
        // The assistant has nothing to do any more; that this is seen orders nothing.
        while (worker.getState() != Thread.State.TIMED_WAITING) {
            Thread.sleep(1);
        }
        synchronized (book) {
            // That assistant does this, too. If it still waited for the book, the pool would start another one.
            Future<Integer> salt = assistants.submit(() -> 3);
            page += salt.get();
        }
        page += recipe.get();
    }

    void close() {
        assistants.shutdown();
        System.out.println("page " + page);
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Kitchen kitchen = new Kitchen();
        kitchen.cook();
        kitchen.close();
    }
}

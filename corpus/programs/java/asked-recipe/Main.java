import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A cook asks an assistant to look a recipe up in a book that both use. */
class Kitchen {
    private final ExecutorService assistant = Executors.newFixedThreadPool(1, this::worker);
    private final Object book = new Object();
    private Thread worker;
    private int page = 1;

    private Thread worker(Runnable tasks) {
        worker = new Thread(tasks);
        return worker;
    }

    private int lookUp() {
        synchronized (book) {
            return page + 6;
        }
    }

    Future<Integer> ask() throws InterruptedException {
        Future<Integer> recipe = assistant.submit(this::lookUp);
        // The assistant has nothing to do any more; that this is seen orders nothing.
        while (worker.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        return recipe;
    }

    void cook(Future<Integer> recipe) throws InterruptedException, ExecutionException {
        int found = recipe.get();
        synchronized (book) {
            page = found;
        }
    }

    void close() {
        assistant.shutdown();
        System.out.println("page " + page);
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Kitchen kitchen = new Kitchen();
        kitchen.cook(kitchen.ask());
        kitchen.close();
    }
}

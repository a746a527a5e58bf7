import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Two asynchronous stages add to one sum as a side effect, and their results are put together properly. */
class Sum {
    private int side;

    int add(int part) {
        side += part;
        return part;
    }

    int side() {
        return side;
    }
}

public class Main {
    static final Sum sum = new Sum();

    static int left() {
        return sum.add(20);
    }

    static int right() {
        return sum.add(22);
    }

    public static void main(String[] args) {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CompletableFuture<Integer> one = CompletableFuture.supplyAsync(Main::left, pool);
        CompletableFuture<Integer> two = CompletableFuture.supplyAsync(Main::right, pool);
        int proper = one.thenCombine(two, Integer::sum).join();
        pool.shutdown();
        System.out.println("sum " + proper + (sum.side() > 0 ? "" : ", nothing beside"));
    }
}

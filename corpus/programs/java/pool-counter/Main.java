import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Two tasks of a pool with two threads count in a static field. */
class Visits {
    private static long count;

    static void add() {
        count++;
    }

    static long count() {
        return count;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        pool.execute(Visits::add);
        pool.execute(Visits::add);
        pool.shutdown();
        boolean ended = pool.awaitTermination(5, TimeUnit.SECONDS);
        System.out.println(ended && Visits.count() > 0 ? "visited" : "empty");
    }
}

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A ledger that belongs to a single-threaded executor: its tasks come one after another, so it needs no lock. */
class Ledger {
    private int entries;
    private float sum;

    void post() {
        entries += 2;
        sum += 1.5f;
    }

    void correct() {
        entries--;
    }

    String summary() {
        return (entries > 0) + " " + sum;
    }
}

public class Main {
    static int price(int amount) {
        return 3 * amount;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService single = Executors.newSingleThreadExecutor();
        ExecutorService cached = Executors.newCachedThreadPool();
        Ledger ledger = new Ledger();
        single.execute(ledger::post);
        single.execute(ledger::correct);
        Future<Integer> price = cached.submit(() -> price(14));
        int asked = price.get();
        single.shutdown();
        cached.shutdown();
        boolean ended = single.awaitTermination(5, TimeUnit.SECONDS) && cached.awaitTermination(5, TimeUnit.SECONDS);
        System.out.println(ledger.summary() + " " + asked + " " + ended);
    }
}

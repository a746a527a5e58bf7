import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads for actors, and the number of messages that are on their way. */
final class ActorSystem {
    private final ExecutorService pool;
    private final Map<String, Ref> refs = new ConcurrentHashMap<>();
    private final AtomicInteger open = new AtomicInteger();
    private final Object quiet = new Object();
    private final Object tally = new Object();
    private int reported;

    ActorSystem(int threads) {
        pool = Executors.newFixedThreadPool(threads);
    }

    Ref start(String name, Actor actor) {
        Ref ref = new Ref(name, new Cell(this, actor));
        if (refs.putIfAbsent(name, ref) != null) {
            throw new IllegalArgumentException("two actors named " + name);
        }
        return ref;
    }

    void execute(Cell cell) {
        pool.execute(cell);
    }

    void noteMessage() {
        synchronized (tally) {
            reported++;
        }
    }

    void opened() {
        open.incrementAndGet();
    }

    /** The count is lowered outside of the monitor, but reported inside: who waits has tested it inside as well. */
    void closed() {
        if (open.decrementAndGet() == 0) {
            synchronized (quiet) {
                quiet.notifyAll();
            }
        }
    }

    void awaitQuiet() throws InterruptedException {
        synchronized (quiet) {
            while (open.get() > 0) {
                quiet.wait();
            }
        }
    }

    boolean stop() throws InterruptedException {
        pool.shutdown();
        return pool.awaitTermination(5, TimeUnit.SECONDS);
    }

    /** When the system has stopped. */
    int reported() {
        return reported;
    }
}

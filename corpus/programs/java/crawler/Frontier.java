import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** What is to be visited. The end has come when all that was discovered was done. */
final class Frontier {
    private static final int DEEPEST = 20;

    private final Set<Link> seen = ConcurrentHashMap.newKeySet();
    private final BlockingQueue<Link> queue = new LinkedBlockingQueue<>();
    private final AtomicInteger open = new AtomicInteger();
    private final CountDownLatch end = new CountDownLatch(1);

    void discover(Link link) {
        if (link.depth() <= DEEPEST && seen.add(link)) {
            open.incrementAndGet();
            queue.add(link);
        }
    }

    /** Null when there is nothing more to come. */
    Link next() throws InterruptedException {
        while (end.getCount() > 0) {
            Link link = queue.poll(2, TimeUnit.MILLISECONDS);
            if (link != null) {
                return link;
            }
        }
        return null;
    }

    void done() {
        if (open.decrementAndGet() == 0) {
            end.countDown();
        }
    }

    void awaitEnd() throws InterruptedException {
        end.await();
    }
}

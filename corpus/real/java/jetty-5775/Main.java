import java.nio.ByteBuffer;
import org.eclipse.jetty.io.ArrayByteBufferPool;

/**
 * Gives buffers back to Jetty's pool by two threads at a time, which no schedule orders: once into the same bucket, and
 * once into two, where one thread looks for the bucket that was not used for longest.
 *
 * With last-update.patch, Bucket._lastUpdate is a plain field as it was up to Jetty 9.4.34 (Jetty's issue 5775):
 * release races with release, and with getLastUpdate. Without it that is an AtomicLong, and nothing is to be found.
 */
public class Main {
    public static void main(String[] args) throws InterruptedException {
        System.setProperty("org.eclipse.jetty.util.log.announce", "false");
        sameBucket();
        oldestBucket();
    }

    /** Both threads write the bucket's time, each before it does anything else that others see. */
    private static void sameBucket() throws InterruptedException {
        ArrayByteBufferPool pool = new ArrayByteBufferPool();
        ByteBuffer one = pool.acquire(1024, false);
        ByteBuffer other = pool.acquire(1024, false);
        together(() -> pool.release(one), () -> pool.release(other));
        System.out.println("same bucket: " + pool.getHeapByteBufferCount() + " buffers");
    }

    /**
     * One thread gives back a small buffer to a bucket that is full already. The other's large buffer is more than the
     * pool may keep, so it reads the times of all buckets that have a buffer, the small one's among them. They have
     * nothing else in common before that.
     */
    private static void oldestBucket() throws InterruptedException {
        ArrayByteBufferPool pool = new ArrayByteBufferPool(0, 1024, 4096, 1, 2048, 2048);
        ByteBuffer first = pool.acquire(1024, false);
        ByteBuffer second = pool.acquire(1024, false);
        ByteBuffer large = pool.acquire(2048, false);
        pool.release(first);
        together(() -> pool.release(second), () -> pool.release(large));
        System.out.println("two buckets: " + (pool.getHeapMemory() <= 2048 ? "within" : "beyond") + " the limit");
    }

    private static void together(Runnable one, Runnable other) throws InterruptedException {
        Thread a = new Thread(one);
        Thread b = new Thread(other);
        a.start();
        b.start();
        a.join();
        b.join();
    }
}

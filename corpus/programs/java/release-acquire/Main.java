import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A ring for one writer and one reader: positions by release and acquire, a stop mark by volatile mode, items plain.
 */
class Ring {
    private static final VarHandle HEAD;
    private static final VarHandle TAIL;
    private static final VarHandle STATS;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(Ring.class, "head", int.class);
            TAIL = lookup.findVarHandle(Ring.class, "tail", int.class);
            STATS = MethodHandles.arrayElementVarHandle(long[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int[] items = new int[4];
    private final long[] stats = new long[2];
    private int head;
    private int tail;

    boolean offer(int item) {
        int at = (int) TAIL.getOpaque(this);
        if (at - (int) HEAD.getAcquire(this) == items.length) {
            return false;
        }
        items[at % items.length] = item;
        TAIL.setRelease(this, at + 1);
        STATS.getAndAdd(stats, 0, 1L);
        return true;
    }

    int poll() {
        int at = (int) HEAD.getOpaque(this);
        if ((int) TAIL.getAcquire(this) == at) {
            return -1;
        }
        int item = items[at % items.length];
        HEAD.setRelease(this, at + 1);
        STATS.setVolatile(stats, 1, (long) STATS.getVolatile(stats, 1) + 1);
        return item;
    }

    String stats() {
        return (long) STATS.getVolatile(stats, 0) + " " + (long) STATS.getVolatile(stats, 1);
    }
}

public class Main {
    static final Ring ring = new Ring();

    static void feed() {
        for (int i = 1; i <= 4; i++) {
            while (!ring.offer(i)) {
                Thread.yield();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Thread feeder = new Thread(Main::feed);
        feeder.start();
        int taken = 0;
        while (taken < 4) {
            int item = ring.poll();
            if (item < 0) {
                Thread.sleep(1);
            } else {
                taken++;
            }
        }
        feeder.join();
        System.out.println("taken " + taken + " stats " + ring.stats());
    }
}

package foretrace.agent;

import static foretrace.agent.Memory.U;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.SynchronousQueue;

/** Queues in which who gives may have to wait for who takes: then what that one did before comes first. */
final class Queues {
    /** A queue is full if there is room for no more than this: others may come in between. */
    private static final int ROOM = 2;
    private static final int TRIES = 16;
    private static final long COUNT = offset(ArrayBlockingQueue.class, "count"), SIZE = offset(LinkedBlockingDeque.class, "count"),
        CAPACITY = offset(LinkedBlockingDeque.class, "capacity");

    private Queues() {}

    private static long offset(Class<?> of, String name) {
        try {
            return U.objectFieldOffset(of, name);
        } catch (InternalError unknown) {
            return -1;
        }
    }

    /** Whether who gives may come after who took. No lock is taken to know it. */
    static boolean mayBeFull(Object queue) {
        Class<?> type = queue == null ? null : queue.getClass();
        if (type == LinkedBlockingQueue.class) {
            return ((LinkedBlockingQueue<?>) queue).remainingCapacity() <= ROOM;
        }
        if (type == LinkedBlockingDeque.class) {
            return CAPACITY >= 0 && SIZE >= 0 && U.getInt(queue, CAPACITY) - U.getIntVolatile(queue, SIZE) <= ROOM;
        }
        return type == ArrayBlockingQueue.class || type == SynchronousQueue.class || type == LinkedTransferQueue.class;
    }

    /** Whether who gives comes after who took. */
    static boolean isFull(Object queue, Shadow of) {
        boolean isArray = queue.getClass() == ArrayBlockingQueue.class;
        return isArray ? COUNT >= 0 && capacity((ArrayBlockingQueue<?>) queue, of) - U.getIntVolatile(queue, COUNT) <= ROOM : mayBeFull(queue);
    }

    /** How many it holds: locks are taken to know it, once. */
    private static int capacity(ArrayBlockingQueue<?> queue, Shadow of) {
        int last = -1;
        for (int i = 0; of.capacity == 0 && i < TRIES; i++) {
            int sum = queue.size() + queue.remainingCapacity();
            // Others may come in between, but not the same way twice.
            if (sum == last) {
                of.capacity = sum;
            }
            last = sum;
        }
        return of.capacity == 0 ? Integer.MAX_VALUE : of.capacity;
    }
}

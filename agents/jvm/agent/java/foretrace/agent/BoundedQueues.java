package foretrace.agent;

import static foretrace.agent.Memory.U;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.SynchronousQueue;
import jdk.internal.vm.annotation.ForceInline;

/**
 *
 * Bounded queues: a {@code take} happens before the {@code put} that uses the freed slot. A take always posts to the
 * queue's back, because it is not known yet which put will need the slot; a put awaits the back only if it finds the
 * queue nearly full.
 */
final class BoundedQueues {
    /**
     * A queue counts as full if it has room for no more than this: other threads may change it between the call and
     * the look.
     */
    private static final int ROOM = 2;
    private static final long COUNT = offset(ArrayBlockingQueue.class, "count"),
        ITEMS = offset(ArrayBlockingQueue.class, "items"),
        SIZE = offset(LinkedBlockingDeque.class, "count"), CAPACITY = offset(LinkedBlockingDeque.class, "capacity"),
        LINKED_CAPACITY = offset(LinkedBlockingQueue.class, "capacity");

    private BoundedQueues() {}

    private static long offset(Class<?> of, String name) {
        try {
            return U.objectFieldOffset(of, name);
        } catch (InternalError unknown) {
            return -1;
        }
    }

    /** Whether a put can ever have to wait for room: then takes post to the back. */
    @ForceInline
    static boolean isBounded(Object queue) {
        Class<?> type = queue == null ? null : queue.getClass();
        if (type == LinkedBlockingQueue.class) {
            return LINKED_CAPACITY >= 0 && U.getInt(queue, LINKED_CAPACITY) != Integer.MAX_VALUE;
        }
        if (type == LinkedBlockingDeque.class) {
            return CAPACITY >= 0 && U.getInt(queue, CAPACITY) != Integer.MAX_VALUE;
        }
        return type == ArrayBlockingQueue.class || type == SynchronousQueue.class || type == LinkedTransferQueue.class;
    }

    /** Whether a put that has been made may have needed the room of an element that was taken. Takes no lock. */
    @ForceInline
    static boolean isFull(Object queue) {
        Class<?> type = queue == null ? null : queue.getClass();
        if (type == ArrayBlockingQueue.class) {
            return COUNT >= 0 && ITEMS >= 0 && capacity(queue) - U.getIntVolatile(queue, COUNT) <= ROOM;
        }
        if (type == LinkedBlockingQueue.class) {
            return ((LinkedBlockingQueue<?>) queue).remainingCapacity() <= ROOM;
        }
        if (type == LinkedBlockingDeque.class) {
            return CAPACITY >= 0 && SIZE >= 0 && U.getInt(queue, CAPACITY) - U.getIntVolatile(queue, SIZE) <= ROOM;
        }
        return type == SynchronousQueue.class || type == LinkedTransferQueue.class;
    }

    private static int capacity(Object queue) {
        Object items = Memory.reference(queue, ITEMS);
        return items instanceof Object[] ? ((Object[]) items).length : Integer.MAX_VALUE;
    }
}

package foretrace.agent;

import static foretrace.agent.Memory.U;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.SynchronousQueue;
import jdk.internal.vm.annotation.ForceInline;

/**
 * BoundedQueues in which who gives may have to wait for who takes: then what that one did before comes first. Who takes always says so, for it is not known when its room will be needed; who gives comes after all of them
 * if it finds the queue nearly full.
 */
final class BoundedQueues {
    /** A queue is full if there is room for no more than this: others may come in between. */
    private static final int ROOM = 2;
    private static final long COUNT = offset(ArrayBlockingQueue.class, "count"), ITEMS = offset(ArrayBlockingQueue.class, "items"),
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

    /** Whether there can ever be no room for who gives: then who takes says so. */
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

    /** Whether who gives, and has given, may have needed the room of what others took. No lock is taken to know it. */
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

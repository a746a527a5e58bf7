package foretrace.agent;

import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * A thread is about to wait for a lock that another has, or it itself (a reader that wants to write): it may wait for ever, so it is told before. Only if it holds a lock itself, for nobody waits for a thread that holds none; and only where it
 * waits in earnest (the machine tells of monitors; others park), so that taking a free lock costs nothing more.
 */
final class Requests {
    private Requests() {}

    /** The monitor of an object is taken: the library calls this. */
    static void contended(Object of) {
        Buffer b = Buffer.own();
        if (b == null || !b.isReady() || !b.held.isAny()) {
            return;
        }
        b.enter();
        try {
            Stamps.settle(b, 0);
            Shadow lock = Shadows.known(of);
            if (lock != null && lock.holder != 0 && lock.holder != b.mark) {
                tell(b, lock);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }

    /** The thread parks until something goes on. */
    static void parked(Buffer b, Object blocker) {
        Stamps.settle(b, 0);
        // Who waits on a condition has asked for its lock by that.
        Shadow lock = b.held.isAny() && b.waits == 0 ? Buffer.findHeld(blocker) : null;
        if (lock != null) {
            tell(b, lock);
        }
    }

    /** Whether it is this lock that the current thread parks for. */
    static boolean isOf(Object blocker, Shadow held) {
        Object lock = held.get();
        if (lock instanceof ReentrantLock) {
            return ((ReentrantLock) lock).hasQueuedThread(Thread.currentThread());
        }
        if (lock instanceof ReentrantReadWriteLock) {
            return ((ReentrantReadWriteLock) lock).hasQueuedThread(Thread.currentThread());
        }
        // Whoever parks names what he likes as the reason, maybe an object whose monitor somebody has. Only of this one it is known that it names itself.
        return lock instanceof StampedLock && lock == blocker && !held.isHandedOver;
    }

    private static void tell(Buffer b, Shadow lock) {
        // Who was woken, and came too late, parks again: it is the same request.
        if (b.requested == lock.address && b.requestedAt == b.tick || !b.room()) {
            return;
        }
        int place = Native.place(Native.CALLED);
        b.put2(Buffer.head(Buffer.REQUEST, Monitors.MUTEX, lock.address), b.now(0), place);
        b.requested = lock.address;
        b.requestedAt = b.tick;
    }
}

package foretrace.agent;

import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * A thread is about to wait for a lock that another has, or it itself (a reader that wants to write): it may wait for ever, so it is told before. Only if it holds a lock itself, for nobody waits for a thread that holds none; and only where it
 * waits in earnest (the machine tells of monitors; others park), so that taking a free lock costs nothing more.
 */
final class LockRequests {
    private LockRequests() {}

    /** The monitor of an object is taken: the library calls this. */
    static void contended(Object of) {
        ThreadState self = ThreadState.own();
        if (self == null || !self.isReady() || !self.held.isAny()) {
            return;
        }
        self.enter();
        try {
            StampedLocks.endReleasedSections(self, 0);
            Shadow lock = Shadows.known(of);
            if (lock != null && lock.holder != 0 && lock.holder != self.number) {
                record(self, lock);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    /** The thread parks until something goes on. */
    static void parked(ThreadState self, Object blocker) {
        StampedLocks.endReleasedSections(self, 0);
        // Who waits on a condition has asked for its lock by that.
        Shadow lock = self.held.isAny() && self.waitDepth == 0 ? ThreadTable.findHeld(blocker) : null;
        if (lock != null) {
            record(self, lock);
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
        return lock instanceof StampedLock && lock == blocker && !held.isReleasedByOther;
    }

    private static void record(ThreadState self, Shadow lock) {
        // Who was woken, and came too late, parks again: it is the same request.
        if (self.lastRequest == lock.address && self.lastRequestAt == self.tick || !self.room()) {
            return;
        }
        int context = Native.callContext(Native.CALLED);
        self.put2(Record.head(Record.REQUEST, Monitors.MUTEX, lock.address), self.now(0), context);
        self.lastRequest = lock.address;
        self.lastRequestAt = self.tick;
    }
}

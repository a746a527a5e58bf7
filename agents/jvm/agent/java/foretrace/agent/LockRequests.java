package foretrace.agent;

import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Records a lock request before the thread blocks, so that a deadlock that happens is in the trace. Only threads that
 * hold a lock do: others cannot be on a cycle. Requests are recorded only where the thread really waits (JVMTI says
 * so of monitors; other locks park), so acquiring a free lock costs nothing more.
 */
final class LockRequests {
    private LockRequests() {}

    /** The thread is about to wait for a monitor. The library calls this. */
    static void contended(Object of) {
        ThreadState self = ThreadState.own();
        if (self == null || !self.isReady() || !self.held.isAny()) {
            return;
        }
        self.enter();
        try {
            StampedLocks.endReleasedSections(self, 0);
            Shadow lock = Shadows.existingMonitor(of);
            if (lock != null && lock.holder != 0 && lock.holder != self.number) {
                record(self, lock);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    /** The thread is about to park. */
    static void parked(ThreadState self, Object blocker) {
        StampedLocks.endReleasedSections(self, 0);
        // A thread that waits on a condition has said so with its wait.
        Shadow lock = self.held.isAny() && self.waitDepth == 0 ? ThreadTable.findHeld(blocker) : null;
        if (lock != null) {
            record(self, lock);
        }
    }

    /** Whether a thread parks for this lock. */
    static boolean isOf(Thread thread, Object blocker, Shadow held) {
        Object lock = held.get();
        if (lock instanceof ReentrantLock) {
            return ((ReentrantLock) lock).hasQueuedThread(thread);
        }
        if (lock instanceof ReentrantReadWriteLock) {
            return ((ReentrantReadWriteLock) lock).hasQueuedThread(thread);
        }
        // A thread may name any object as the reason for parking, even one whose monitor another thread holds. Only of
        // stamped locks it is known that they name themselves.
        return lock instanceof StampedLock && lock == blocker && !held.isReleasedByOther;
    }

    /** Whether the last record of a thread is its request for this lock. */
    static boolean isRecorded(ThreadState of, Shadow lock) {
        return of.lastRequest == lock.address && of.lastRequestAt == of.tick;
    }

    private static void record(ThreadState self, Shadow lock) {
        // A thread that was woken and came too late parks again: it is one request.
        if (isRecorded(self, lock) || !self.room()) {
            return;
        }
        int context = Native.callContext(Native.CALLED);
        self.put2(Record.head(Record.REQUEST, Monitors.MUTEX, lock.address), self.now(0), context);
        self.lastRequest = lock.address;
        self.lastRequestAt = self.tick;
    }
}

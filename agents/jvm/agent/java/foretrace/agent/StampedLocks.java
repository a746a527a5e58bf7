package foretrace.agent;

import java.util.concurrent.locks.StampedLock;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Stamped locks: another thread may release a stamp than the one that acquired it.
 *
 * A critical section can only be ended by its own thread. So once that has happened, the lock is no lock to records
 * any more: an acquire awaits all releases. (By the tables, a release of a write stamp posts, for optimistic readers.
 * Readers post to the back, for writers.) The open section ends when its thread next comes to a lock.
 */
final class StampedLocks {
    /** Some lock was released by another thread. */
    private static boolean isAny;

    private StampedLocks() {}

    static boolean isOf(Shadow lock) {
        return lock.get() instanceof StampedLock;
    }

    /** Whether there is a write stamp that any thread may release. */
    static boolean isWriteLocked(Shadow lock) {
        Object of = lock.get();
        return of instanceof StampedLock && ((StampedLock) of).isWriteLocked();
    }

    private static boolean isReadLocked(Shadow lock) {
        Object of = lock.get();
        return of instanceof StampedLock && ((StampedLock) of).isReadLocked();
    }

    /** Records calls whose meaning depends on the stamp, or on how the lock is held. */
    static void record(ThreadState self, long effect, Shadow lock, Call call, int site) {
        boolean isDone = call.result != 0, hasStamp = call.hasValue(effect);
        boolean isOfWriter = hasStamp ? StampedLock.isWriteLockStamp(call.number) : isWriteLocked(lock);
        boolean isOfReader = hasStamp ? StampedLock.isReadLockStamp(call.number) : isReadLocked(lock);
        // To release a stamp that is not valid any more does nothing.
        boolean isHeld = isDone || !hasStamp || isValid(lock, call.number);
        switch (Effect.kind(effect)) {
            case Effect.TO_READ:
                if (isDone && !isOfReader) {
                    Locks.readLocked(self, lock, site);
                } else if (isOfWriter && isHeld) {
                    releasing(self, lock, site);
                }
                break;
            case Effect.TO_WRITE:
                if (isOfReader && self.readHolds.count(lock) > 0) {
                    Locks.readReleasing(self, lock, site);
                } else if (isOfReader) {
                    releaseForOther(self, lock, site);
                }
                if (!isOfWriter) {
                    Locks.locked(self, lock, Record.TRY_ACQUIRE, site);
                }
                break;
            default:
                if (isOfWriter && isHeld) {
                    releasing(self, lock, site);
                } else if (isOfReader && isHeld) {
                    readReleasing(self, lock, site);
                }
                break;
        }
    }

    private static boolean isValid(Shadow lock, long stamp) {
        Object of = lock.get();
        return of instanceof StampedLock && ((StampedLock) of).validate(stamp);
    }

    /** A write stamp is about to be released. */
    private static void releasing(ThreadState self, Shadow lock, int site) {
        if (lock.holder == self.number) {
            Locks.releasing(self, lock, Record.RELEASE, site);
        } else {
            releaseForOther(self, lock, site);
        }
    }

    /** A stamp is about to be released that another thread acquired. */
    static void releaseForOther(ThreadState self, Shadow lock, int site) {
        EntrySync.post(self, lock.back(), EntrySync.WHOLE, site);
        lock.holder = 0;
        lock.isReleasedByOther = true;
        isAny = true;
    }

    /** A lock was acquired whose stamps were released by other threads before. */
    static void acquireTransferred(ThreadState self, Shadow lock, boolean isWriter, int site) {
        endReleasedSections(self, site);
        self.optimistic(false);
        EntrySync.await(self, lock, EntrySync.WHOLE, site);
        if (isWriter) {
            EntrySync.await(self, lock.back(), EntrySync.WHOLE, site);
        }
    }

    /** A reader is about to release a stamp, its own or another thread's. */
    static void readReleasing(ThreadState self, Shadow lock, int site) {
        if (self.readHolds.count(lock) > 0) {
            Locks.readReleasing(self, lock, site);
            EntrySync.post(self, lock.back(), EntrySync.WHOLE, site);
        } else if (isReadLocked(lock)) {
            releaseForOther(self, lock, site);
        }
    }

    /**
     * Before a thread acquires a lock, or waits for one: ends its sections of locks that other threads have released.
     */
    @ForceInline
    static void endReleasedSections(ThreadState self, int site) {
        if (isAny && self.held.isAny()) {
            self.held.endReleasedSections(self, site);
        }
    }

    /** Whether other threads have released all that a thread held of a lock. */
    static boolean isOver(ThreadState self, Shadow lock) {
        return lock.isReleasedByOther && (self.readHolds.count(lock) == 0 || !isReadLocked(lock));
    }

    /**
     * Ends a section. It ends after the releases, because what was done under the lock until then was part of the
     * section.
     */
    static void end(ThreadState self, Shadow lock, int site) {
        EntrySync.await(self, lock.back(), EntrySync.WHOLE, site);
        int holds = self.readHolds.count(lock);
        if (holds > 0) {
            self.readHolds.add(lock, -holds);
        }
        Locks.sectionEnded(self, lock, holds > 0, site);
    }
}

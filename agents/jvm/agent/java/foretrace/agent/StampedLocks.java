package foretrace.agent;

import java.util.concurrent.locks.StampedLock;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Stamped locks, whose stamps another thread may give back than the one that took them. That thread's section cannot be ended by others, so from then on nothing is told of the lock as such: who takes it
 * awaits all who have given it back. (Who gives a write stamp back posts by the tables, for optimistic readers; readers post what comes back to writers.) The section itself ends when its thread comes to a lock again.
 */
final class StampedLocks {
    /** There is a lock that was handed over. */
    private static boolean isAny;

    private StampedLocks() {}

    static boolean isOf(Shadow lock) {
        return lock.get() instanceof StampedLock;
    }

    /** Whether somebody may give a write stamp back that is not his own. */
    static boolean isWriteLocked(Shadow lock) {
        Object of = lock.get();
        return of instanceof StampedLock && ((StampedLock) of).isWriteLocked();
    }

    private static boolean isReadLocked(Shadow lock) {
        Object of = lock.get();
        return of instanceof StampedLock && ((StampedLock) of).isReadLocked();
    }

    /** Before and after calls that know by the stamp what they do, or by how the lock is held. */
    static void record(ThreadState self, long effect, Shadow lock, Call call, int site) {
        boolean isDone = call.result != 0, hasStamp = call.hasValue(effect);
        boolean isOfWriter = hasStamp ? StampedLock.isWriteLockStamp(call.number) : isWriteLocked(lock);
        boolean isOfReader = hasStamp ? StampedLock.isReadLockStamp(call.number) : isReadLocked(lock);
        // A stamp that is not valid any more gives nothing back.
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
                if (isOfReader && self.readHolds.of(lock) > 0) {
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

    /** A write stamp is about to be given back. */
    private static void releasing(ThreadState self, Shadow lock, int site) {
        if (lock.holder == self.number) {
            Locks.releasing(self, lock, Record.RELEASE, site);
        } else {
            releaseForOther(self, lock, site);
        }
    }

    /** Another thread than the one that took a stamp is about to give it back. */
    static void releaseForOther(ThreadState self, Shadow lock, int site) {
        EntrySync.post(self, lock.back(), EntrySync.WHOLE, site);
        lock.holder = 0;
        lock.isReleasedByOther = true;
        isAny = true;
    }

    /** A lock was taken that was once handed over. */
    static void acquireTransferred(ThreadState self, Shadow lock, boolean isWriter, int site) {
        endReleasedSections(self, site);
        self.optimistic(false);
        EntrySync.await(self, lock, EntrySync.WHOLE, site);
        if (isWriter) {
            EntrySync.await(self, lock.back(), EntrySync.WHOLE, site);
        }
    }

    /** A reader is about to give its stamp back, or another's. */
    static void readReleasing(ThreadState self, Shadow lock, int site) {
        if (self.readHolds.of(lock) > 0) {
            Locks.readReleasing(self, lock, site);
            EntrySync.post(self, lock.back(), EntrySync.WHOLE, site);
        } else if (isReadLocked(lock)) {
            releaseForOther(self, lock, site);
        }
    }

    /** Before a thread takes a lock, or waits for one: ends its sections of locks that others have given back. */
    @ForceInline
    static void endReleasedSections(ThreadState self, int site) {
        if (isAny && self.held.isAny()) {
            self.held.endReleasedSections(self, site);
        }
    }

    /** Whether all that a thread had of a lock was given back by others. */
    static boolean isOver(ThreadState self, Shadow lock) {
        return lock.isReleasedByOther && (self.readHolds.of(lock) == 0 || !isReadLocked(lock));
    }

    /** Its section ends: after those who have given it back, for what they did under the lock was in the section, too. */
    static void end(ThreadState self, Shadow lock, int site) {
        EntrySync.await(self, lock.back(), EntrySync.WHOLE, site);
        int holds = self.readHolds.of(lock);
        if (holds > 0) {
            self.readHolds.add(lock, -holds);
        }
        Locks.sectionEnded(self, lock, holds > 0, site);
    }
}

package foretrace.agent;

import java.util.concurrent.locks.StampedLock;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Stamped locks, whose stamps another thread may give back than the one that took them. That thread's section cannot be ended by others, so from then on nothing is told of the lock as such: who takes it
 * awaits all who have given it back. (Who gives a write stamp back posts by the tables, for optimistic readers; readers post what comes back to writers.) The section itself ends when its thread comes to a lock again.
 */
final class Stamps {
    /** There is a lock that was handed over. */
    private static boolean isAny;

    private Stamps() {}

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
    static void tell(Buffer b, long told, Shadow lock, Call call, int site) {
        boolean isDone = call.result != 0, hasStamp = call.hasValue(told);
        boolean isOfWriter = hasStamp ? StampedLock.isWriteLockStamp(call.number) : isWriteLocked(lock);
        boolean isOfReader = hasStamp ? StampedLock.isReadLockStamp(call.number) : isReadLocked(lock);
        // A stamp that is not valid any more gives nothing back.
        boolean isHeld = isDone || !hasStamp || isValid(lock, call.number);
        switch (Told.word(told)) {
            case Told.TO_READ:
                if (isDone && !isOfReader) {
                    Locks.readLocked(b, lock, site);
                } else if (isOfWriter && isHeld) {
                    given(b, lock, site);
                }
                break;
            case Told.TO_WRITE:
                if (isOfReader && b.readHolds.of(lock) > 0) {
                    Locks.readGiven(b, lock, site);
                } else if (isOfReader) {
                    handOver(b, lock, site);
                }
                if (!isOfWriter) {
                    Locks.locked(b, lock, Buffer.TRY_ACQUIRE, site);
                }
                break;
            default:
                if (isOfWriter && isHeld) {
                    given(b, lock, site);
                } else if (isOfReader && isHeld) {
                    readGiven(b, lock, site);
                }
                break;
        }
    }

    private static boolean isValid(Shadow lock, long stamp) {
        Object of = lock.get();
        return of instanceof StampedLock && ((StampedLock) of).validate(stamp);
    }

    /** A write stamp is about to be given back. */
    private static void given(Buffer b, Shadow lock, int site) {
        if (lock.holder == b.mark) {
            Locks.given(b, lock, Buffer.RELEASE, site);
        } else {
            handOver(b, lock, site);
        }
    }

    /** Another thread than the one that took a stamp is about to give it back. */
    static void handOver(Buffer b, Shadow lock, int site) {
        Entries.post(b, lock.back(), Entries.WHOLE, site);
        lock.holder = 0;
        lock.isHandedOver = true;
        isAny = true;
    }

    /** A lock was taken that was once handed over. */
    static void takenOver(Buffer b, Shadow lock, boolean isWriter, int site) {
        settle(b, site);
        b.optimistic(false);
        Entries.await(b, lock, Entries.WHOLE, site);
        if (isWriter) {
            Entries.await(b, lock.back(), Entries.WHOLE, site);
        }
    }

    /** A reader is about to give its stamp back, or another's. */
    static void readGiven(Buffer b, Shadow lock, int site) {
        if (b.readHolds.of(lock) > 0) {
            Locks.readGiven(b, lock, site);
            Entries.post(b, lock.back(), Entries.WHOLE, site);
        } else if (isReadLocked(lock)) {
            handOver(b, lock, site);
        }
    }

    /** Before a thread takes a lock, or waits for one: ends its sections of locks that others have given back. */
    @ForceInline
    static void settle(Buffer b, int site) {
        if (isAny && b.held.isAny()) {
            b.held.settle(b, site);
        }
    }

    /** Whether all that a thread had of a lock was given back by others. */
    static boolean isOver(Buffer b, Shadow lock) {
        return lock.isHandedOver && (b.readHolds.of(lock) == 0 || !isReadLocked(lock));
    }

    /** Its section ends: after those who have given it back, for what they did under the lock was in the section, too. */
    static void end(Buffer b, Shadow lock, int site) {
        Entries.await(b, lock.back(), Entries.WHOLE, site);
        int holds = b.readHolds.of(lock);
        if (holds > 0) {
            b.readHolds.add(lock, -holds);
        }
        Locks.ended(b, lock, holds > 0, site);
    }
}

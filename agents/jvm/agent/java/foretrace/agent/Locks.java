package foretrace.agent;

import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import jdk.internal.vm.annotation.ForceInline;

/** What is told of locks and of all else that threads meet at. Who calls has the lock, or the hook is where its time is right. */
final class Locks {
    /** What a read-write lock is, in records. */
    private static final int RWLOCK = 2;
    /** Why a thread goes on: the observer tells whether somebody notified it; if not, nobody knows, or its time was up. */
    static final long NOTIFIED = 0, SPURIOUS = 2L << 48, TIMED = 3L << 48;
    /** Who waits for less than so many milliseconds looks now and then. */
    static final long LONG = 1000;

    private Locks() {}

    /** A lock was taken. */
    @ForceInline
    static void taken(Buffer b, Shadow lock, int kind, int site) {
        if (lock.holder == b.mark) {
            lock.count++;
            return;
        }
        Stamps.settle(b, site);
        lock.holder = b.mark;
        lock.count = 1;
        b.epoch++;
        b.held.add(lock, site);
        if (b.isOptimistic) {
            b.optimistic(false);
        }
        tell(b, lock, kind, Monitors.MUTEX, site);
    }

    /** A lock is about to be given back. */
    @ForceInline
    static void given(Buffer b, Shadow lock, int kind, int site) {
        if (lock.holder != b.mark || --lock.count > 0) {
            return;
        }
        lock.holder = 0;
        b.held.remove(lock);
        tell(b, lock, kind, Monitors.MUTEX, site);
    }

    /** A record of an object: later than the last one of it. */
    @ForceInline
    static void tell(Buffer b, Shadow of, int kind, int sort, int site) {
        if (b.room()) {
            int place = b.place(site);
            long now = b.now(of.stamp);
            of.stamp = now;
            b.put2(Buffer.head(kind, sort, of.address), now, place);
        }
    }

    /** An atomic access of an address, without a value: later than the last record of the lock, which the thread has. */
    static void access(Buffer b, Shadow lock, int kind, int order, long address, int site) {
        if (b.room()) {
            long now = b.now(lock.stamp);
            lock.stamp = now;
            // The thread is elsewhere by now: the calls that led there say nothing of the site.
            b.put3(Buffer.head(kind, order, address), now, site & (int) Kept.SITE_MASK, 0);
        }
    }

    /** The same of one that it shares with other readers. */
    static void sharedAccess(Buffer b, Shadow lock, int kind, int order, long address, int site) {
        Pinned.begin();
        try {
            synchronized (lock) {
                access(b, lock, kind, order, address, site);
            }
        } finally {
            Pinned.end();
        }
    }

    /** A lock of java.util.concurrent was taken. */
    @ForceInline
    static void locked(Buffer b, Shadow lock, int kind, int site) {
        if (lock.isHandedOver) {
            Stamps.takenOver(b, lock, true, site);
        } else {
            taken(b, lock, kind, site);
        }
    }

    /** The same by a reader. */
    static void readLocked(Buffer b, Shadow lock, int site) {
        if (lock.isHandedOver) {
            Stamps.takenOver(b, lock, false, site);
        } else {
            readTaken(b, lock, site);
        }
    }

    /** A lock of java.util.concurrent is about to be given back. Who has it not is told so by an exception, but that of stamps anybody may give back. */
    static void unlocked(Buffer b, Shadow lock, int site) {
        if (lock.holder == b.mark) {
            given(b, lock, Buffer.RELEASE, site);
        } else if (Stamps.isWriteLocked(lock)) {
            Stamps.handOver(b, lock, site);
        } else if (isAnothers(lock.get())) {
            b.text(Buffer.MISUSE_TEXT, "unlock of a lock that the thread does not hold");
            tell(b, lock, Buffer.MISUSE, Monitors.MUTEX, site);
        }
    }

    /** Whether it is known of a lock that the thread does not have it. (It may have taken it in code that is not watched.) */
    private static boolean isAnothers(Object lock) {
        return lock instanceof ReentrantLock && !((ReentrantLock) lock).isHeldByCurrentThread()
            || lock instanceof ReentrantReadWriteLock && !((ReentrantReadWriteLock) lock).isWriteLockedByCurrentThread();
    }

    /** One reader gives a lock of java.util.concurrent back. */
    static void readUnlocked(Buffer b, Shadow lock, int site) {
        if (Stamps.isOf(lock)) {
            Stamps.readGiven(b, lock, site);
        } else {
            readGiven(b, lock, site);
        }
    }

    /** A lock was taken by one reader of maybe several. */
    static void readTaken(Buffer b, Shadow lock, int site) {
        if (b.readHolds.add(lock, 1) == 1) {
            Stamps.settle(b, site);
            b.epoch++;
            b.held.add(lock, site);
            b.optimistic(false);
            shared(b, lock, Buffer.READ_ACQUIRE, RWLOCK, site);
        }
    }

    static void readGiven(Buffer b, Shadow lock, int site) {
        if (b.readHolds.of(lock) > 0 && b.readHolds.add(lock, -1) == 0) {
            ended(b, lock, true, site);
        }
    }

    /** A section of which others may know that it is over, or of a reader, ends. */
    static void ended(Buffer b, Shadow lock, boolean isReader, int site) {
        b.held.remove(lock);
        shared(b, lock, isReader ? Buffer.READ_RELEASE : Buffer.RELEASE, isReader ? RWLOCK : Monitors.MUTEX, site);
    }

    /** Others may be at it at once. */
    private static void shared(Buffer b, Shadow lock, int kind, int sort, int site) {
        if (!b.room()) {
            return;
        }
        Pinned.begin();
        try {
            synchronized (lock) {
                int place = b.place(site);
                long now = b.now(lock.stamp);
                lock.stamp = Math.max(lock.stamp, now);
                b.put2(Buffer.head(kind, sort, lock.address), now, place);
            }
        } finally {
            Pinned.end();
        }
    }

    /** A thread is about to wait on a condition: it gives the lock back. How often it had it. One that only looks now and then misses nothing if a wake-up is lost: that is told as
     * giving the lock back and taking it again. */
    static int waits(Buffer b, Shadow condition, Shadow lock, boolean isShort, int site) {
        if (lock.holder != b.mark) {
            return 0;
        }
        int count = lock.count;
        lock.holder = 0;
        lock.count = 0;
        b.held.remove(lock);
        if (isShort) {
            tell(b, lock, Buffer.RELEASE, Monitors.MUTEX, site);
        } else if (b.room()) {
            int place = b.place(site);
            long now = b.now(lock.stamp);
            lock.stamp = now;
            b.put3(Buffer.head(Buffer.WAIT, Monitors.CONDITION, condition.address), now, place, lock.address);
        }
        return count;
    }

    /** It goes on, and has the lock again. */
    static void woken(Buffer b, Shadow condition, Shadow lock, int count, boolean isShort, long reason, int site) {
        lock.holder = b.mark;
        lock.count = count;
        b.epoch++;
        b.held.add(lock, site);
        if (isShort) {
            tell(b, lock, Buffer.ACQUIRE, Monitors.MUTEX, site);
        } else if (b.room()) {
            int place = b.place(site);
            long now = b.now(lock.stamp);
            lock.stamp = now;
            long third = lock.address | reason;
            b.put3(Buffer.head(Buffer.WOKEN, Monitors.CONDITION, condition.address), now, place, third);
        }
    }
}

package foretrace.agent;

import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Records of locks, and of other objects that threads synchronise on. The thread holds the lock, or the hook is where
 * the record's time is right.
 */
final class Locks {
    /** The object class of read-write locks in records. */
    private static final int RWLOCK = 2;
    /**
     * Why a wait ends, in the third word of a record: the observer looks for the notify; if there is none, the wait
     * ended by itself, or its time was up.
     */
    static final long NOTIFIED = 0, SPURIOUS = 2L << 48, TIMED = 3L << 48;
    /** A wait for fewer milliseconds than this is a poll. */
    static final long LONG = 1000;

    private Locks() {}

    /** A lock was acquired. Only the outermost of nested acquires is recorded. */
    @ForceInline
    static void acquired(ThreadState self, Shadow lock, int kind, int site) {
        if (lock.holder == self.number) {
            lock.count++;
            return;
        }
        StampedLocks.endReleasedSections(self, site);
        lock.holder = self.number;
        lock.count = 1;
        self.syncFreeRegion++;
        self.held.add(lock, site);
        if (self.isOptimistic) {
            self.optimistic(false);
        }
        record(self, lock, kind, Monitors.MUTEX, site);
    }

    /** A lock is about to be released. */
    @ForceInline
    static void releasing(ThreadState self, Shadow lock, int kind, int site) {
        if (lock.holder != self.number || --lock.count > 0) {
            return;
        }
        lock.holder = 0;
        self.held.remove(lock);
        record(self, lock, kind, Monitors.MUTEX, site);
    }

    /** Writes a record of an object, later than the last record of it. */
    @ForceInline
    static void record(ThreadState self, Shadow of, int kind, int objectClass, int site) {
        if (self.room()) {
            int context = self.context(site);
            long now = self.now(of.releaseTime);
            of.releaseTime = now;
            self.put2(Record.head(kind, objectClass, of.address), now, context);
        }
    }

    /** Writes an atomic access without a value, later than the last record of the lock, which the thread holds. */
    static void access(ThreadState self, Shadow lock, int kind, int order, long address, int site) {
        if (self.room()) {
            long now = self.now(lock.releaseTime);
            lock.releaseTime = now;
            // The thread has left the site: its calls would say nothing of it.
            self.put3(Record.head(kind, order, address), now, site & (int) DeferredAccess.SITE_MASK, 0);
        }
    }

    /** As {@link #access}, under a lock that the thread shares with other readers. */
    static void sharedAccess(ThreadState self, Shadow lock, int kind, int order, long address, int site) {
        CarrierPin.begin();
        try {
            synchronized (lock) {
                access(self, lock, kind, order, address, site);
            }
        } finally {
            CarrierPin.end();
        }
    }

    /** A lock of java.util.concurrent was acquired. */
    @ForceInline
    static void locked(ThreadState self, Shadow lock, int kind, int site) {
        if (lock.isReleasedByOther) {
            StampedLocks.acquireTransferred(self, lock, true, site);
        } else {
            acquired(self, lock, kind, site);
        }
    }

    /** A lock of java.util.concurrent was acquired by a reader. */
    static void readLocked(ThreadState self, Shadow lock, int site) {
        if (lock.isReleasedByOther) {
            StampedLocks.acquireTransferred(self, lock, false, site);
        } else {
            readAcquired(self, lock, site);
        }
    }

    /**
     * A lock of java.util.concurrent is about to be released. A thread that does not hold it gets an exception, but
     * for stamped locks, which any thread may release.
     */
    static void unlocking(ThreadState self, Shadow lock, int site) {
        if (lock.holder == self.number) {
            releasing(self, lock, Record.RELEASE, site);
        } else if (StampedLocks.isWriteLocked(lock)) {
            StampedLocks.releaseForOther(self, lock, site);
        } else if (isAnothers(lock.get())) {
            self.text(Record.MISUSE_TEXT, "unlock of a lock that the thread does not hold");
            record(self, lock, Record.MISUSE, Monitors.MUTEX, site);
        }
    }

    /**
     * Whether another thread is known to hold a lock. (The current one may have acquired it in code that is not
     * watched.)
     */
    private static boolean isAnothers(Object lock) {
        if (lock instanceof ReentrantReadWriteLock) {
            return !((ReentrantReadWriteLock) lock).isWriteLockedByCurrentThread();
        }
        return lock instanceof ReentrantLock && !((ReentrantLock) lock).isHeldByCurrentThread();
    }

    /** A reader is about to release a lock of java.util.concurrent. */
    static void readUnlocking(ThreadState self, Shadow lock, int site) {
        if (StampedLocks.isOf(lock)) {
            StampedLocks.readReleasing(self, lock, site);
        } else {
            readReleasing(self, lock, site);
        }
    }

    /** A lock was acquired by one reader of maybe several. */
    static void readAcquired(ThreadState self, Shadow lock, int site) {
        if (self.readHolds.add(lock, 1) == 1) {
            StampedLocks.endReleasedSections(self, site);
            self.syncFreeRegion++;
            self.held.add(lock, site);
            self.optimistic(false);
            shared(self, lock, Record.READ_ACQUIRE, RWLOCK, site);
        }
    }

    static void readReleasing(ThreadState self, Shadow lock, int site) {
        if (self.readHolds.count(lock) > 0 && self.readHolds.add(lock, -1) == 0) {
            sectionEnded(self, lock, true, site);
        }
    }

    /** A section ends that other threads may know to be over, or that of a reader. */
    static void sectionEnded(ThreadState self, Shadow lock, boolean isReader, int site) {
        self.held.remove(lock);
        shared(self, lock, isReader ? Record.READ_RELEASE : Record.RELEASE, isReader ? RWLOCK : Monitors.MUTEX, site);
    }

    /** Writes a record of a lock that other threads may use at the same time. */
    private static void shared(ThreadState self, Shadow lock, int kind, int objectClass, int site) {
        if (!self.room()) {
            return;
        }
        CarrierPin.begin();
        try {
            synchronized (lock) {
                int context = self.context(site);
                long now = self.now(lock.releaseTime);
                lock.releaseTime = Math.max(lock.releaseTime, now);
                self.put2(Record.head(kind, objectClass, lock.address), now, context);
            }
        } finally {
            CarrierPin.end();
        }
    }

    /**
     * A thread is about to wait on a condition and releases the lock. Returns how often it held the lock. A short
     * wait is a poll, which misses nothing if a wake-up is lost: it is recorded as a release and an acquire.
     */
    static int waits(ThreadState self, Shadow condition, Shadow lock, boolean isShort, int site) {
        if (lock.holder != self.number) {
            return 0;
        }
        int count = lock.count;
        lock.holder = 0;
        lock.count = 0;
        self.held.remove(lock);
        if (isShort) {
            record(self, lock, Record.RELEASE, Monitors.MUTEX, site);
        } else if (self.room()) {
            int context = self.context(site);
            long now = self.now(lock.releaseTime);
            lock.releaseTime = now;
            self.put3(Record.head(Record.WAIT, Monitors.CONDITION, condition.address), now, context, lock.address);
        }
        return count;
    }

    /** The wait is over, and the thread holds the lock again. */
    static void woken(ThreadState self, Shadow condition, Shadow lock, int count, boolean isShort, long reason,
        int site) {
        lock.holder = self.number;
        lock.count = count;
        self.syncFreeRegion++;
        self.held.add(lock, site);
        if (isShort) {
            record(self, lock, Record.ACQUIRE, Monitors.MUTEX, site);
        } else if (self.room()) {
            int context = self.context(site);
            long now = self.now(lock.releaseTime);
            lock.releaseTime = now;
            long third = lock.address | reason;
            self.put3(Record.head(Record.WOKEN, Monitors.CONDITION, condition.address), now, context, third);
        }
    }
}

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
    static void acquired(ThreadState self, Shadow lock, int kind, int site) {
        if (lock.holder == self.number) {
            lock.count++;
            return;
        }
        StampedLocks.endReleasedSections(self, site);
        lock.holder = self.number;
        lock.count = 1;
        self.epoch++;
        self.held.add(lock, site);
        if (self.isOptimistic) {
            self.optimistic(false);
        }
        record(self, lock, kind, Monitors.MUTEX, site);
    }

    /** A lock is about to be given back. */
    @ForceInline
    static void releasing(ThreadState self, Shadow lock, int kind, int site) {
        if (lock.holder != self.number || --lock.count > 0) {
            return;
        }
        lock.holder = 0;
        self.held.remove(lock);
        record(self, lock, kind, Monitors.MUTEX, site);
    }

    /** A record of an object: later than the last one of it. */
    @ForceInline
    static void record(ThreadState self, Shadow of, int kind, int objectClass, int site) {
        if (self.room()) {
            int context = self.context(site);
            long now = self.now(of.stamp);
            of.stamp = now;
            self.put2(Record.head(kind, objectClass, of.address), now, context);
        }
    }

    /** An atomic access of an address, without a value: later than the last record of the lock, which the thread has. */
    static void access(ThreadState self, Shadow lock, int kind, int order, long address, int site) {
        if (self.room()) {
            long now = self.now(lock.stamp);
            lock.stamp = now;
            // The thread is elsewhere by now: the calls that led there say nothing of the site.
            self.put3(Record.head(kind, order, address), now, site & (int) DeferredAccess.SITE_MASK, 0);
        }
    }

    /** The same of one that it shares with other readers. */
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

    /** A lock of java.util.concurrent was taken. */
    @ForceInline
    static void locked(ThreadState self, Shadow lock, int kind, int site) {
        if (lock.isReleasedByOther) {
            StampedLocks.acquireTransferred(self, lock, true, site);
        } else {
            acquired(self, lock, kind, site);
        }
    }

    /** The same by a reader. */
    static void readLocked(ThreadState self, Shadow lock, int site) {
        if (lock.isReleasedByOther) {
            StampedLocks.acquireTransferred(self, lock, false, site);
        } else {
            readAcquired(self, lock, site);
        }
    }

    /** A lock of java.util.concurrent is about to be given back. Who has it not is told so by an exception, but that of stamps anybody may give back. */
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

    /** Whether it is known of a lock that the thread does not have it. (It may have taken it in code that is not watched.) */
    private static boolean isAnothers(Object lock) {
        return lock instanceof ReentrantLock && !((ReentrantLock) lock).isHeldByCurrentThread()
            || lock instanceof ReentrantReadWriteLock && !((ReentrantReadWriteLock) lock).isWriteLockedByCurrentThread();
    }

    /** One reader gives a lock of java.util.concurrent back. */
    static void readUnlocking(ThreadState self, Shadow lock, int site) {
        if (StampedLocks.isOf(lock)) {
            StampedLocks.readReleasing(self, lock, site);
        } else {
            readReleasing(self, lock, site);
        }
    }

    /** A lock was taken by one reader of maybe several. */
    static void readAcquired(ThreadState self, Shadow lock, int site) {
        if (self.readHolds.add(lock, 1) == 1) {
            StampedLocks.endReleasedSections(self, site);
            self.epoch++;
            self.held.add(lock, site);
            self.optimistic(false);
            shared(self, lock, Record.READ_ACQUIRE, RWLOCK, site);
        }
    }

    static void readReleasing(ThreadState self, Shadow lock, int site) {
        if (self.readHolds.of(lock) > 0 && self.readHolds.add(lock, -1) == 0) {
            sectionEnded(self, lock, true, site);
        }
    }

    /** A section of which others may know that it is over, or of a reader, ends. */
    static void sectionEnded(ThreadState self, Shadow lock, boolean isReader, int site) {
        self.held.remove(lock);
        shared(self, lock, isReader ? Record.READ_RELEASE : Record.RELEASE, isReader ? RWLOCK : Monitors.MUTEX, site);
    }

    /** Others may be at it at once. */
    private static void shared(ThreadState self, Shadow lock, int kind, int objectClass, int site) {
        if (!self.room()) {
            return;
        }
        CarrierPin.begin();
        try {
            synchronized (lock) {
                int context = self.context(site);
                long now = self.now(lock.stamp);
                lock.stamp = Math.max(lock.stamp, now);
                self.put2(Record.head(kind, objectClass, lock.address), now, context);
            }
        } finally {
            CarrierPin.end();
        }
    }

    /** A thread is about to wait on a condition: it gives the lock back. How often it had it. One that only looks now and then misses nothing if a wake-up is lost: that is told as
     * giving the lock back and taking it again. */
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
            long now = self.now(lock.stamp);
            lock.stamp = now;
            self.put3(Record.head(Record.WAIT, Monitors.CONDITION, condition.address), now, context, lock.address);
        }
        return count;
    }

    /** It goes on, and has the lock again. */
    static void woken(ThreadState self, Shadow condition, Shadow lock, int count, boolean isShort, long reason, int site) {
        lock.holder = self.number;
        lock.count = count;
        self.epoch++;
        self.held.add(lock, site);
        if (isShort) {
            record(self, lock, Record.ACQUIRE, Monitors.MUTEX, site);
        } else if (self.room()) {
            int context = self.context(site);
            long now = self.now(lock.stamp);
            lock.stamp = now;
            long third = lock.address | reason;
            self.put3(Record.head(Record.WOKEN, Monitors.CONDITION, condition.address), now, context, third);
        }
    }
}

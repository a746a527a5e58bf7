package foretrace.agent;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The locks that a thread holds, and under which of them it called code that is not watched.
 *
 * What such code does with the guarded data is not known. So the critical section reads and writes, once, a variable
 * that stands for all of the lock's unseen data ({@link Shadow#unseen}). Predictions keep who reads from whom, so
 * they never swap two such sections.
 */
final class HeldLocks {
    /** Locks that are released unseen must not pile up. */
    private static final int MOST = 256;
    private static final int RELAXED = 1;

    private Shadow[] locks = new Shadow[8];
    /** The sites at which they were acquired. */
    private int[] sites = new int[8];
    private int count;
    /** How many of them, from the first on, have accessed their unseen variable. */
    private int marked;

    @ForceInline
    void add(Shadow lock, int site) {
        if (count == locks.length && !grow()) {
            return;
        }
        // Most often it is the lock of the last time: the store is spared.
        if (locks[count] != lock) {
            locks[count] = lock;
        }
        sites[count++] = site;
    }

    private boolean grow() {
        if (count >= MOST) {
            return false;
        }
        locks = java.util.Arrays.copyOf(locks, count * 2);
        sites = java.util.Arrays.copyOf(sites, count * 2);
        return true;
    }

    @ForceInline
    void remove(Shadow lock) {
        int last = count - 1;
        if (last >= 0 && locks[last] == lock) {
            count = last;
            marked = Math.min(marked, last);
        } else {
            removeBelow(lock);
        }
    }

    private void removeBelow(Shadow lock) {
        for (int at = count - 2; at >= 0; at--) {
            if (locks[at] == lock) {
                count--;
                marked -= at < marked ? 1 : 0;
                System.arraycopy(locks, at + 1, locks, at, count - at);
                System.arraycopy(sites, at + 1, sites, at, count - at);
                return;
            }
        }
    }

    boolean isAny() {
        return count > 0;
    }

    /** Ends the sections of stamped locks that other threads have released. */
    void endReleasedSections(ThreadState self, int site) {
        for (int at = count - 1; at >= 0; at--) {
            if (StampedLocks.isOver(self, locks[at])) {
                StampedLocks.end(self, locks[at], site);
            }
        }
    }

    /**
     * The lock for which the asking thread parks, if it is among these. That is another thread: what it sees may be
     * old.
     */
    Shadow find(Object blocker) {
        Shadow[] locks = this.locks;
        for (int at = Math.min(count, locks.length) - 1; at >= 0; at--) {
            Shadow lock = locks[at];
            if (lock != null && LockRequests.isOf(Thread.currentThread(), blocker, lock)) {
                return lock;
            }
        }
        return null;
    }

    /** Adds all of them to a list, from another thread: what it sees may be old. */
    void addTo(java.util.Collection<Shadow> all) {
        Shadow[] locks = this.locks;
        for (int at = Math.min(count, locks.length) - 1; at >= 0; at--) {
            if (locks[at] != null) {
                all.add(locks[at]);
            }
        }
    }

    /** The lock to which a condition belongs, if it is among these. */
    Shadow ownerOf(Condition condition) {
        for (int at = count - 1; at >= 0; at--) {
            Object lock = locks[at].get();
            try {
                // A lock throws if it is asked for another lock's condition.
                if (lock instanceof ReentrantLock) {
                    ((ReentrantLock) lock).getWaitQueueLength(condition);
                    return locks[at];
                }
                if (lock instanceof ReentrantReadWriteLock) {
                    ((ReentrantReadWriteLock) lock).getWaitQueueLength(condition);
                    return locks[at];
                }
            } catch (IllegalArgumentException | IllegalMonitorStateException refused) {
                continue;
            }
        }
        return null;
    }

    @ForceInline
    boolean isUnmarked() {
        return count > marked;
    }

    /** Code that is not watched is about to be called. */
    void mark(ThreadState self) {
        if (!self.isReady()) {
            return;
        }
        self.enter();
        try {
            markAll(self);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    /** Marks all, inside a hook that has begun. */
    void markInside(ThreadState self) {
        if (isUnmarked()) {
            markAll(self);
        }
    }

    private void markAll(ThreadState self) {
        for (; marked < count; marked++) {
            Shadow lock = locks[marked];
            if (lock.holder == self.number) {
                Locks.access(self, lock, Record.RMW, RELAXED, lock.unseen(), sites[marked]);
            } else {
                // Readers are supposed to read only. If they write, the program is wrong without us.
                Locks.sharedAccess(self, lock, Record.LOAD, RELAXED, lock.unseen(), sites[marked]);
            }
        }
    }
}

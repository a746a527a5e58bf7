package foretrace.agent;

import static foretrace.agent.Memory.U;

/**
 * A spin lock per variable makes an access and its record one step, for accesses whose values are recorded. A waiter
 * steals the lock after 250 ms: the owner may have been descheduled, or may itself wait for another thread (for a
 * class to be initialised, or in a function that it calls).
 *
 * The lock is the lower bits of D ({@link Cells}).
 */
final class VariableLock {
    /** How often a thread spins before it yields, and after how many nanoseconds it steals the lock. */
    private static final int SPINS = 1 << 9;
    private static final long STEAL_AFTER = 250_000_000;

    private VariableLock() {}

    static void lock(ThreadState self, Object of, long d) {
        // An exception may have left one behind.
        unlock(self);
        if (!tryLock(self, of, d)) {
            lockSlowly(self, of, d);
        }
    }

    private static boolean tryLock(ThreadState self, Object of, long d) {
        long was = U.getLongOpaque(of, d);
        return (was & Cells.LOCK) == 0 && lockFrom(self, of, d, was);
    }

    /** Takes the lock, which may have an owner. Returns whether the word was still {@code was}. */
    private static boolean lockFrom(ThreadState self, Object of, long d, long was) {
        if (!U.compareAndSetLong(of, d, was, was & ~Cells.LOCK | self.slot + 1)) {
            return false;
        }
        self.lockedWord = d;
        self.lockedIn = of;
        return true;
    }

    private static void lockSlowly(ThreadState self, Object of, long d) {
        long begin = 0, holder = 0;
        for (int i = 1; !tryLock(self, of, d); i++) {
            if (i < SPINS) {
                Thread.onSpinWait();
                continue;
            }
            long now = System.nanoTime(), was = U.getLongOpaque(of, d);
            if (i == SPINS) {
                begin = now;
                holder = was & Cells.LOCK;
            }
            if (now - begin > STEAL_AFTER) {
                // Steals the lock, so that the next waiter need not wait as long. If it has another owner by now,
                // there are many waiters: then the thread goes on without it.
                if ((was & Cells.LOCK) == holder) {
                    lockFrom(self, of, d, was);
                }
                return;
            }
            Thread.yield();
        }
    }

    static void unlock(ThreadState self) {
        if (self.lockedWord != 0) {
            long was = U.getLong(self.lockedIn, self.lockedWord), own = self.slot + 1;
            if (was == own) {
                U.putLongRelease(self.lockedIn, self.lockedWord, 0);
            } else {
                // Plain accesses write the word, too, and another thread may have stolen the lock.
                while ((was & Cells.LOCK) == own
                    && !U.compareAndSetLong(self.lockedIn, self.lockedWord, was, was & ~Cells.LOCK)) {
                    was = U.getLong(self.lockedIn, self.lockedWord);
                }
            }
            self.lockedWord = 0;
            self.lockedIn = null;
        }
    }
}

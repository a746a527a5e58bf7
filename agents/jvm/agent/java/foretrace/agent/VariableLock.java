package foretrace.agent;

import static foretrace.agent.Memory.U;

/**
 * A thread that accesses a variable whose accesses are told with their values tries to be alone with it from before the access until that is told, so that they are told in their order. Who has it may have been
 * put aside by the system, even for long; it may also have to wait for another thread in between (to initialise a class, in a function that it calls): so nobody waits for ever.
 */
final class VariableLock {
    /** How often a thread tries to be alone with a variable before it lets others run, and for how long (in nanoseconds) before it takes it over. */
    private static final int SPINS = 1 << 9;
    private static final long STEAL_AFTER = 250_000_000;

    private VariableLock() {}

    static void lock(ThreadState self, Object of, long d) {
        // One that was left behind by an exception.
        unlock(self);
        if (!tryLock(self, of, d)) {
            lockSlowly(self, of, d);
        }
    }

    private static boolean tryLock(ThreadState self, Object of, long d) {
        long was = U.getLongOpaque(of, d);
        return (was & Cells.LOCK) == 0 && lockFrom(self, of, d, was);
    }

    /** Has it instead of who had it, if anybody. */
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
                // Nobody shall wait for the same again. (If it is another's by now, there are many; then it goes without.)
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
                // Plain accesses write it, too; and another may have it meanwhile.
                while ((was & Cells.LOCK) == own && !U.compareAndSetLong(self.lockedIn, self.lockedWord, was, was & ~Cells.LOCK)) {
                    was = U.getLong(self.lockedIn, self.lockedWord);
                }
            }
            self.lockedWord = 0;
            self.lockedIn = null;
        }
    }
}

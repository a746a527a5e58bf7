package foretrace.agent;

import static foretrace.agent.Memory.U;

/**
 * A thread that accesses a variable whose accesses are told with their values tries to be alone with it from before the access until that is told, so that they are told in their order. Who has it may have been
 * put aside by the system, even for long; it may also have to wait for another thread in between (to initialise a class, in a function that it calls): so nobody waits for ever.
 */
final class Alone {
    /** How often a thread tries to be alone with a variable before it lets others run, and for how long (in nanoseconds) before it takes it over. */
    private static final int EAGERNESS = 1 << 9;
    private static final long PATIENCE = 250_000_000;

    private Alone() {}

    static void lock(Buffer b, Object of, long d) {
        // One that was left behind by an exception.
        unlock(b);
        if (!tryLock(b, of, d)) {
            lockPatiently(b, of, d);
        }
    }

    private static boolean tryLock(Buffer b, Object of, long d) {
        long was = U.getLongOpaque(of, d);
        return (was & Cells.LOCKED) == 0 && lockInstead(b, of, d, was);
    }

    /** Has it instead of who had it, if anybody. */
    private static boolean lockInstead(Buffer b, Object of, long d, long was) {
        if (!U.compareAndSetLong(of, d, was, was & ~Cells.LOCKED | b.slot + 1)) {
            return false;
        }
        b.locked = d;
        b.lockedOf = of;
        return true;
    }

    private static void lockPatiently(Buffer b, Object of, long d) {
        long begin = 0, holder = 0;
        for (int i = 1; !tryLock(b, of, d); i++) {
            if (i < EAGERNESS) {
                Thread.onSpinWait();
                continue;
            }
            long now = System.nanoTime(), was = U.getLongOpaque(of, d);
            if (i == EAGERNESS) {
                begin = now;
                holder = was & Cells.LOCKED;
            }
            if (now - begin > PATIENCE) {
                // Nobody shall wait for the same again. (If it is another's by now, there are many; then it goes without.)
                if ((was & Cells.LOCKED) == holder) {
                    lockInstead(b, of, d, was);
                }
                return;
            }
            Thread.yield();
        }
    }

    static void unlock(Buffer b) {
        if (b.locked != 0) {
            long was = U.getLong(b.lockedOf, b.locked), own = b.slot + 1;
            if (was == own) {
                U.putLongRelease(b.lockedOf, b.locked, 0);
            } else {
                // Plain accesses write it, too; and another may have it meanwhile.
                while ((was & Cells.LOCKED) == own && !U.compareAndSetLong(b.lockedOf, b.locked, was, was & ~Cells.LOCKED)) {
                    was = U.getLong(b.lockedOf, b.locked);
                }
            }
            b.locked = 0;
            b.lockedOf = null;
        }
    }
}

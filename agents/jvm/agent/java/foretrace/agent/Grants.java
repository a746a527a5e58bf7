package foretrace.agent;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * What the detector of deadlocks needs to know of waits for more than locks: how many posts a latch, a barrier or a
 * future needs; which awaits were made by a call that waits for as long as it takes; and which objects and threads
 * something else than the records show may let go on. Deadlocks with one of these are only warned of.
 *
 * Which thread runs a task of a pool depends on the schedule. So what a worker grants in a task may come from another
 * thread in another run. Only the first task of a worker is one that no other thread can run: the worker was started
 * for it.
 */
final class Grants {
    /** To submit a task is a post of it, too. */
    private static final int FUTURE = 2;
    private static final int SLOT_BITS = 16;

    private Grants() {}

    /** A latch, a barrier or a future is about to be used: records how many posts an await needs. */
    static void seen(ThreadState self, Shadow of, Object object, int site) {
        if (!of.isPosted() && of.needed == 0) {
            seenFirst(self, of, object, site);
        }
        if (of.isBarrier) {
            self.barrier = of;
            self.isInBarrier = false;
        }
    }

    private static void seenFirst(ThreadState self, Shadow of, Object object, int site) {
        CarrierPin.begin();
        try {
            synchronized (of) {
                int needed = needed(object);
                if (of.isPosted() || needed == 0 || !self.room()) {
                    return;
                }
                int context = self.context(site);
                long now = self.now(0);
                of.isBarrier = object instanceof CyclicBarrier;
                int objectClass = of.isBarrier ? EntrySync.BARRIER : EntrySync.LATCH;
                self.put3(Record.head(Record.INIT, objectClass, of.address), now, context, needed);
                of.needed = needed;
                of.firstPosted(now);
            }
        } finally {
            CarrierPin.end();
        }
    }

    private static int needed(Object object) {
        if (object instanceof CountDownLatch) {
            return (int) Math.min(((CountDownLatch) object).getCount(), Integer.MAX_VALUE);
        }
        if (object instanceof CyclicBarrier) {
            return ((CyclicBarrier) object).getParties();
        }
        return object instanceof FutureTask ? FUTURE : 0;
    }

    /** Whether the thread is in a call that waits for such an object for as long as it takes. */
    static boolean isWaiting(ThreadState self, Shadow of) {
        Object object = self.waitsFor;
        boolean isCounted =
            object instanceof CountDownLatch || object instanceof CyclicBarrier || object instanceof FutureTask;
        return isCounted && of.get() == object;
    }

    /** A thread is about to post or to release a permit. */
    static void granted(ThreadState self, Shadow of, int objectClass, int site) {
        if (self.tasks > 1 && (of.needed > 0 || objectClass == EffectRecorder.SEMAPHORE)) {
            fromOutside(self, of, null, objectClass, site);
        }
    }

    /** A worker of a pool begins a task; {@code of} is the pool, or a task of a {@code ForkJoinPool}. */
    static void begins(ThreadState self, Object of) {
        if (of instanceof ThreadPoolExecutor && ((ThreadPoolExecutor) of).getMaximumPoolSize() == 1) {
            return;
        }
        // Other pools start no worker for one task: any worker may run it, so every grant is uncertain (2).
        boolean isStartedFor = of instanceof ThreadPoolExecutor && !(of instanceof ScheduledThreadPoolExecutor);
        self.tasks += isStartedFor ? 1 : 2;
    }

    /** Something else than the records show may grant an object, or make a thread give up its waits. */
    static void fromOutside(ThreadState self, Shadow of, Object object, int objectClass, int site) {
        if (object instanceof Thread) {
            interrupted(self, object, site);
        } else if (!of.isFromOutside && self.room()) {
            of.isFromOutside = true;
            int context = self.context(site);
            self.put2(Record.head(Record.FROM_OUTSIDE, objectClass, of.address), self.now(0), context);
        }
    }

    /** A thread is interrupted. */
    static void interrupted(ThreadState self, Object thread, int site) {
        Object known = thread instanceof Thread ? ((Thread) thread).foretrace$state : null;
        if (known == null || known == ThreadState.NONE || known == self) {
            return;
        }
        ThreadState other = (ThreadState) known;
        if (!other.isFromOutside && self.room()) {
            other.isFromOutside = true;
            int context = self.context(site);
            long word = other.slot | (long) other.generation << SLOT_BITS;
            self.put2(Record.head(Record.FROM_OUTSIDE, 0, word), self.now(other.time), context);
        }
    }
}

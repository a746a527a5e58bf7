package foretrace.agent;

import static foretrace.agent.Memory.U;

/** Semaphores: how many permits one has when it is first seen, and when these are taken and given. */
final class Semaphores {
    private Semaphores() {}

    /** One is about to be used. */
    static void seen(Buffer b, Shadow of, Object semaphore, int sort, int site) {
        if (of.isPosted() || !(semaphore instanceof java.util.concurrent.Semaphore)) {
            return;
        }
        Pinned.begin();
        try {
            synchronized (of) {
                if (!of.isPosted() && b.room()) {
                    long permits = Math.max(0, ((java.util.concurrent.Semaphore) semaphore).availablePermits());
                    int place = b.place(site);
                    long now = b.now(0);
                    b.put3(Buffer.head(Buffer.INIT, sort, of.address), now, place, permits);
                    of.firstPosted(now);
                }
            }
        } finally {
            Pinned.end();
        }
    }

    /** How many permits are given or taken. Who reduces them may take more than there are: nothing is told of these. */
    static long count(long told, Call call, Object semaphore) {
        int value = Told.value(told);
        long count = value == Told.ARGUMENT ? call.number : value == Told.RESULT ? call.result : 1;
        if (Told.word(told) == Told.DOWN && semaphore instanceof java.util.concurrent.Semaphore) {
            int left = ((java.util.concurrent.Semaphore) semaphore).availablePermits();
            return left < 0 ? Math.max(0, count + left) : count;
        }
        return count;
    }

    /** A permit is about to be given, or was taken. */
    static void permit(Buffer b, Shadow of, int kind, int sort, int site) {
        if (kind == Buffer.DOWN) {
            b.epoch++;
        }
        if (b.room()) {
            int place = b.place(site);
            long now = b.now(U.getLongVolatile(of.posted(), Memory.LONGS));
            Entries.raise(of.posted(), Memory.LONGS, now);
            b.put2(Buffer.head(kind, sort, of.address), now, place);
        }
    }
}

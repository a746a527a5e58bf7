package foretrace.agent;

import static foretrace.agent.Memory.U;

/** Semaphores: their permits when they are first seen, and every acquire and release of a permit. */
final class Semaphores {
    private Semaphores() {}

    /** A semaphore is about to be used. */
    static void seen(ThreadState self, Shadow of, Object semaphore, int objectClass, int site) {
        if (of.isPosted() || !(semaphore instanceof java.util.concurrent.Semaphore)) {
            return;
        }
        CarrierPin.begin();
        try {
            synchronized (of) {
                if (!of.isPosted() && self.room()) {
                    long permits = Math.max(0, ((java.util.concurrent.Semaphore) semaphore).availablePermits());
                    int context = self.context(site);
                    long now = self.now(0);
                    self.put3(Record.head(Record.INIT, objectClass, of.address), now, context, permits);
                    of.firstPosted(now);
                }
            }
        } finally {
            CarrierPin.end();
        }
    }

    /**
     * How many permits a call releases or acquires. A program that reduces permits may make them negative: acquires
     * of permits that are not there are not recorded.
     */
    static long count(long effect, Call call, Object semaphore) {
        int value = Effect.value(effect);
        long count = value == Effect.ARGUMENT ? call.number : value == Effect.RESULT ? call.result : 1;
        if (Effect.kind(effect) == Effect.DOWN && semaphore instanceof java.util.concurrent.Semaphore) {
            int left = ((java.util.concurrent.Semaphore) semaphore).availablePermits();
            return left < 0 ? Math.max(0, count + left) : count;
        }
        return count;
    }

    /** A permit is about to be released, or was acquired. */
    static void permit(ThreadState self, Shadow of, int kind, int objectClass, int site) {
        if (kind == Record.UP) {
            Grants.granted(self, of, objectClass, site);
        } else {
            self.syncFreeRegion++;
        }
        if (self.room()) {
            int context = self.context(site);
            long now = self.now(U.getLongVolatile(of.posted(), Memory.LONGS));
            EntrySync.raise(of.posted(), Memory.LONGS, now);
            self.put2(Record.head(kind, objectClass, of.address), now, context);
        }
    }
}

package foretrace.agent;

import static foretrace.agent.Memory.U;

import jdk.internal.vm.annotation.ForceInline;

/**
 * Posts and awaits: an await happens after all posts of the object before it.
 *
 * The entries of a collection are distinguished by a hash of 6 bits. Keys with one hash are ordered although they need
 * not be; what is ordered is never missed.
 */
final class EntrySync {
    /** Entries of a collection. */
    static final int COUNT = 64;
    /** Stands for the collection as a whole. */
    static final int WHOLE = -1;
    /** Stands for the whole of a collection while all of another one is put into it. */
    static final int FILLED = -2;
    static final int LATCH = 6;
    /** Who arrives at a barrier posts it with this class, and awaits it so when it leaves. */
    static final int BARRIER = 17;
    /** What else is done with a barrier: its action, a reset, a question. */
    static final int BARRIER_STATE = 18;
    private static final long LONGS = Memory.LONGS;
    /** Longs from the time of one entry to that of the next: each has a cache line of its own. */
    static final int APART = 8;

    private EntrySync() {}

    /** The entry for a key. */
    static int entryOf(int hash) {
        return (hash * 0x9e3779b9) >>> 26;
    }

    /** The offset of an entry's time in {@link Shadow#postTimes}. */
    private static long at(int entry) {
        return LONGS + 8L * APART * entry;
    }

    @ForceInline
    static void post(ThreadState self, Shadow of, int entry, int site) {
        long address = of.address + 8L * (entry + 1);
        // If the thread has done nothing since its last post of this entry, there is nothing new to post. (Where posts
        // are counted, each is.)
        if (self.lastPost != address || self.lastPostAt != self.tick || of.needed > 0 || Memory.ALL) {
            postNew(self, of, entry, address, site);
        }
    }

    private static void postNew(ThreadState self, Shadow of, int entry, long address, int site) {
        if (!self.room()) {
            return;
        }
        Grants.granted(self, of, classOf(of), site);
        of.hasPosts = true;
        int objectClass = LATCH;
        if (of.isBarrier) {
            boolean arrives = self.barrier == of && !self.isInBarrier;
            objectClass = arrives ? BARRIER : BARRIER_STATE;
            self.isInBarrier |= arrives;
        }
        long[] times = entry == WHOLE ? of.posted() : of.postTimes();
        long at = entry == WHOLE ? LONGS : at(entry);
        int context = self.context(site);
        // Most often the time is what it was when this thread was here last. A load first would fetch the cache line
        // twice.
        int index = cacheIndex(address);
        long time = self.awaitCache[index] == address ? self.awaitCache[index + 1] : 0;
        long now = self.now(time);
        // No two posts of an entry have one time.
        for (long found; (found = U.compareAndExchangeLong(times, at, time, now)) != time; time = found) {
            now = self.now(found);
        }
        of.notePost();
        if (self.isOptimistic) {
            self.optimistic(false);
        }
        boolean isKnown = time == 0 || self.hasAwaited(index, address, time);
        self.put2(Record.head(Record.POST, objectClass, address), now, context);
        if (isKnown) {
            // The thread's own post needs no await.
            self.cacheAwait(index, address, now);
        }
        self.lastPost = address;
        self.lastPostAt = self.tick;
    }

    /** The class of an object, in records that say something of all of it. */
    static int classOf(Shadow of) {
        return of.isBarrier ? BARRIER_STATE : LATCH;
    }

    /** An await inside a call of the JDK: who arrives last runs the action of a barrier before it leaves. */
    static void awaitInside(ThreadState self, Shadow of, int entry, int site) {
        if (!of.isBarrier) {
            await(self, of, entry, site);
            return;
        }
        boolean isInBarrier = self.isInBarrier;
        self.isInBarrier = false;
        await(self, of, entry, site);
        self.isInBarrier = isInBarrier;
    }

    /** Where the await cache has an address. */
    private static int cacheIndex(long address) {
        return (int) (address >>> 2) & (2 << ThreadState.AWAIT_CACHE_BITS) - 2;
    }

    /** Awaits an entry. For the whole: awaits every entry. */
    static void await(ThreadState self, Shadow of, int entry, int site) {
        if (of.isPosted() && (of.needed == 0 || of.hasPosts)) {
            one(self, of, WHOLE, U.getLongVolatile(of.posted(), LONGS), site);
        }
        long[] times = of.postTimes;
        if (times == null) {
            return;
        }
        if (entry != WHOLE) {
            one(self, of, entry, U.getLongVolatile(times, at(entry)), site);
            return;
        }
        // A post either is seen by the loop below, or sees isFullyAwaited and clears it, which ends the short cut.
        int postRound = of.postRound;
        if (self.fullyAwaited == of && self.fullAwaitSince == postRound && of.isFullyAwaited && !Memory.ALL
            || !self.room()) {
            return;
        }
        CarrierPin.begin();
        try {
            synchronized (of) {
                postRound = of.postRound;
                of.isFullyAwaited = true;
            }
        } finally {
            CarrierPin.end();
        }
        U.fullFence();
        for (int other = 0; other < COUNT; other++) {
            one(self, of, other, U.getLongVolatile(times, at(other)), site);
        }
        self.fullyAwaited = of;
        self.fullAwaitSince = postRound;
    }

    private static void one(ThreadState self, Shadow of, int entry, long time, int site) {
        if (time == 0) {
            return;
        }
        long address = of.address + 8L * (entry + 1);
        // If there was no post since the last await, it needs no record.
        int index = cacheIndex(address);
        boolean waited = self.mayWait && address == of.address && Grants.isWaiting(self, of);
        // Who comes to a barrier last has awaited its own post only, but may be the first in another run. And what was
        // posted before the last await of a barrier may have been posted in another phase than that.
        boolean isNew = !self.hasAwaited(index, address, time) || of.isBarrier;
        if (!isNew && !Memory.ALL || !self.room()) {
            return;
        }
        self.cacheAwait(index, address, time);
        self.syncFreeRegion++;
        int context = self.context(site);
        int kind = waited ? Record.AWAIT_WAITED : Record.AWAIT;
        int objectClass = classOf(of);
        if (of.isBarrier && self.barrier == of && self.isInBarrier) {
            objectClass = BARRIER;
            self.barrier = null;
            self.isInBarrier = false;
        }
        self.put2(Record.head(kind, objectClass, address), self.now(time), context);
    }

    /** Makes a time at least this late. */
    static void raise(long[] times, long at, long now) {
        long old = U.getLongVolatile(times, at);
        while (old < now && !U.compareAndSetLong(times, at, old, now)) {
            old = U.getLongVolatile(times, at);
        }
    }
}

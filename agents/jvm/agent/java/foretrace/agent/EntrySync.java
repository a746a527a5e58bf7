package foretrace.agent;

import static foretrace.agent.Memory.U;

import jdk.internal.vm.annotation.ForceInline;

/**
 * Posts and awaits: who awaits comes after all who have posted. Of a collection, entries and elements are told apart by what is left of their hash: those that are taken for one
 * order more than they do, never less.
 */
final class EntrySync {
    /** What is told apart of a collection. */
    static final int COUNT = 64;
    /** The collection as a whole. */
    static final int WHOLE = -1;
    /** The same, while all of another collection is put into it. */
    static final int FILLED = -2;
    private static final int LATCH = 6;
    private static final long LONGS = Memory.LONGS;
    /** Longs from one entry's time to the next. */
    static final int APART = 8;

    private EntrySync() {}

    /** The entry for a key. */
    static int of(int hash) {
        return (hash * 0x9e3779b9) >>> 26;
    }

    /** Where the time of an entry is; entries of two threads are not in one line of the cache. */
    private static long at(int entry) {
        return LONGS + 8L * APART * entry;
    }

    @ForceInline
    static void post(ThreadState self, Shadow of, int entry, int site) {
        long address = of.address + 8L * (entry + 1);
        // If it did nothing since it posted this last, there is nothing new.
        if (self.lastPost != address || self.lastPostAt != self.tick || Memory.ALL) {
            postNew(self, of, entry, address, site);
        }
    }

    private static void postNew(ThreadState self, Shadow of, int entry, long address, int site) {
        if (!self.room()) {
            return;
        }
        long[] stamps = entry == WHOLE ? of.posted() : of.stamps();
        long at = entry == WHOLE ? LONGS : at(entry);
        int context = self.context(site);
        // Most often it is what it was when this thread was here last. (To look first would fetch the line of the cache twice: to read it, and then to write it.)
        int near = near(address);
        long stamp = self.awaitCache[near] == address ? self.awaitCache[near + 1] : 0;
        long now = self.now(stamp);
        // No two posts of one entry have the same time.
        for (long found; (found = U.compareAndExchangeLong(stamps, at, stamp, now)) != stamp; stamp = found) {
            now = self.now(found);
        }
        of.notePost();
        if (self.isOptimistic) {
            self.optimistic(false);
        }
        boolean isKnown = stamp == 0 || self.hasAwaited(near, address, stamp);
        self.put2(Record.head(Record.POST, LATCH, address), now, context);
        if (isKnown) {
            // Of its own it need not be told.
            self.cacheAwait(near, address, now);
        }
        self.lastPost = address;
        self.lastPostAt = self.tick;
    }

    /** Where a thread remembers what it has awaited of an address. */
    private static int near(long address) {
        return (int) (address >>> 2) & (2 << ThreadState.AWAIT_CACHE_BITS) - 2;
    }

    /** Awaits an entry; the whole: every entry. */
    static void await(ThreadState self, Shadow of, int entry, int site) {
        if (of.isPosted()) {
            one(self, of, WHOLE, U.getLongVolatile(of.posted(), LONGS), site);
        }
        long[] stamps = of.stamps;
        if (stamps == null) {
            return;
        }
        if (entry != WHOLE) {
            one(self, of, entry, U.getLongVolatile(stamps, at(entry)), site);
            return;
        }
        // Who posts is seen by this, or has seen that it is quiet: then it is no longer.
        int postEpoch = of.postEpoch;
        if (self.fullyAwaited == of && self.fullAwaitSince == postEpoch && of.isFullyAwaited && !Memory.ALL || !self.room()) {
            return;
        }
        CarrierPin.begin();
        try {
            synchronized (of) {
                postEpoch = of.postEpoch;
                of.isFullyAwaited = true;
            }
        } finally {
            CarrierPin.end();
        }
        U.fullFence();
        for (int other = 0; other < COUNT; other++) {
            one(self, of, other, U.getLongVolatile(stamps, at(other)), site);
        }
        self.fullyAwaited = of;
        self.fullAwaitSince = postEpoch;
    }

    private static void one(ThreadState self, Shadow of, int entry, long stamp, int site) {
        if (stamp == 0) {
            return;
        }
        long address = of.address + 8L * (entry + 1);
        // Nobody has posted since.
        int near = near(address);
        if (self.hasAwaited(near, address, stamp) && !Memory.ALL || !self.room()) {
            return;
        }
        self.cacheAwait(near, address, stamp);
        self.epoch++;
        int context = self.context(site);
        self.put2(Record.head(Record.AWAIT, LATCH, address), self.now(stamp), context);
    }

    /** Sees to it that a time is not earlier than this. */
    static void raise(long[] stamps, long at, long now) {
        long old = U.getLongVolatile(stamps, at);
        while (old < now && !U.compareAndSetLong(stamps, at, old, now)) {
            old = U.getLongVolatile(stamps, at);
        }
    }
}

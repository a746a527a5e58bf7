package foretrace.agent;

import static foretrace.agent.Memory.U;

/**
 * Posts and awaits: who awaits comes after all who have posted. Of a collection, entries and elements are told apart by what is left of their hash: those that are taken for one
 * order more than they do, never less.
 */
final class Entries {
    /** What is told apart of a collection. */
    static final int COUNT = 64;
    /** The collection as a whole. */
    static final int WHOLE = -1;
    private static final int LATCH = 6;
    private static final long LONGS = Memory.LONGS;

    private Entries() {}

    /** The entry for a key. */
    static int of(int hash) {
        return (hash * 0x9e3779b9) >>> 26;
    }

    static void post(Buffer b, Shadow of, int entry, int site) {
        if (!b.room()) {
            return;
        }
        long[] stamps = of.stamps();
        long at = LONGS + 8L * (entry + 1);
        long now = b.now(U.getLongVolatile(stamps, at));
        raise(stamps, at, now);
        b.put2(Buffer.head(Buffer.POST, LATCH, of.address + 8L * (entry + 1)), now, Buffer.place(site));
    }

    /** Awaits an entry; the whole: every entry. */
    static void await(Buffer b, Shadow of, int entry, int site) {
        long[] stamps = of.stamps;
        if (stamps == null) {
            return;
        }
        one(b, of, stamps, WHOLE, site);
        for (int other = entry == WHOLE ? 0 : entry; other <= (entry == WHOLE ? COUNT - 1 : entry); other++) {
            one(b, of, stamps, other, site);
        }
    }

    private static void one(Buffer b, Shadow of, long[] stamps, int entry, int site) {
        long at = LONGS + 8L * (entry + 1);
        long stamp = U.getLongVolatile(stamps, at);
        if (stamp == 0) {
            return;
        }
        long address = of.address + 8L * (entry + 1);
        // Nobody has posted since.
        int near = (int) ((address >>> 3) * 0x9e3779b97f4a7c15L >>> 56);
        long key = address << 20 ^ stamp;
        if (b.awaited[near] == key && !Memory.ALL || !b.room()) {
            return;
        }
        b.awaited[near] = key;
        b.epoch++;
        b.put2(Buffer.head(Buffer.AWAIT, LATCH, address), b.now(stamp), Buffer.place(site));
    }

    /** Sees to it that a time is not earlier than this. */
    static void raise(long[] stamps, long at, long now) {
        long old = U.getLongVolatile(stamps, at);
        while (old < now && !U.compareAndSetLong(stamps, at, old, now)) {
            old = U.getLongVolatile(stamps, at);
        }
    }
}

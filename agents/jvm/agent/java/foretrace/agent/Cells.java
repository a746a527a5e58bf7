package foretrace.agent;

import static foretrace.agent.Memory.U;

import jdk.internal.vm.annotation.ForceInline;

/**
 * Which accesses are told. Every variable has a cell of three words, W, R and D. As long as one thread has it to itself, its last write and its last read are kept in
 * W and R: the thread's block, position and rank ({@link Buffer#tick}), and the site. D is the last of those that these replaced at an earlier position. When
 * another thread comes, what is kept is told (Late, and Pin for D), and from then on the variable is common: W says which write was told last, R when something was.
 * docs/java.md has the whole of it.
 *
 * Nobody locks a cell of a plain variable ({@link Alone} is for those that are told with their values). Each word says what it is; who loses a race with another thread tells something twice, or later: only of accesses that are a race, or
 * two reads.
 */
final class Cells {
    /** What a variable is: in the lower bits of what {@link Sites} know. */
    static final int UNKNOWN = 0, NOTHING = 1, PLAIN = 2, VOLATILE = 3, WATCHED = 4;
    static final int STATIC = 8, WHAT = 15;
    static final int OFFSET_BITS = 20, OFFSET_SHIFT = 4;
    private static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;

    /** Reads that a thread remembers. */
    static final int SEEN = 1 << 10;
    /** How often a variable is tried to be taken from its owner. */
    private static final int TRIES = 16;
    /** Times in cells are coarser than others. */
    private static final int TIME_SHIFT = 6;
    private static final long VERSION_TIME = (1L << 30) - 1;
    /** In versions: nobody wrote that, but what was kept was told. */
    private static final long NOBODY = (1L << 14) - 1;
    /** In D, where a site would be: who is alone with it ({@link Alone}); writes are among what was dropped. */
    static final long LOCKED = (1L << 14) - 1;
    private static final long DROPPED_WRITE = 1L << 15;
    /** In D of a common variable, above that: how many accesses in a row were told of one thread, whether one of them was a write, and of which. */
    private static final int ROW_SHIFT = 20, ROW_BITS = 5, ROW_OF_SHIFT = ROW_SHIFT + ROW_BITS;
    private static final long ROW_WRITE = 1L << 16;
    /** After so many, it is the thread's own again. */
    private static final long ROW = 16;
    /** What is its own then. */
    private static final int NONE = 0, READS = 1, ALL = 2;

    private Cells() {}

    /** Where the words of a cell are, by what is known of a site. A static one's are at addresses. */
    @ForceInline
    static long w(long known) {
        return (known & STATIC) != 0 ? known >>> OFFSET_SHIFT : known >>> OFFSET_SHIFT & OFFSET_MASK;
    }

    @ForceInline
    static long r(long known) {
        return (known & STATIC) != 0 ? (known >>> OFFSET_SHIFT) + 8 : known >>> OFFSET_SHIFT + OFFSET_BITS & OFFSET_MASK;
    }

    @ForceInline
    static long d(long known) {
        return (known & STATIC) != 0 ? (known >>> OFFSET_SHIFT) + 16 : known >>> OFFSET_SHIFT + 2 * OFFSET_BITS;
    }

    private static boolean isKept(long word) {
        return word >>> Kept.BLOCK_SHIFT != 0;
    }

    /** A read, which has been made. Whether that is all. */
    @ForceInline
    static boolean quickRead(Buffer b, Object of, long r, long d, int site) {
        // What was read before is not seen after.
        U.loadFence();
        long last = U.getLong(of, r);
        if (last >>> Kept.BLOCK_SHIFT != b.block) {
            return false;
        }
        if (b.isElsewhere(last)) {
            drop(of, d, last, 0);
        }
        U.putLong(of, r, b.kept(site));
        return true;
    }

    /** A write, which is about to be made. Whether that is all. */
    @ForceInline
    static boolean quickWrite(Buffer b, Object of, long w, long d, int site) {
        long last = U.getLong(of, w);
        // The first write after reads goes the long way, where the calls that led there are looked at.
        if (last >>> Kept.BLOCK_SHIFT != b.block || (last & Kept.SITE_MASK) == 0) {
            return false;
        }
        if (b.isElsewhere(last)) {
            drop(of, d, last, DROPPED_WRITE);
        }
        U.putLong(of, w, b.kept(site));
        return true;
    }

    /** What replaces another is the last; or what is never told at all (of those who initialise classes). */
    private static void drop(Object of, long d, long last, long write) {
        // What was told (it has no site) is not dropped.
        if ((last & Kept.SITE_MASK) != 0) {
            put(of, d, U.getLong(of, d), last & ~Kept.SITE_MASK, DROPPED_WRITE, write);
        }
    }

    /** Changes D, of which only some bits stay. Who is alone with it at this moment ({@link #lock}) may lose that; but nobody must have it for ever. */
    private static void put(Object of, long d, long was, long now, long stays, long more) {
        if ((was & LOCKED) == 0) {
            U.putLong(of, d, now | was & stays | more);
            return;
        }
        while (!U.compareAndSetLong(of, d, was, now | was & (stays | LOCKED) | more)) {
            was = U.getLong(of, d);
        }
    }

    /** Whether a variable is this thread's alone, or nobody's. */
    private static boolean isOwn(Buffer b, long word) {
        return word == 0 || isKept(word) && b.isMine(word);
    }

    /** Whether a read need not be told because the variable is the thread's own: it is kept. */
    static boolean keepRead(Buffer b, Object of, long w, long r, long d, int site) {
        if (b.isOptimistic) {
            return true;
        }
        long write = U.getLong(of, w), read = U.getLong(of, r);
        if (!isOwn(b, write) || !isOwn(b, read) || b.tellsAll) {
            return false;
        }
        if (b.initialising > 0) {
            drop(of, d, b.kept(1), 0);
            return true;
        }
        b.places.note(site);
        // Of those who come first, one has it; W says who, even if nothing was written.
        if (write == 0 && !U.compareAndSetLong(of, w, 0, b.kept(0))) {
            return false;
        }
        // Another may have come meanwhile.
        if (!U.compareAndSetLong(of, r, read, b.kept(site))) {
            return false;
        }
        if (read != 0 && b.isElsewhere(read)) {
            drop(of, d, read, 0);
        }
        return true;
    }

    static boolean keepWrite(Buffer b, Object of, long w, long r, long d, int site) {
        long write = U.getLong(of, w), read = U.getLong(of, r);
        if (!isOwn(b, write) || !isOwn(b, read) || b.tellsAll) {
            return false;
        }
        if (b.initialising > 0) {
            drop(of, d, b.kept(1), DROPPED_WRITE);
            return true;
        }
        b.places.note(site);
        if (!U.compareAndSetLong(of, w, write, b.kept(site))) {
            return false;
        }
        if (write != 0 && b.isElsewhere(write)) {
            drop(of, d, write, DROPPED_WRITE);
        }
        return true;
    }

    /** Makes a variable common: tells what was kept of it. */
    static void share(Buffer b, Object of, long w, long r, long d, long address, long base, int shift, Object object) {
        long write = 0, read = 0;
        // Its owner may be at it.
        for (int i = 0; i < TRIES; i++) {
            write = U.getLong(of, w);
            read = U.getLong(of, r);
            if (!isKept(write) && write != 0) {
                // Another has told it; only a read may be left.
                write = 0;
                break;
            }
            if (U.compareAndSetLong(of, w, write, NOBODY << 30 | b.time & VERSION_TIME)) {
                break;
            }
            write = 0;
        }
        if (!isKept(read) || !U.compareAndSetLong(of, r, read, 0)) {
            read = 0;
        }
        if (write == 0 && read == 0) {
            return;
        }
        long was = U.getLong(of, d), dropped = isKept(was) ? was : 0;
        follow(b, write);
        follow(b, read);
        follow(b, dropped);
        while (dropped != 0 && !U.compareAndSetLong(of, d, was, was & LOCKED)) {
            was = U.getLong(of, d);
        }
        if (shift > 0 || object != null && (isKept(write) || isKept(read)) && Shadow.isHandedOver(b, object)) {
            pinAll(b, base + (address - base >>> 3 >>> shift << shift << 3), shift, dropped, isKept(write) ? write : 0, isKept(read) ? read : 0);
            return;
        }
        if (dropped != 0) {
            late(b, Buffer.PIN, address, dropped, (dropped & DROPPED_WRITE) != 0);
        }
        if (isKept(write) && !isTold(write)) {
            late(b, Buffer.LATE, address, write, true);
        }
        if (isKept(read) && !isTold(read)) {
            late(b, Buffer.LATE, address, read, false);
        }
    }

    /** What a thread has kept comes before what is told now. */
    private static void follow(Buffer b, long word) {
        if (isKept(word)) {
            b.follow(Kept.slot(word));
        }
    }

    /** Whether what is kept was told already: it only says whose the variable is. */
    private static boolean isTold(long kept) {
        return (kept & Kept.SITE_MASK) == 0;
    }

    /** What of a common variable becomes this thread's own: only its accesses were told for a while. So a variable that is handed on, and then used by one thread alone, is not told for
     * ever; what that thread does first is told, and with it what it may race with. Only a write races with what others have read: if it has only read, only reads are its own. */
    private static int ownAgain(Buffer b, Object of, long d, boolean isWrite) {
        long was = U.getLong(of, d);
        if (isKept(was) || b.tellsAll) {
            return NONE;
        }
        boolean isNext = was >>> ROW_OF_SHIFT == who(b);
        long count = isNext ? (was >>> ROW_SHIFT & (1L << ROW_BITS) - 1) + 1 : 1;
        long write = isWrite ? ROW_WRITE : isNext ? was & ROW_WRITE : 0;
        long row = count < ROW ? who(b) << ROW_OF_SHIFT | count << ROW_SHIFT | write : 0;
        put(of, d, was, row, ROW_WRITE - 1 & ~LOCKED, 0);
        return count < ROW ? NONE : write == 0 ? READS : ALL;
    }

    /** Of elements that share a cell, nobody knows which was accessed: all are pinned to the last that was. */
    private static void pinAll(Buffer b, long first, int shift, long dropped, long write, long read) {
        long last = later(later(dropped, write), read);
        boolean isWrite = write != 0 || (dropped & DROPPED_WRITE) != 0;
        for (long at = first; last != 0 && at < first + (8L << shift); at += 8) {
            late(b, Buffer.PIN, at, last, isWrite);
        }
    }

    private static long later(long one, long other) {
        return Long.compareUnsigned(one, other) < 0 ? other : one;
    }

    private static void late(Buffer b, int kind, long address, long kept, boolean isWrite) {
        int place = kind == Buffer.PIN ? 0 : Buffer.placeOf(Kept.slot(kept), (int) (kept & Kept.SITE_MASK));
        long slot = Kept.slot(kept) | (isWrite ? 1L << 32 : 0) | Kept.rank(kept) << 34;
        b.aside(Buffer.head(kind, 0xff, address), Kept.position(kept) << 24 | place, slot);
    }

    /** The time after which something of a common variable is. */
    private static long lastTime(long read) {
        return isKept(read) || read == 0 ? 0 : Memory.BEGIN + (read << TIME_SHIFT);
    }

    private static long timeLeft(long time) {
        long left = Math.max(1, time - Memory.BEGIN + (1 << TIME_SHIFT) - 1 >> TIME_SHIFT);
        if (left >>> Kept.BLOCK_SHIFT != 0) {
            Native.tooLong();
            return 1;
        }
        return left;
    }

    /** Which write of a variable was the last that was told. */
    private static long version(Buffer b, long time) {
        return who(b) << 30 | time & VERSION_TIME;
    }

    /** A thread, in versions and rows: never 0, never {@link #NOBODY}. */
    private static long who(Buffer b) {
        return Integer.remainderUnsigned(b.mark, (int) NOBODY - 1) + 1;
    }

    private static boolean isOwnVersion(Buffer b, long write) {
        return write >>> 30 == who(b);
    }

    private static long key(long address, long write, long epoch) {
        return address * 0x9e3779b97f4a7c15L ^ write * 0xbf58476d1ce4e5b9L ^ epoch * 0x94d049bb133111ebL | 1;
    }

    /** Whether a read of a common variable need not be told: the thread has read the same before, and nothing came in since. */
    @ForceInline
    static boolean isCovered(Buffer b, Object of, long w, long address) {
        long write = U.getLong(of, w);
        return !isKept(write) && b.seen[slotOfKey(address)] == key(address, write, b.epoch);
    }

    private static int slotOfKey(long address) {
        return (int) ((address >>> 3) * 0x9e3779b97f4a7c15L >>> 54);
    }

    /** A read of a common variable. */
    static void tellRead(Buffer b, Object of, long w, long r, long d, long address, long base, int shift, Object object, int site) {
        long write = U.getLong(of, w);
        int at = slotOfKey(address);
        if (isCovered(b, of, w, address) && !Memory.ALL) {
            return;
        }
        share(b, of, w, r, d, address, base, shift, object);
        if (!b.room()) {
            return;
        }
        write = U.getLong(of, w);
        int place = b.place(site);
        long now = b.now(lastTime(U.getLong(of, r)));
        b.putAccess(Buffer.head(Buffer.READ, 0xff, address), now, place);
        int own = ownAgain(b, of, d, false);
        if (own != NONE) {
            if (own == ALL) {
                U.putLong(of, w, b.kept(0));
            }
            U.putLong(of, r, b.kept(0));
            b.epoch++;
            return;
        }
        leave(of, r, now);
        if (!isOwnVersion(b, write)) {
            // It may have seen what another thread has done: what it reads again may be another value.
            b.epoch++;
        }
        b.see(at, key(address, write, b.epoch));
    }

    /** A write of a common variable. */
    static void tellWrite(Buffer b, Object of, long w, long r, long d, long address, long base, int shift, Object object, int site) {
        long read = U.getLong(of, r), write = U.getLong(of, w);
        // The same again, and nobody has seen that it was not there in between.
        if (b.written == address && b.writtenAt == b.tick && read == b.writtenLeft && isOwnVersion(b, write)
            && !Memory.ALL) {
            return;
        }
        share(b, of, w, r, d, address, base, shift, object);
        if (!b.room()) {
            return;
        }
        int place = b.place(site);
        long now = b.now(lastTime(U.getLong(of, r)));
        U.putLong(of, w, version(b, now));
        leave(of, r, now);
        b.putAccess(Buffer.head(Buffer.WRITE, 0xff, address), now, place);
        if (ownAgain(b, of, d, true) == ALL) {
            U.putLong(of, r, 0);
            U.putLong(of, w, b.kept(0));
            U.storeFence();
            return;
        }
        b.written = address;
        b.writtenAt = b.tick;
        b.writtenLeft = timeLeft(now);
        // Who sees the value sees this.
        U.storeFence();
    }

    private static void leave(Object of, long r, long now) {
        U.putLong(of, r, timeLeft(now));
    }

    /** An access with its value: of a volatile variable, or of one that a specification speaks of. */
    static void tellValue(Buffer b, Object of, long w, long r, long address, int kind, int aux, long value, int site) {
        boolean isRead = kind == Buffer.LOAD || kind == Buffer.WATCHED_READ;
        U.loadFence();
        long write = U.getLong(of, w);
        // The same again, and nothing in between: a loop that waits.
        if (isRead && b.loaded == address && b.loadedAt == b.tick && b.loadedVersion == write && b.loadedValue == value
            && !Memory.ALL) {
            return;
        }
        if (!b.room()) {
            return;
        }
        int place = b.place(site);
        long now = b.now(lastTime(U.getLong(of, r)));
        if (!isRead) {
            U.putLong(of, w, version(b, now));
        }
        leave(of, r, now);
        long epoch = b.epoch;
        b.put3(Buffer.head(kind, aux, address), now, place, value);
        if (isRead) {
            b.loaded = address;
            b.loadedAt = b.tick;
            b.loadedVersion = write;
            b.loadedValue = value;
        }
        if (isRead && isOwnVersion(b, write)) {
            // Nothing came in, and nobody comes after it.
            b.epoch = epoch;
        }
        U.storeFence();
    }
}

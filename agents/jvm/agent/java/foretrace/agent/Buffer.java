package foretrace.agent;

import static foretrace.agent.Memory.U;

import jdk.internal.vm.annotation.ForceInline;

/**
 * What a thread writes, and what it knows of itself. Records are those of all agents (agents/runtime/src/record.rs); docs/recording.md says what they mean.
 */
final class Buffer {
    /** Kinds of records. */
    static final int STAMP = 1, LATE = 3, PIN = 4, TEXT = 5, LOST = 6, READ = 16, WRITE = 17, WATCHED_READ = 19, FENCE = 24,
        WATCHED_WRITE = 20, LOAD = 21, STORE = 22, RMW = 23, MARK = 25, START = 32, END = 33, FORK = 34, JOIN = 35,
        ACQUIRE = 36, RELEASE = 37, READ_ACQUIRE = 38, READ_RELEASE = 39, TRY_ACQUIRE = 40, REQUEST = 42,
        WAIT = 43, WOKEN = 44, NOTIFY = 45, NOTIFY_ALL = 46, POST = 47, AWAIT = 48, UP = 49, DOWN = 50, INIT = 51,
        BEGIN = 53, LEAVE = 54, INTERNAL = 55, MISUSE = 56;
    /** What texts are for. */
    static final int THREAD_NAME = 1, LABEL = 2, MISUSE_TEXT = 4;
    /** Bits of a place. */
    static final int PLACE_BITS = 24;
    /** No record is longer, but for texts; with room for a stamp before it. */
    private static final int MOST = 8 * 8;
    /** A time may be so far from the last stamp. */
    private static final long MOST_BETWEEN = 1L << 38;

    /** Awaits that are remembered: addresses, and up to when. */
    static final int AWAITED_BITS = 8;
    /** What a thread has that tells nothing: many virtual ones do not. */
    private static final long[] NOTHING_SEEN = new long[Cells.SEEN], NOTHING_AWAITED = new long[2 << AWAITED_BITS];
    /** All, by their slots. */
    private static Buffer[] all = new Buffer[64];
    private static int marks;

    final int slot;
    /** Which thread of its slot it is, from 1 on. */
    final int life;
    /** Its own number, for who has a lock, and whose a cell is: no other thread has it. */
    final int mark;
    /** Who started its thread, and when: the block, position and rank there. */
    Buffer parent;
    long forked;
    /** How many threads led to it that are known. */
    int generation;
    private final long writing;
    /** The chunk (+ 1), where the next record goes, and where it ends. */
    private int chunk;
    private long at, end, sequence;
    /** The time of the last record, and of the last stamp. */
    long time;
    private long stamped;
    /** The block, the position in it and the rank of what was done last. */
    long tick;
    long block;
    private long position;
    private long lost;
    /** Counts up when something of another thread comes in: what was read before may be another value now; and when something is told that others may come after: what is read again is not. */
    long epoch = 1;
    /** Of reads that need not be told again ({@link Cells}). */
    long[] seen = NOTHING_SEEN;
    /** The write that was told last: nothing came after it. */
    long written, writtenAt, writtenLeft;
    /** The same of a volatile read. */
    long loaded, loadedAt, loadedVersion, loadedValue;
    /** The cell that it is alone with ({@link Alone#lock}). */
    Object lockedOf;
    long locked;
    /** How many classes it initialises now. Meanwhile {@link #block} is nobody's, so that all goes the long way. */
    int initialising;
    /** Nothing is kept. */
    boolean tellsAll;
    /** It reads what others may write, and will ask whether they did: plain reads are not told. {@link #block} is nobody's then, too. */
    boolean isOptimistic;
    /** What is known of objects that were looked for last. It keeps none of them. */
    final Shadow[] shadows = new Shadow[Shadows.NEAR];
    final Held held = new Held();
    /** The objects of the synchronized methods that it is in. */
    Shadow[] entered = new Shadow[16];
    int depth;
    final Places places = new Places();
    final ReadHolds readHolds = new ReadHolds();
    /** How often it had the lock that it gave back to wait on a condition. */
    int waits;
    /** What it posted last, and what it had done then ({@link Entries}). */
    long posted, postedAt;
    /** The lock that it asked for last, and what it had done then ({@link Requests}). */
    long requested, requestedAt;
    /** Of awaits that need not be told again ({@link Entries}). */
    long[] awaited = NOTHING_AWAITED;
    /** Of what it has awaited every entry last, and when. */
    Shadow quiet;
    int quietSince;
    final Call call = new Call();
    /** The object of the last call that posts and awaits, and the entry of it. */
    Shadow current;
    int currentEntry = Entries.WHOLE;
    final Atomics.Cell cell = new Atomics.Cell();
    /** A static write whose class was not there yet: it is told when it was made. */
    int pending;
    long pendingValue;
    /** What keeps its thread from telling something now; 0: nothing. */
    private int hindrance = NEW;
    /** It has told its end. */
    volatile boolean isFinished;

    /** Its thread has not begun; it is inside of a hook; nothing is told any more. */
    private static final int NEW = 1, BUSY = 2, OFF = 4;

    /** What threads have that are not watched. */
    static final Buffer NONE = new Buffer();

    private Buffer() {
        slot = life = mark = 0;
        writing = 0;
        hindrance = OFF;
        block = -1;
    }

    /** The first thread of a slot; or, if there was one before that has ended, another. */
    Buffer(int slot, Buffer before) {
        this.slot = slot;
        Pinned.begin();
        try {
            synchronized (Buffer.class) {
                mark = ++marks;
            }
        } finally {
            Pinned.end();
        }
        life = before == null ? 1 : before.life + 1;
        if (before != null) {
            position = before.position;
            sequence = before.sequence;
            time = before.time;
        }
        writing = Memory.SLOTS + slot * Memory.SLOT_SIZE;
        // It has a block when it begins: many threads tell nothing.
        block = -1;
        Pinned.begin();
        try {
            synchronized (Buffer.class) {
                if (slot >= all.length) {
                    all = java.util.Arrays.copyOf(all, Math.max(slot + 1, all.length * 2));
                }
                all[slot] = this;
            }
        } finally {
            Pinned.end();
        }
    }

    /** Whether something was there when its thread, or one of those that led to it, was started. */
    boolean hasInherited(long tick) {
        if (tick == 0) {
            return true;
        }
        int maker = Kept.mark(tick >>> Kept.TICK_BITS);
        for (Buffer child = this; child.parent != null; child = child.parent) {
            if (child.parent.mark == maker) {
                return tick <= child.forked;
            }
        }
        return maker == mark;
    }

    /** What comes is later than what the thread of a slot has told so far. */
    void follow(int slot) {
        Buffer other = slot < all.length ? all[slot] : null;
        if (other != null) {
            time = Math.max(time, other.time);
        }
    }

    /** The last thread of each slot. */
    static Buffer[] all() {
        return all;
    }

    /** A lock that some thread has, and that the current one parks for. */
    static Shadow findHeld(Object blocker) {
        for (Buffer some : all) {
            Shadow lock = some == null ? null : some.held.find(blocker);
            if (lock != null) {
                return lock;
            }
        }
        return null;
    }

    /** The current thread's; null if it has none yet. */
    @ForceInline
    static Buffer own() {
        return (Buffer) Thread.currentThread().foretrace$buffer;
    }

    /** The current thread's; null if it is not watched. */
    static Buffer attached() {
        Buffer own = own();
        return own == null ? Threads.attach() : own.begun();
    }

    /** The current thread's, if it may tell something now; else null. */
    @ForceInline
    static Buffer ready() {
        Buffer own = own();
        return own != null && own.hindrance == 0 ? own : madeReady();
    }

    private static Buffer madeReady() {
        try {
            Buffer own = attached();
            return own != null && own.isReady() ? own : null;
        } catch (Throwable failed) {
            // There is no room for what a thread needs to be watched.
            Native.failed(failed);
            return null;
        }
    }

    @ForceInline
    boolean isReady() {
        return hindrance == 0;
    }

    /** A hook begins that uses what hooks may be in, or calls others' code. */
    @ForceInline
    void enter() {
        hindrance |= BUSY;
    }

    @ForceInline
    void exit() {
        hindrance &= ~BUSY;
    }

    boolean isOff() {
        return (hindrance & OFF) != 0;
    }

    /** Its thread begins, if it has not begun. */
    private Buffer begun() {
        if ((hindrance & NEW) != 0) {
            hindrance &= ~NEW;
            newBlock();
            if (room()) {
                long now = now(0);
                put3(head(START, 0, 0), now, 0, (long) life << 32);
                String name = Thread.currentThread().getName();
                text(THREAD_NAME, name);
            }
        }
        return this;
    }

    /** Its thread is over. */
    void finish() {
        if ((hindrance & NEW) == 0 && room()) {
            put2(head(END, 0, 0), now(0), 0);
        }
        leave();
        isFinished = true;
        Alone.unlock(this);
        // What others may still ask of it is little.
        places.forget();
        seen = NOTHING_SEEN;
        awaited = NOTHING_AWAITED;
        quiet = null;
        java.util.Arrays.fill(shadows, null);
        entered = new Shadow[0];
        current = null;
    }

    /** Gives its chunk back. */
    private void leave() {
        if (chunk != 0) {
            Native.chunk(-1, chunk, 0);
        }
        chunk = 0;
        at = end = 0;
    }

    static long head(int kind, int aux, long payload) {
        return kind | (long) aux << 8 | payload << 16;
    }

    /** Whether there is room for a record; else it is lost. */
    @ForceInline
    boolean room() {
        return end - at >= MOST || refill(MOST);
    }

    private boolean refill(long bytes) {
        chunk = Native.chunk(slot, chunk, sequence);
        if (chunk <= 0) {
            // Without an observer nothing is told any more.
            hindrance |= chunk < 0 ? OFF : 0;
            setBlock();
            chunk = 0;
            at = end = 0;
            lost++;
            return false;
        }
        sequence++;
        at = Memory.CHUNKS + (chunk - 1) * Memory.CHUNK_BYTES;
        end = at + Memory.CHUNK_BYTES;
        if (lost > 0) {
            U.putLongRelease(null, at, head(LOST, 0, lost));
            at += 8;
            lost = 0;
        }
        return end - at >= bytes;
    }

    /** The time of the next record, which there is room for: later than this one. The observer waits for that record from now on. */
    @ForceInline
    long now(long after) {
        U.putLongOpaque(null, writing, time + 1);
        long now = Memory.STEADY
            ? Math.max(Math.max(time, after), U.getLongOpaque(null, Memory.COARSE)) + 1
            : U.getAndAddLong(null, Memory.COUNTER, 1) + 1;
        time = now;
        if (now - stamped >= MOST_BETWEEN) {
            stamp(now);
        }
        return now;
    }

    private void stamp(long now) {
        stamped = now;
        U.putLong(at + 8, now);
        U.putLongRelease(null, at, head(STAMP, 0, 0));
        at += 16;
    }

    /** Writes a record of two words, its head last. Other threads may learn of it, and of what was done before: what is read again from now on, they do not know of yet. */
    @ForceInline
    void put2(long head, long now, int place) {
        putAccess(head, now, place);
        epoch++;
    }

    /** The same of a plain access, or of nothing, which nobody may rely on. */
    @ForceInline
    void putAccess(long head, long now, int place) {
        U.putLong(at + 8, now << PLACE_BITS | place);
        U.putLongRelease(null, at, head);
        at += 16;
        U.putLongRelease(null, writing, 0);
        next();
    }

    /** The same of three. */
    @ForceInline
    void put3(long head, long now, int place, long third) {
        U.putLong(at + 16, third);
        U.putLong(at + 8, now << PLACE_BITS | place);
        U.putLongRelease(null, at, head);
        at += 24;
        U.putLongRelease(null, writing, 0);
        next();
        epoch++;
    }

    /** Writes what another thread has kept, or dropped. */
    void aside(long head, long second, long third) {
        if (room()) {
            U.putLong(at + 16, third);
            U.putLong(at + 8, second);
            U.putLongRelease(null, at, head);
            at += 24;
        }
    }

    /** Writes a text: for the next record, or for what its purpose says. */
    void text(int purpose, String text) {
        byte[] bytes = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, 1024), words = (length + 7) >> 3;
        long size = 8 + words * 8L;
        if (end - at < size + MOST && !refill(size + MOST)) {
            return;
        }
        for (int word = 0; word < words; word++) {
            long value = 0;
            for (int i = Math.min(7, length - 1 - word * 8); i >= 0; i--) {
                value = value << 8 | bytes[word * 8 + i] & 0xff;
            }
            U.putLong(at + 8 + word * 8L, value);
        }
        U.putLongRelease(null, at, head(TEXT, purpose, length));
        at += size;
    }

    /** Another position: what is kept from now on is behind the record. */
    @ForceInline
    private void next() {
        position++;
        tick = (tick | Kept.RANK_MASK) + 1;
        if ((tick & Kept.TICK_MASK) == 0) {
            newBlock();
        }
    }

    private void newBlock() {
        int number = Native.block(slot, mark, position);
        // Without one nothing can be kept.
        tellsAll = Memory.ALL || number == 0;
        tick = (long) number << Kept.TICK_BITS;
        setBlock();
    }

    private void setBlock() {
        // No cell is of block -1.
        block = isOff() || tellsAll || isOptimistic || initialising > 0 ? -1 : tick >>> Kept.TICK_BITS;
    }

    void optimistic(boolean is) {
        if (isOptimistic != is) {
            isOptimistic = is;
            setBlock();
        }
    }

    /** A class is being initialised, or no more: by so many more or fewer. */
    void initialise(int more) {
        initialising = Math.max(0, initialising + more);
        setBlock();
    }

    /** What is kept of an access that is made now. */
    @ForceInline
    long kept(int site) {
        tick++;
        if ((tick & Kept.RANK_MASK) == 0) {
            mark();
        }
        return tick << Kept.SITE_BITS | site & Kept.SITE_MASK;
    }

    /** The ranks of a position are used up. */
    private void mark() {
        // It was one too many.
        tick--;
        if (room()) {
            putAccess(head(MARK, 0, 0), now(0), 0);
        }
        tick++;
    }

    /** Where something is told. */
    int place(int site) {
        return places.of(site);
    }

    /** The place of something that the thread of a slot has kept, as far as that is known. */
    static int placeOf(int slot, int site) {
        Buffer other = slot < all.length ? all[slot] : null;
        return other == null ? site : other.places.last(site);
    }

    /** Whether what is in a cell was kept at another position than what this thread does now. */
    @ForceInline
    boolean isElsewhere(long kept) {
        return (kept >>> Kept.SITE_BITS + Kept.RANK_BITS) != (tick >>> Kept.RANK_BITS);
    }

    /** Remembers a read that was told. */
    void see(int at, long key) {
        if (seen == NOTHING_SEEN) {
            seen = new long[Cells.SEEN];
        }
        seen[at] = key;
    }

    /** Remembers an await. */
    void await(int at, long address, long stamp) {
        if (awaited == NOTHING_AWAITED) {
            awaited = new long[NOTHING_AWAITED.length];
        }
        awaited[at] = address;
        awaited[at + 1] = stamp;
    }

    boolean hasAwaited(int at, long address, long stamp) {
        return awaited[at] == address && awaited[at + 1] == stamp;
    }

    /** Whether what is kept in a cell is this thread's. */
    boolean isMine(long kept) {
        return Kept.mark(kept >>> Kept.BLOCK_SHIFT) == mark;
    }
}

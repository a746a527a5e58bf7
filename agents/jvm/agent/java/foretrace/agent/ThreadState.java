package foretrace.agent;

import jdk.internal.vm.annotation.ForceInline;

/**
 * What the hooks remember of a thread: the locks it holds, where it is, and what it has recorded already. It hangs at
 * {@code Thread.foretrace$state}, a field that weaving adds.
 */
final class ThreadState extends RecordWriter {
    /** The cache of awaits has 2^this pairs of an address and a timestamp. */
    static final int AWAIT_CACHE_BITS = 8;
    /** Caches of a thread that has recorded nothing yet: many virtual threads never do. */
    private static final long[] NO_READS = new long[AccessFilter.READ_CACHE];
    private static final long[] NO_AWAITS = new long[2 << AWAIT_CACHE_BITS];
    /** The state of threads that are not watched. */
    static final ThreadState NONE = new ThreadState();

    // Where the thread comes from.
    /** The thread that started it (null: not known), and the tick of that thread then. */
    ThreadState parent;
    long forkTick;
    /** How many known threads led to it. */
    int forkDepth;
    /** The thread itself, from when it is started, or from its first record, to its last one. */
    Thread thread;
    /** It ends the program: that the machine says it ends does not mean that it is done. */
    boolean isExiting;
    /** It has recorded its end. */
    volatile boolean isFinished;

    // Which records would repeat others.
    /** Keys of reads that need no further record in this sync-free region ({@link AccessFilter#isCovered}). */
    long[] readCache = NO_READS;
    /** The write that was recorded last: its address, the tick then, and the time that it left in the cell. */
    long lastWrite, lastWriteAt, lastWriteLeft;
    /** The volatile reads that were recorded last. */
    final RecentLoads loads = new RecentLoads();
    /** The last post: its address, and the tick then ({@link EntrySync}). */
    long lastPost, lastPostAt;
    /** The last lock request: the lock's address, and the tick then ({@link LockRequests}). */
    long lastRequest, lastRequestAt;
    /** Addresses that were awaited, each with the timestamp of the post that was seen there ({@link EntrySync}). */
    long[] awaitCache = NO_AWAITS;
    /** The object all of whose entries were awaited last, and its {@link Shadow#postRound} then. */
    Shadow fullyAwaited;
    int fullAwaitSince;

    // Locks.
    /** The variable lock that it holds: the word, and the object or array that has it ({@link VariableLock}). */
    Object lockedIn;
    long lockedWord;
    final HeldLocks held = new HeldLocks();
    final ReadHolds readHolds = new ReadHolds();
    /** The monitors of the synchronized methods that it is in. */
    Shadow[] methodMonitors = new Shadow[16];
    int methodDepth;
    /** How often it held the lock that it gave back to wait on a condition. */
    int waitDepth;

    // Where it is.
    final CallContexts contexts = new CallContexts();
    /** Shadows that were looked up last, by site. They keep no object alive. */
    final Shadow[] shadowCache = new Shadow[Shadows.CACHE_SIZE];
    /** Scratch space for effects that need all of a call, and for the cell of an atomic access. */
    final Call call = new Call();
    final Atomics.Cell atomicCell = new Atomics.Cell();
    /** Values for events of a specification that did not come yet. */
    final EventValues eventValues = new EventValues();
    /** The object of the last call that posts or awaits, and its entry. */
    Shadow current;
    int currentEntry = EntrySync.WHOLE;
    /** The {@link GuardedCollections guarded collection} that the program calls, and the site of that call. */
    Object guarded;
    int guardedSite;
    /**
     * The call that it is in, if that may wait without a time limit: the receiver (null: the thread waits to be
     * unparked), and whether there is such a call. {@link LastWaits} asks for them.
     */
    Object waitsFor;
    boolean mayWait;
    /** The barrier at which it arrives; and whether it has arrived, and not left ({@link EntrySync}). */
    Shadow barrier;
    boolean isInBarrier;
    /** It is recorded that it may give up waiting, because it is interrupted ({@link Grants}). */
    volatile boolean isFromOutside;
    /** How many tasks of pools it has begun that other threads could have run, too ({@link Grants}). */
    int tasks;
    /** The wait that {@link LastWaits} has seen last: the first word of its record, and the sync index then. */
    long seenWait, seenWaitAt;
    /** A static write whose class is not loaded yet, to be recorded after it: the site, and the value. */
    int pending;
    long pendingValue;

    private ThreadState() {}

    /** {@code before}: the thread that had the slot before and has ended, or null. */
    ThreadState(int slot, ThreadState before) {
        // It gets a block when it begins: many threads record nothing.
        super(slot, ThreadTable.newNumber(), before, NEW);
        ThreadTable.add(this);
    }

    /** Whether something that was made at a tick was there when this thread, or one that led to it, was started. */
    boolean existedAtFork(long tick) {
        if (tick == 0) {
            return true;
        }
        int maker = DeferredAccess.threadNumber(tick >>> DeferredAccess.TICK_BITS);
        for (ThreadState child = this; child.parent != null; child = child.parent) {
            if (child.parent.number == maker) {
                return tick <= child.forkTick;
            }
        }
        return maker == number;
    }

    /** The next record is later than all that the thread of a slot has recorded so far. */
    void advancePast(int slot) {
        ThreadState other = ThreadTable.at(slot);
        if (other != null) {
            time = Math.max(time, other.time);
        }
    }

    /** The current thread's state; null if it has none yet. */
    @ForceInline
    static ThreadState own() {
        return (ThreadState) Thread.currentThread().foretrace$state;
    }

    /** The current thread's state, which is made if there is none; null if the thread is not watched. */
    static ThreadState attached() {
        ThreadState own = own();
        return own == null ? Threads.attach() : own.begun();
    }

    /** The current thread's state, if it may record now; else null. */
    @ForceInline
    static ThreadState ready() {
        ThreadState own = own();
        return own != null && own.isReady() ? own : makeReady();
    }

    private static ThreadState makeReady() {
        try {
            ThreadState own = attached();
            return own != null && own.isReady() ? own : null;
        } catch (Throwable failed) {
            // There is no memory for what a thread needs to be watched.
            Native.failed(failed);
            return null;
        }
    }

    /** Records the thread's begin, unless it is recorded already. */
    private ThreadState begun() {
        if ((notReady & NEW) != 0) {
            notReady &= ~NEW;
            thread = Thread.currentThread();
            newBlock();
            if (room()) {
                long now = now(0);
                put3(Record.head(Record.START, 0, 0), now, 0, (long) generation << 32);
                String name = Thread.currentThread().getName();
                text(Record.THREAD_NAME, name);
            }
        }
        return this;
    }

    /** Records the thread's end, and keeps only what others may still ask of it. */
    void finish() {
        if ((notReady & NEW) == 0 && room()) {
            put2(Record.head(Record.END, isExiting ? 1 : 0, 0), now(0), 0);
        }
        returnChunk();
        isFinished = true;
        thread = null;
        leaveCall();
        VariableLock.unlock(this);
        contexts.forget();
        readCache = NO_READS;
        awaitCache = NO_AWAITS;
        fullyAwaited = null;
        java.util.Arrays.fill(shadowCache, null);
        methodMonitors = new Shadow[0];
        current = null;
        guarded = null;
    }

    /** The thread makes a call that may wait. */
    @ForceInline
    void enterCall(Object of) {
        waitsFor = of;
        mayWait = true;
    }

    /** The call is over. */
    @ForceInline
    void leaveCall() {
        mayWait = false;
        waitsFor = null;
    }

    /** Whether it is in a call that waits for an object for as long as it takes. */
    boolean isWaitingFor(Object of) {
        return mayWait && waitsFor == of;
    }

    /** The call context of a record at a site. */
    int context(int site) {
        return contexts.at(site);
    }

    /** The call context of an access that the thread of a slot deferred, as far as it is known. */
    static int contextOf(int slot, long deferred) {
        ThreadState other = ThreadTable.at(slot);
        return other == null ? (int) (deferred & DeferredAccess.SITE_MASK) : other.contexts.of(deferred);
    }

    /** Remembers a read that was recorded. */
    void cacheRead(int at, long key) {
        if (readCache == NO_READS) {
            readCache = new long[AccessFilter.READ_CACHE];
        }
        readCache[at] = key;
    }

    /** Remembers an await. */
    void cacheAwait(int at, long address, long time) {
        if (awaitCache == NO_AWAITS) {
            awaitCache = new long[NO_AWAITS.length];
        }
        awaitCache[at] = address;
        awaitCache[at + 1] = time;
    }

    boolean hasAwaited(int at, long address, long time) {
        return awaitCache[at] == address && awaitCache[at + 1] == time;
    }
}

package foretrace.agent;

import jdk.internal.vm.annotation.ForceInline;

/**
 *
 * When a thread does what it does, and whether its accesses may be deferred now.
 *
 * <pre>
 * The tick of an access says when its thread made it. Each thread counts its own ticks:
 *
 *    43           24 23               8 7                 0
 *   |     block     |    sync index    |  sequence number  |
 *
 *   sync index:      counts up with every timed record of the thread
 *   sequence number: counts up with every deferred access between two records
 *   block:           2^16 sync indices of one thread; {@link Memory#BLOCKS} says whose they are, and where they begin
 * </pre>
 *
 * A block belongs to one thread for ever, so a word in a cell that has the thread's block is its own, without a look
 * at anything else. {@link #block} is -1, which no cell has, while accesses must not be deferred: then all of them
 * take the slow path.
 *
 * This is the first of three layers of one object: {@link RecordWriter} adds the chunk of records, {@link ThreadState}
 * what the hooks remember. They are super classes so that a hook reaches everything through one reference.
 */
abstract class ThreadClock {
    /** What keeps the thread from recording: it has not begun; it is inside a hook; there is no observer any more. */
    static final int NEW = 1, BUSY = 2, OFF = 4;

    /** The slot of the process' file that the thread writes to. */
    final int slot;
    /** Which thread of its slot it is, from 1 on: slots of threads that have ended are used again. */
    final int generation;
    /** A number that no other thread ever has. Shadows name the holder of a lock by it. */
    final int number;
    /** Block, sync index and sequence number of what the thread did last. */
    long tick;
    /** The block of {@link #tick}, or -1 while accesses must not be deferred. */
    long block = -1;
    /** The sync index, not only within the block. */
    long syncIndex;
    /** Some of {@link #NEW}, {@link #BUSY}, {@link #OFF}; 0: hooks may record. */
    int notReady;
    /** Nothing is deferred, because the user wants all accesses or because blocks have run out. */
    boolean recordsAll;
    /** How many classes the thread initialises now. */
    int initialising;
    /** Between {@code tryOptimisticRead} and {@code validate}: plain reads are not recorded. */
    boolean isOptimistic;

    ThreadClock(int slot, int generation, int number, int notReady) {
        this.slot = slot;
        this.generation = generation;
        this.number = number;
        this.notReady = notReady;
    }

    @ForceInline
    final boolean isReady() {
        return notReady == 0;
    }

    /** The thread was started, and no hook has begun in it yet. */
    final boolean isNew() {
        return (notReady & NEW) != 0;
    }

    /** A hook begins that may come to other hooks, or that calls code of the JDK or the program. */
    @ForceInline
    final void enter() {
        notReady |= BUSY;
    }

    @ForceInline
    final void exit() {
        notReady &= ~BUSY;
    }

    final boolean isOff() {
        return (notReady & OFF) != 0;
    }

    /** A record was written: what is deferred from now on has the next sync index. */
    @ForceInline
    final void nextSyncIndex() {
        syncIndex++;
        tick = (tick | DeferredAccess.SEQUENCE_MASK) + 1;
        if ((tick & DeferredAccess.TICK_MASK) == 0) {
            newBlock();
        }
    }

    final void newBlock() {
        int found = Native.block(slot, number, syncIndex);
        // Without a block nothing can be deferred.
        recordsAll = Memory.ALL || found == 0;
        tick = (long) found << DeferredAccess.TICK_BITS;
        updateBlock();
    }

    /** Sets {@link #block} by everything that forbids deferring. */
    final void updateBlock() {
        boolean isForbidden = isOff() || recordsAll || isOptimistic || initialising > 0;
        block = isForbidden ? -1 : tick >>> DeferredAccess.TICK_BITS;
    }

    final void optimistic(boolean is) {
        if (isOptimistic != is) {
            isOptimistic = is;
            updateBlock();
        }
    }

    /** The thread begins to initialise a class ({@code more} is 1), or has done so (-1). */
    final void initialise(int more) {
        initialising = Math.max(0, initialising + more);
        updateBlock();
    }

    /** Whether an access was deferred at another sync index than the one of now. */
    @ForceInline
    final boolean isAtOtherSyncIndex(long deferred) {
        return (deferred >>> DeferredAccess.SITE_BITS + DeferredAccess.SEQUENCE_BITS)
            != (tick >>> DeferredAccess.SEQUENCE_BITS);
    }

    /** Whether an access was deferred by this thread. */
    final boolean isOwn(long deferred) {
        return DeferredAccess.threadNumber(deferred >>> DeferredAccess.BLOCK_SHIFT) == number;
    }
}

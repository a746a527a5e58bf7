package foretrace.agent;

import jdk.internal.vm.annotation.ForceInline;

/**
 *
 * The cell of a variable: where its words are, and how they are read.
 *
 * Every variable has three words, W, R and D. Those of a field are three more fields of its class, those of a static
 * field are in the agent's memory, those of array elements in an array beside the array ({@link Shadow#cells}).
 *
 * <pre>
 * While one thread owns the variable, W and R are its last write and read ({@link DeferredAccess}), and D is the last
 * access that these replaced at an earlier sync index:
 *
 *        63                                20 19                 0
 *   W, R |               tick                |       site        |    site 0: the access is recorded already
 *        63                                20 19 16 15 14 13     0
 *   D    |               tick                |  -  | w | r | lock |   w: it was a write, the last one dropped;
 *                                                                 r: reads were dropped, too
 *
 * Once the variable is shared, the upper 20 bits (the block of the tick) are zero. W is the version, that is, the last
 * recorded write; R is the time of the last recorded access; D counts how many accesses in a row one thread recorded:
 *
 *        63      44 43            30 29                     0
 *   W    |    0    |     writer     |  its time, 30 bits    |    writer: {@link #UNKNOWN_WRITER} after deferred writes
 *        63      44 43                                      0
 *   R    |    0    |      (time - {@link Memory#BEGIN}) / 64         |
 *        63      39 38        25 24    20 19 17 16 15 14 13  0
 *   D    |    0    |   thread   |  count  |  -  | w | - | - | lock |  w: one of them was a write
 *
 *   lock: the slot + 1 of the thread that holds the {@link VariableLock}; 0: none
 * </pre>
 *
 * The location of a variable says where its cell is. {@link Sites} and {@link FieldHandle} keep it, as one long:
 *
 * <pre>
 *   of a field:         63      44 43      24 23       4 3     0
 *                      | D offset | R offset | W offset |  kind |
 *   of a static field:  63                            4 3     0
 *                      |     address of the cell       |  kind |     with {@link #STATIC}
 * </pre>
 */
final class Cells {
    /**
     * Kinds of variables: of which nothing is known yet, that are not watched, plain, volatile, named by a
     * specification.
     */
    static final int UNKNOWN = 0, NOTHING = 1, PLAIN = 2, VOLATILE = 3, WATCHED = 4;
    /** A bit beside the kind, and the mask of both. */
    static final int STATIC = 8, KIND = 15;
    static final int OFFSET_BITS = 20, OFFSET_SHIFT = 4;
    private static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;

    /** The bits of D that name the holder of the variable lock. */
    static final long LOCK = (1L << 14) - 1;
    static final long DROPPED_READ = 1L << 14, DROPPED_WRITE = 1L << 15;
    /** The run of a shared variable, in D: accesses in a row by one thread. */
    static final int RUN_SHIFT = 20, RUN_BITS = 5, RUN_THREAD_SHIFT = RUN_SHIFT + RUN_BITS;
    static final long RUN_WRITE = 1L << 16;

    /** In W of a shared variable: bits of the time, and a writer that is no thread. */
    static final int VERSION_TIME_BITS = 30;
    static final long VERSION_TIME = (1L << VERSION_TIME_BITS) - 1;
    static final long UNKNOWN_WRITER = (1L << 14) - 1;
    /** In R of a shared variable, times are coarser than elsewhere. */
    private static final int TIME_SHIFT = 6;

    private Cells() {}

    /** The offset, or the address, of W. */
    @ForceInline
    static long w(long location) {
        return (location & STATIC) != 0 ? location >>> OFFSET_SHIFT : location >>> OFFSET_SHIFT & OFFSET_MASK;
    }

    /** The offset, or the address, of R. */
    @ForceInline
    static long r(long location) {
        return (location & STATIC) != 0
            ? (location >>> OFFSET_SHIFT) + 8
            : location >>> OFFSET_SHIFT + OFFSET_BITS & OFFSET_MASK;
    }

    /** The offset, or the address, of D. */
    @ForceInline
    static long d(long location) {
        return (location & STATIC) != 0
            ? (location >>> OFFSET_SHIFT) + 16
            : location >>> OFFSET_SHIFT + 2 * OFFSET_BITS;
    }

    /** Of a static field: where its address in records is, after its cell. */
    @ForceInline
    static long staticAddress(long location) {
        return (location >>> OFFSET_SHIFT) + 24;
    }

    /** Whether a word is a deferred access. */
    static boolean isDeferred(long word) {
        return word >>> DeferredAccess.BLOCK_SHIFT != 0;
    }

    /** The time of the last recorded access, from R of a shared variable; 0 if there was none. */
    static long lastTime(long read) {
        return isDeferred(read) || read == 0 ? 0 : Memory.BEGIN + (read << TIME_SHIFT);
    }

    /** What R of a shared variable is after an access at a time. */
    static long encodedTime(long time) {
        long encoded = Math.max(1, time - Memory.BEGIN + (1 << TIME_SHIFT) - 1 >> TIME_SHIFT);
        if (encoded >>> DeferredAccess.BLOCK_SHIFT != 0) {
            Native.tooLong();
            return 1;
        }
        return encoded;
    }

    /** What W of a shared variable is after a write. */
    static long version(ThreadState self, long time) {
        return writer(self) << VERSION_TIME_BITS | time & VERSION_TIME;
    }

    /** A thread, as versions and runs name it: never 0, never {@link #UNKNOWN_WRITER}. */
    static long writer(ThreadState self) {
        return Integer.remainderUnsigned(self.number, (int) UNKNOWN_WRITER - 1) + 1;
    }

    static boolean isOwnVersion(ThreadState self, long write) {
        return write >>> VERSION_TIME_BITS == writer(self);
    }
}

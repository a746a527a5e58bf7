package foretrace.agent;

import jdk.internal.misc.Unsafe;

/** The addresses of the memory that the agent shares with the observer, and the settings of the session. */
final class Memory {
    static final Unsafe U = Unsafe.getUnsafe();

    /** Slots and chunks of the process' file, and their sizes. */
    static final long SLOTS, SLOT_SIZE, CHUNKS, CHUNK_BYTES;
    /**
     * The coarse time, which the observer moves on; and the counter, which is the clock if the processor's cannot be
     * trusted.
     */
    static final long COARSE, COUNTER;
    static final boolean STEADY;
    /** The table of blocks ({@link DeferredAccess}). */
    static final long BLOCKS;
    /** Times in cells count from here. */
    static final long BEGIN;
    /** Every access is recorded: there is no filter. */
    static final boolean ALL;
    /** Plain accesses are not recorded at all. */
    static final boolean NO_ACCESSES;
    /** The offset of the first element of a long[]. */
    static final long LONGS;

    static {
        long[] known = Native.start();
        SLOTS = known[0];
        SLOT_SIZE = known[1];
        CHUNKS = known[2];
        CHUNK_BYTES = known[3];
        COARSE = known[4];
        COUNTER = known[5];
        STEADY = known[6] != 0;
        BLOCKS = known[7];
        BEGIN = known[8];
        ALL = known[9] != 0;
        NO_ACCESSES = known[10] != 0;
        long begin = 0;
        try {
            // The method returns an int or a long, depending on the release of Java.
            Object offset = Unsafe.class.getMethod("arrayBaseOffset", Class.class).invoke(U, long[].class);
            begin = ((Number) offset).longValue();
        } catch (ReflectiveOperationException failed) {
            Native.failed(failed);
        }
        LONGS = begin;
    }

    /** Before Java 12, the method had another name. */
    private static final boolean HAS_OBJECTS = Runtime.version().feature() < 12;

    private Memory() {}

    /** The object that a field refers to. */
    @SuppressWarnings("removal")
    static Object reference(Object of, long at) {
        return HAS_OBJECTS ? U.getObject(of, at) : U.getReference(of, at);
    }
}

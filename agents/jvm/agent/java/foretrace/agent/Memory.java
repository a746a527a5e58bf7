package foretrace.agent;

import jdk.internal.misc.Unsafe;

/** Where the memory is that the agent shares with its observer. */
final class Memory {
    static final Unsafe U = Unsafe.getUnsafe();

    /** Slots and chunks of the process' file, and how large they are. */
    static final long SLOTS, SLOT_SIZE, CHUNKS, CHUNK_BYTES;
    /** The time that has passed, as the observer told last; the counter, if that is the clock. */
    static final long COARSE, COUNTER;
    static final boolean STEADY;
    /** Of each block of positions: its slot, the mark of its thread, and the first position ({@link DeferredAccess}). */
    static final long BLOCKS;
    /** Times that are left in cells count from here. */
    static final long BEGIN;
    /** Nothing is filtered. */
    static final boolean ALL;
    /** Plain accesses are not told at all. */
    static final boolean NO_ACCESSES;
    /** Where the elements of a long[] begin. */
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
            // An int or a long, by the release.
            begin = ((Number) Unsafe.class.getMethod("arrayBaseOffset", Class.class).invoke(U, long[].class)).longValue();
        } catch (ReflectiveOperationException failed) {
            Native.failed(failed);
        }
        LONGS = begin;
    }

    /** Until Java 12 the method had another name. */
    private static final boolean HAS_OBJECTS = Runtime.version().feature() < 12;

    private Memory() {}

    /** What a field of an object refers to. */
    @SuppressWarnings("removal")
    static Object reference(Object of, long at) {
        return HAS_OBJECTS ? U.getObject(of, at) : U.getReference(of, at);
    }
}

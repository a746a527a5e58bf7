package foretrace.agent;

import static foretrace.agent.Memory.U;

/**
 * An access that is kept in a word of a {@linkplain Cells cell} instead of being recorded: when, and at which site.
 *
 * <pre>
 *    63      44 43            28 27               20 19        0
 *   |   block  |   sync index   |  sequence number  |   site   |
 *              |<----- the lower bits of the tick ----->|
 * </pre>
 *
 * The block says whose access it is: {@link Memory#BLOCKS} has its thread, and the sync index at which it begins.
 */
final class DeferredAccess {
    static final int SITE_BITS = 20, SEQUENCE_BITS = 8, SYNC_INDEX_BITS = 16;
    static final int TICK_BITS = SEQUENCE_BITS + SYNC_INDEX_BITS;
    /** Above this is the block. */
    static final int BLOCK_SHIFT = SITE_BITS + TICK_BITS;
    static final long SITE_MASK = (1L << SITE_BITS) - 1;
    static final long SEQUENCE_MASK = (1L << SEQUENCE_BITS) - 1, TICK_MASK = (1L << TICK_BITS) - 1;
    /** Bytes of an entry of {@link Memory#BLOCKS}: slot, thread number, first sync index (session.rs writes them). */
    private static final long BLOCK_SIZE = 16;

    private DeferredAccess() {}

    /** The {@link ThreadClock#number} of the thread that has a block. */
    static int threadNumber(long block) {
        return U.getInt(Memory.BLOCKS + block * BLOCK_SIZE + 4);
    }

    /** The slot of the thread that deferred the access. */
    static int slot(long deferred) {
        return U.getInt(Memory.BLOCKS + (deferred >>> BLOCK_SHIFT) * BLOCK_SIZE);
    }

    /** The sync index of that thread, not only within the block. */
    static long syncIndex(long deferred) {
        long first = U.getLong(Memory.BLOCKS + (deferred >>> BLOCK_SHIFT) * BLOCK_SIZE + 8);
        return first + (deferred >>> SITE_BITS + SEQUENCE_BITS & (1L << SYNC_INDEX_BITS) - 1);
    }

    static long sequence(long deferred) {
        return deferred >>> SITE_BITS & SEQUENCE_MASK;
    }
}

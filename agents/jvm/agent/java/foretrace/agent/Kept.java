package foretrace.agent;

import static foretrace.agent.Memory.U;

/**
 * What is kept of an access, in one word of a cell: the site; the tick, which is when its thread made it (a position in a block of positions, and the rank among what was kept there); and the block,
 * which says whose it is.
 */
final class Kept {
    static final int SITE_BITS = 20, RANK_BITS = 8, POSITION_BITS = 16;
    static final int TICK_BITS = RANK_BITS + POSITION_BITS;
    /** Above this is the block. */
    static final int BLOCK_SHIFT = SITE_BITS + TICK_BITS;
    static final long SITE_MASK = (1L << SITE_BITS) - 1;
    static final long RANK_MASK = (1L << RANK_BITS) - 1, TICK_MASK = (1L << TICK_BITS) - 1;
    /** Bytes of a block ({@link Memory#BLOCKS}; agents/jvm/agent/src/session.rs). */
    private static final long BLOCK_SIZE = 16;

    private Kept() {}

    /** The mark of the thread that has a block. */
    static int mark(long block) {
        return U.getInt(Memory.BLOCKS + block * BLOCK_SIZE + 4);
    }

    /** The slot of who has kept it. */
    static int slot(long kept) {
        return U.getInt(Memory.BLOCKS + (kept >>> BLOCK_SHIFT) * BLOCK_SIZE);
    }

    /** At which position of its thread. */
    static long position(long kept) {
        long first = U.getLong(Memory.BLOCKS + (kept >>> BLOCK_SHIFT) * BLOCK_SIZE + 8);
        return first + (kept >>> SITE_BITS + RANK_BITS & (1L << POSITION_BITS) - 1);
    }

    static long rank(long kept) {
        return kept >>> SITE_BITS & RANK_MASK;
    }
}

package foretrace.agent;

/**
 * The loads that a thread has recorded last, with nothing in between. A loop that waits repeats them: a load of the
 * same store need not be recorded again. (Whatever other threads do between the two can also come after the second,
 * because the thread has only loaded, and has seen nothing new. So no prediction is wrong without the record.)
 */
final class RecentLoads {
    /** A loop looks at no more variables. */
    private static final int MOST = 4;

    private final long[] addresses = new long[MOST], versions = new long[MOST], values = new long[MOST];
    private int count;
    /** The tick after the last of them. */
    private long tick;

    /** Whether such a load was recorded, and nothing but loads since. */
    boolean has(long now, long address, long version, long value) {
        if (now == tick) {
            for (int i = 0; i < count; i++) {
                if (addresses[i] == address && versions[i] == version && values[i] == value) {
                    return true;
                }
            }
        }
        return false;
    }

    /** A load was recorded: {@code before} and {@code after} are the ticks then. */
    void add(long before, long after, long address, long version, long value) {
        // Another value of a variable is news: what was seen before it counts no more.
        if (before != tick || count == MOST || isAmong(address)) {
            count = 0;
        }
        addresses[count] = address;
        versions[count] = version;
        values[count] = value;
        count++;
        tick = after;
    }

    private boolean isAmong(long address) {
        for (int i = 0; i < count; i++) {
            if (addresses[i] == address) {
                return true;
            }
        }
        return false;
    }
}

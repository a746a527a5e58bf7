package foretrace.agent;

/** The locks that a thread holds as a reader, and how often. */
final class ReadHolds {
    private Shadow[] locks = new Shadow[4];
    private int[] counts = new int[4];

    /** How often the thread holds a lock as a reader. */
    int count(Shadow lock) {
        for (int i = 0; i < locks.length; i++) {
            if (locks[i] == lock) {
                return counts[i];
            }
        }
        return 0;
    }

    /** Adds to the count of a lock, or takes from it. Returns the new count. */
    int add(Shadow lock, int more) {
        int at = -1;
        for (int i = 0; i < locks.length; i++) {
            if (locks[i] == lock) {
                at = i;
                break;
            }
            if (locks[i] == null) {
                at = i;
            }
        }
        if (at < 0) {
            at = locks.length;
            locks = java.util.Arrays.copyOf(locks, at * 2);
            counts = java.util.Arrays.copyOf(counts, at * 2);
        }
        locks[at] = lock;
        counts[at] += more;
        if (counts[at] <= 0) {
            locks[at] = null;
            counts[at] = 0;
            return 0;
        }
        return counts[at];
    }
}

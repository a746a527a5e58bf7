/** Which entry goes when there are too many. */
interface Trim {
    Entry victim(Order order);

    default boolean spare(Entry entry) {
        return false;
    }

    /** Goes by age, but spares what was asked for. */
    final class OldestFirst implements Trim {
        @Override
        public Entry victim(Order order) {
            Entry entry = order.oldest();
            while (entry.newer != null && spare(entry)) {
                entry = entry.newer;
            }
            return entry;
        }

        @Override
        public boolean spare(Entry entry) {
            return entry.hits > 0;
        }
    }
}

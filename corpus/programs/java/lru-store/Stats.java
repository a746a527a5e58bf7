import java.util.concurrent.atomic.LongAdder;

/** Counts that may be a little late, but are never lost. */
final class Stats {
    private final LongAdder inserts = new LongAdder();
    private final LongAdder evictions = new LongAdder();

    void insert() {
        inserts.increment();
    }

    void evict() {
        evictions.increment();
    }

    long balance() {
        return inserts.sum() - evictions.sum();
    }
}

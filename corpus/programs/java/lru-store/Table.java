/** A hash table with chains. It has no lock of its own: the store's is around every call. */
final class Table {
    private final Entry[] buckets;
    private int size;

    Table(int buckets) {
        this.buckets = new Entry[buckets];
    }

    private int slot(String key) {
        return Math.floorMod(key.hashCode(), buckets.length);
    }

    Entry find(String key) {
        for (Entry entry = buckets[slot(key)]; entry != null; entry = entry.nextInBucket) {
            if (entry.key.equals(key)) {
                return entry;
            }
        }
        return null;
    }

    void add(Entry entry) {
        int slot = slot(entry.key);
        entry.nextInBucket = buckets[slot];
        buckets[slot] = entry;
        size++;
    }

    boolean remove(Entry gone) {
        int slot = slot(gone.key);
        Entry before = null;
        for (Entry entry = buckets[slot]; entry != null; entry = entry.nextInBucket) {
            if (entry == gone) {
                if (before == null) {
                    buckets[slot] = entry.nextInBucket;
                } else {
                    before.nextInBucket = entry.nextInBucket;
                }
                size--;
                return true;
            }
            before = entry;
        }
        return false;
    }

    int size() {
        return size;
    }
}

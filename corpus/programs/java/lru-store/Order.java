/** The entries from the oldest to the newest. Like the table, it relies on the store's lock. */
final class Order {
    private Entry oldest;
    private Entry newest;
    private int length;

    void append(Entry entry) {
        entry.older = newest;
        entry.newer = null;
        if (newest == null) {
            oldest = entry;
        } else {
            newest.newer = entry;
        }
        newest = entry;
        length++;
    }

    void unlink(Entry entry) {
        if (entry.older == null) {
            oldest = entry.newer;
        } else {
            entry.older.newer = entry.newer;
        }
        if (entry.newer == null) {
            newest = entry.older;
        } else {
            entry.newer.older = entry.older;
        }
        entry.older = null;
        entry.newer = null;
        length--;
    }

    Entry oldest() {
        return oldest;
    }

    int length() {
        return length;
    }
}

/** A key, its value, and how it was used; chained in its bucket and in the order of insertion. */
final class Entry {
    final String key;
    int value;
    int hits;
    Entry nextInBucket;
    Entry older;
    Entry newer;

    Entry(String key, int value) {
        this.key = key;
        this.value = value;
    }
}

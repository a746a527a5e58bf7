package foretrace.agent;

/** Values that a thread has passed to events that did not come yet: those of the method that it is in are last. */
final class EventValues {
    static final byte OBJECT = 0, NUMBER = 1, REAL = 2;
    /** No more are kept: so deep is no stack that makes sense. */
    private static final int MOST = 1 << 16;

    Object[] objects = new Object[8];
    /** Numbers, and the bits of floating-point ones. */
    long[] numbers = new long[8];
    byte[] kinds = new byte[8];
    private int[] sites = new int[8];
    private int size;
    /** Where the values end that were taken last. */
    private int taken;

    void push(Object object, long number, double real, byte kind, int site) {
        if (size == objects.length) {
            if (size >= MOST) {
                return;
            }
            objects = java.util.Arrays.copyOf(objects, size * 2);
            numbers = java.util.Arrays.copyOf(numbers, size * 2);
            kinds = java.util.Arrays.copyOf(kinds, size * 2);
            sites = java.util.Arrays.copyOf(sites, size * 2);
        }
        objects[size] = object;
        numbers[size] = kind == REAL ? Double.doubleToRawLongBits(real) : number;
        kinds[size] = kind;
        sites[size] = site;
        size++;
    }

    /**
     * Takes the last values, which an event at this site passed. Returns where they begin; -1 if they were not passed,
     * because the thread was not watched then.
     */
    int take(int count, int site) {
        taken = size;
        for (int i = size - count; i < size; i++) {
            if (i < 0 || sites[i] != site) {
                return -1;
            }
        }
        size -= count;
        return size;
    }

    /** Forgets the values that were taken, so that no object is kept alive. */
    void clear() {
        while (taken > size) {
            objects[--taken] = null;
        }
    }
}

import java.util.concurrent.ConcurrentHashMap;

/**
 * Two threads get from, put into and merge in one concurrent hash map, and compute something between any two
 * operations.
 *
 * usage: Map both|work [OPERATIONS]
 *
 * `work`: without the map, to see what the work alone takes.
 */
final class Map {
    private static final int KEYS = 4096;
    /** What is recorded of four operations: two that get (one each), one that puts (two), one that merges (four). */
    private static final int EFFECTS_OF_FOUR = 8;
    /** Steps of computing before each operation: some 120 ns. */
    private static final int WORK = 60;

    private static long value(int key) {
        return key * 31L;
    }

    private static Measure.Done operate(ConcurrentHashMap<Integer, Long> map, int thread, int operations) {
        long x = thread, checksum = 0;
        for (int i = 0; i < operations; i++) {
            x = Measure.compute(x, WORK);
            int key = (int) (x >>> 40) & KEYS - 1;
            switch (i & 3) {
                case 0: map.put(key, value(key)); break;
                case 1: map.merge(KEYS + key, 1L, Long::sum); break;
                default: checksum += map.get(key);
            }
        }
        return new Measure.Done(checksum, 0, operations / 4 * EFFECTS_OF_FOUR);
    }

    private static Measure.Done work(int thread, int operations) {
        long x = thread, checksum = 0;
        for (int i = 0; i < operations; i++) {
            x = Measure.compute(x, WORK);
            checksum += (int) (x >>> 40) & KEYS - 1;
        }
        return new Measure.Done(checksum, 0, 0);
    }

    public static void main(String[] args) throws InterruptedException {
        int operations = args.length > 1 ? Integer.parseInt(args[1]) : 8_000_000;
        ConcurrentHashMap<Integer, Long> map = new ConcurrentHashMap<>();
        for (int key = 0; key < KEYS; key++) map.put(key, value(key));
        switch (args[0]) {
            case "both": {
                int all = Measure.print(thread -> number -> operate(map, thread, number), operations);
                long merged = 0;
                for (int key = KEYS; key < 2 * KEYS; key++) merged += map.getOrDefault(key, 0L);
                // Every fourth operation merges, in both threads.
                if (operations % 32 == 0 && merged != all / 2) throw new AssertionError(merged);
                break;
            }
            case "work": Measure.print(thread -> number -> work(thread, number), operations); break;
            default: throw new IllegalArgumentException(args[0]);
        }
    }
}

/**
 * Two threads count by a synchronized method, with nothing in between: what a monitor costs when it is all there
 * is.
 *
 * usage: Counter both|apart|syncs [CALLS]
 *
 * `both`: they have one counter, and get into each other's way. `apart`: each has its own. `syncs`: the same with a
 * method that is synchronized, but touches local variables only.
 */
final class Counter {
    /** Of a call: the value is read and written. */
    private static final long ACCESSES = 2;
    /** The monitor is entered and left. */
    private static final long SYNCS = 2;

    /** Not a constant, so that the compiler cannot unroll the loops: it would enter the monitor once for four calls. */
    private static int step = 1;

    private long value;

    private synchronized void add(long amount) {
        value += amount;
    }

    private synchronized long pass(long x) {
        return x * 31 + 7;
    }

    private Measure.Done count(int calls) {
        int step = Counter.step;
        long sum = 0;
        for (int left = calls; left > 0; left -= step) {
            add(left & 3);
            sum += left & 3;
        }
        return new Measure.Done(sum, ACCESSES * calls, SYNCS * calls);
    }

    private Measure.Done syncs(int calls) {
        int step = Counter.step;
        long x = 1;
        for (int left = calls; left > 0; left -= step) x = pass(x);
        return new Measure.Done(x, 0, SYNCS * calls);
    }

    public static void main(String[] args) throws InterruptedException {
        int usual = args[0].equals("both") ? 15_000_000 : 40_000_000;
        int calls = args.length > 1 ? Integer.parseInt(args[1]) : usual;
        Counter shared = new Counter();
        Measure.Maker maker = thread -> {
            Counter own = new Counter();
            switch (args[0]) {
                case "both": return number -> shared.count(number);
                case "apart": return number -> own.count(number);
                case "syncs": return number -> own.syncs(number);
                default: throw new IllegalArgumentException(args[0]);
            }
        };
        long all = Measure.print(maker, calls);
        // 0, 1, 2, 3 and again: one and a half a call, if the calls of every phase are a multiple of four.
        boolean isKnown = args[0].equals("both") && calls % 32 == 0;
        if (isKnown && shared.value != 3 * all) throw new AssertionError(shared.value);
    }
}

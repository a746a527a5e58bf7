/** How much was open on each side at some moment. */
final class Depth {
    private final long[] open = new long[Side.values().length];

    void fill(long[] buys, long[] sells) {
        open[Side.BUY.ordinal()] = sum(buys);
        open[Side.SELL.ordinal()] = sum(sells);
    }

    private static long sum(long[] quantities) {
        long sum = 0;
        for (long quantity : quantities) {
            sum += quantity;
        }
        return sum;
    }

    long total() {
        return open[0] + open[1];
    }
}

/** Who has come to work; every worker has a place of its own in the list. */
final class Census {
    private final int[] arrivals;

    Census(int workers) {
        arrivals = new int[workers];
    }

    void arrive(int worker) {
        arrivals[worker]++;
    }

    /** Only when all have gone. */
    int started() {
        int sum = 0;
        for (int arrival : arrivals) {
            sum += arrival;
        }
        return sum;
    }
}

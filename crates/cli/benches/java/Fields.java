import java.util.concurrent.locks.ReentrantLock;

/**
 * Each of two threads goes from cell to cell of its own, through fields and arrays, and adds to a total under a
 * lock after every 128 cells. How it goes on depends on what it reads, so that the compiler cannot make vectors of
 * it.
 *
 * usage: Fields both|accesses|syncs [BLOCKS]
 *
 * `accesses`: the same without the lock; each thread has a total of its own. `syncs`: only locking; each thread has
 * a lock of its own, and computes a little in between, with local variables.
 */
final class Fields {
    private static final int CELLS = 1024, STEPS = 128;
    /** Of a block: 3 reads and a write around the loop, 7 in each step, 4 for the total. */
    private static final long ACCESSES = 4 + 7 * STEPS + 4;
    /** The lock is taken and given back. */
    private static final long SYNCS = 2;
    /** Steps of computing before each locking of `syncs`. */
    private static final int WORK = 10;

    private static final class Cell {
        int turn;
        long sum;
    }

    private static final class Total {
        long sum;
        long blocks;
        /** A page behind it, so that the processor does not fetch what is written here with what is made next. */
        long[] room = new long[512];
    }

    private int[] weights;
    private Cell[] cells = new Cell[CELLS];
    private int at;
    private Total own = new Total();
    private ReentrantLock lock = new ReentrantLock();

    private Fields(int[] weights) {
        this.weights = weights;
        for (int i = 0; i < CELLS; i++) cells[i] = new Cell();
    }

    private long block() {
        Cell[] cells = this.cells;
        int[] weights = this.weights;
        int at = this.at;
        long sum = 0;
        for (int step = 0; step < STEPS; step++) {
            Cell cell = cells[at];
            int weight = weights[cell.turn >>> 24];
            cell.turn = cell.turn * 5 + weight;
            cell.sum += weight ^ at;
            sum += weight;
            at = at + weight & CELLS - 1;
        }
        this.at = at;
        return sum;
    }

    private Measure.Done both(Total total, int blocks) {
        long checksum = 0;
        for (int i = 0; i < blocks; i++) {
            long sum = block();
            synchronized (total) {
                total.sum += sum;
                total.blocks++;
            }
            checksum += sum;
        }
        return new Measure.Done(checksum, ACCESSES * blocks, SYNCS * blocks);
    }

    private Measure.Done accesses(int blocks) {
        Total total = own;
        long checksum = 0;
        for (int i = 0; i < blocks; i++) {
            long sum = block();
            total.sum += sum;
            total.blocks++;
            checksum += sum;
        }
        return new Measure.Done(checksum, ACCESSES * blocks, 0);
    }

    private Measure.Done syncs(int blocks) {
        ReentrantLock lock = this.lock;
        long checksum = 0, x = 1;
        for (int i = 0; i < blocks; i++) {
            x = Measure.compute(x, WORK);
            lock.lock();
            try {
                checksum += x;
            } finally {
                lock.unlock();
            }
        }
        return new Measure.Done(checksum, 0, SYNCS * blocks);
    }

    public static void main(String[] args) throws InterruptedException {
        int usual = args[0].equals("syncs") ? 40_000_000 : 1_200_000;
        int blocks = args.length > 1 ? Integer.parseInt(args[1]) : usual;
        Total total = new Total();
        int[] weights = new int[256];
        for (int i = 0; i < weights.length; i++) weights[i] = (int) Measure.compute(i, 3);
        Measure.Maker maker = thread -> {
            Fields own = new Fields(weights);
            switch (args[0]) {
                case "both": return number -> own.both(total, number);
                case "accesses": return number -> own.accesses(number);
                case "syncs": return number -> own.syncs(number);
                default: throw new IllegalArgumentException(args[0]);
            }
        };
        long all = Measure.print(maker, blocks);
        if (args[0].equals("both") && total.blocks != 2 * all) throw new AssertionError(total.blocks);
    }
}

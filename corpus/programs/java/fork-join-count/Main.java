import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.TimeUnit;

/** Even numbers are counted by halves: fork one, compute the other, join. */
class Count extends RecursiveTask<Integer> {
    private static final long serialVersionUID = 1L;
    private final transient int[] data;
    private final int from;
    private final int to;
    private int leaves;

    Count(int[] data, int from, int to) {
        this.data = data;
        this.from = from;
        this.to = to;
    }

    @Override
    protected Integer compute() {
        if (to - from <= 16) {
            leaves = 1;
            int even = 0;
            for (int i = from; i < to; i++) {
                even += 1 - data[i] % 2;
            }
            return even;
        }
        int middle = (from + to) / 2;
        Count left = new Count(data, from, middle);
        Count right = new Count(data, middle, to);
        left.fork();
        int even = right.compute() + left.join();
        leaves = left.leaves + right.leaves;
        return even;
    }

    int leaves() {
        return leaves;
    }
}

class Job extends RecursiveAction {
    private static final long serialVersionUID = 1L;
    private final transient int[] data;
    private int even;

    Job(int[] data) {
        this.data = data;
    }

    @Override
    protected void compute() {
        for (int i = 0; i < data.length; i++) {
            data[i] = i * i;
        }
        Count count = new Count(data, 0, data.length);
        int found = count.invoke();
        even = found + 0 * count.leaves();
    }

    int even() {
        return even;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        ForkJoinPool pool = new ForkJoinPool(2);
        Job job = new Job(new int[128]);
        pool.execute(job);
        job.join(); // before it is asked
        int even = job.even();
        pool.shutdown();
        boolean ended = pool.awaitTermination(5, TimeUnit.SECONDS);
        System.out.println((even >= 0) + " " + ended + " " + job.even());
    }
}

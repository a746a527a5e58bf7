import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Jobs leave notes in their own fields; who got their future may read the notes. */
class Job implements Callable<Integer> {
    private final int size;
    int divisors;

    Job(int size) {
        this.size = size;
    }

    @Override
    public Integer call() {
        int found = 0;
        for (int i = 1; i <= size; i++) {
            if (size % i == 0) {
                found++;
            }
        }
        divisors = found;
        return found;
    }
}

public class Main {
    static int collect(Job job) {
        return job.divisors;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Job first = new Job(60);
        Job second = new Job(64);
        Future<Integer> one = pool.submit(first);
        Future<Integer> two = pool.submit(second);
        one.get(); // before its notes are read
        int sum = collect(first);
        sum += two.get();
        int more = 0;
        for (Future<Integer> each : pool.invokeAll(Arrays.asList(new Job(12), new Job(13)))) {
            more += each.get();
        }
        pool.shutdown();
        boolean ended = pool.awaitTermination(5, TimeUnit.SECONDS);
        System.out.println((sum > 0) + " " + more + " " + ended + " " + collect(second));
    }
}

import java.util.ArrayList;
import java.util.List;

/** Releases jobs when what they depend on has ended. */
final class Plan {
    private final JobQueue queue;
    private final Results results;
    private final List<Job> jobs = new ArrayList<>();
    private int open;

    Plan(JobQueue queue, Results results) {
        this.queue = queue;
        this.results = results;
    }

    Job add(Job job) {
        jobs.add(job);
        open++;
        return job;
    }

    synchronized void begin() {
        for (Job job : jobs) {
            if (job.ready()) {
                queue.put(job);
            }
        }
    }

    void ended(Job job, int value) {
        results.store(job.name(), value);
        synchronized (this) {
            for (Job successor : job.successors()) {
                if (successor.predecessorEnded()) {
                    queue.put(successor);
                }
            }
            open--;
            notifyAll();
        }
    }

    void failed(Job job) {
        results.failed();
        queue.put(job);
    }

    synchronized void awaitAll() throws InterruptedException {
        while (open > 0) {
            wait();
        }
    }
}

/** Takes jobs until there are none. */
final class Worker extends Thread {
    private final JobQueue queue;
    private final Plan plan;
    private int done;

    Worker(String name, JobQueue queue, Plan plan) {
        super(name);
        this.queue = queue;
        this.plan = plan;
    }

    @Override
    public void run() {
        try {
            for (Job job = queue.take(); job != null; job = queue.take()) {
                try {
                    plan.ended(job, job.run());
                } catch (Work.WorkFailed e) {
                    plan.failed(job);
                }
                done++;
            }
        } catch (InterruptedException e) {
            interrupt();
        }
    }

    int done() {
        return done;
    }
}

import java.util.ArrayList;
import java.util.List;

/** Runs a small build: jobs with priorities and dependencies, one of which fails once and is tried again. */
public class Main {
    /** Looking at the state of a thread orders nothing; the workers are idle when the first job comes. */
    private static void untilIdle(Thread thread) throws InterruptedException {
        for (int seen = 0; seen < 10; Thread.sleep(1)) {
            Thread.State state = thread.getState();
            seen = state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING ? seen + 1 : 0;
        }
    }

    public static void main(String[] args) throws Exception {
        JobQueue queue = new JobQueue();
        Results results = new Results();
        Plan plan = new Plan(queue, results);
        Job parse = plan.add(new Job("parse", 3, new Work.Sum(10)));
        Job check = plan.add(new Job("check", 5, new Work.Flaky(new Work.Sum(20), 1)));
        Job emit = plan.add(new Job("emit", 1, new Work.Sum(30)).after(parse).after(check));
        Job lint = plan.add(new Job("lint", 2, new Work.Longest("warn", "error", "note")));
        plan.add(new Job("package", 1, new Work.Product(2, 3, 7)).after(emit).after(lint));
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Worker worker = new Worker("worker " + i, queue, plan);
            workers.add(worker);
            worker.start();
        }
        for (Worker worker : workers) {
            untilIdle(worker);
        }
        plan.begin();
        plan.awaitAll();
        queue.close();
        int done = 0;
        for (Worker worker : workers) {
            worker.join();
            done += worker.done();
        }
        System.out.println("runs " + done + " failures " + results.failures());
        System.out.println(results.value("emit") + " " + results.value("lint") + " " + results.value("package"));
    }
}

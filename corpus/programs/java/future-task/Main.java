import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

/** A survey runs in a thread of its own as a future task; its progress is looked at before it was got. */
class Survey implements Callable<String> {
    private short progress;

    @Override
    public String call() {
        progress = 100;
        return "done";
    }

    short progress() {
        return progress;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Survey survey = new Survey();
        FutureTask<String> task = new FutureTask<>(survey);
        new Thread(task).start();
        short early = survey.progress();
        String outcome = task.get();
        System.out.println(outcome + " " + survey.progress() + (early < 0 ? "?" : ""));
    }
}

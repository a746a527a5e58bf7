import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;

/** A timer sets the alarm's text from its own thread; a latch says when. */
class Alarm extends TimerTask {
    private final CountDownLatch rang;
    private final String text;
    private String shown = "";

    Alarm(String text, CountDownLatch rang) {
        this.text = text;
        this.rang = rang;
    }

    @Override
    public void run() {
        show();
        rang.countDown();
    }

    private void show() {
        shown = text;
    }

    String shown() {
        return shown;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        CountDownLatch rang = new CountDownLatch(1);
        Alarm alarm = new Alarm("tea", rang);
        Timer timer = new Timer("kitchen", true);
        timer.schedule(alarm, 5);
        rang.await(); // it is shown now
        String seen = alarm.shown();
        rang.await();
        timer.cancel();
        System.out.println(seen.isEmpty() ? "nothing" : alarm.shown());
    }
}

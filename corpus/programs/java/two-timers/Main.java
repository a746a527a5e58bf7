import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;

/** Two timers, each with a thread of its own, tick one meter. */
class Meter {
    private float reading;

    void tick() {
        reading += 0.5f;
    }

    float reading() {
        return reading;
    }
}

public class Main {
    static TimerTask task(Meter meter, CountDownLatch done) {
        return new TimerTask() {
            @Override
            public void run() {
                meter.tick();
                done.countDown();
            }
        };
    }

    public static void main(String[] args) throws Exception {
        Meter meter = new Meter();
        CountDownLatch done = new CountDownLatch(2);
        Timer fast = new Timer("fast", true);
        Timer slow = new Timer("slow", true);
        fast.schedule(task(meter, done), 2);
        slow.schedule(task(meter, done), 20);
        done.await();
        fast.cancel();
        slow.cancel();
        System.out.println(meter.reading() > 0 ? "ticked" : "still");
    }
}

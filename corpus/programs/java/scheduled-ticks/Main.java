import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * A tick of two threads' making: one run of it ends before the next begins, so its own fields need no lock; what main
 * looks at has one.
 */
class Ticker implements Runnable {
    private final CountDownLatch enough = new CountDownLatch(3);
    private final Object guard = new Object();
    private int own;
    private int shown;

    @Override
    public void run() {
        own++;
        show(own);
        enough.countDown();
    }

    private void show(int count) {
        synchronized (guard) {
            shown = count;
        }
    }

    int look() {
        synchronized (guard) {
            return shown;
        }
    }

    void awaitEnough() throws InterruptedException {
        enough.await();
    }

    int own() {
        return own;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        ScheduledExecutorService clock = Executors.newScheduledThreadPool(2);
        Ticker ticker = new Ticker();
        ScheduledFuture<?> ticking = clock.scheduleAtFixedRate(ticker, 1, 5, TimeUnit.MILLISECONDS);
        int early = ticker.look();
        ticker.awaitEnough();
        ticking.cancel(false);
        clock.shutdown();
        boolean ended = clock.awaitTermination(5, TimeUnit.SECONDS);
        System.out.println((ticker.own() >= 3) + " " + ended + (early < 0 ? "?" : ""));
    }
}

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/** Two clerks count votes. When both have counted, the first one adds up, and the second one announces the sum. */
class Votes {
    private final CyclicBarrier desk = new CyclicBarrier(2);
    private int ours;
    private int theirs;
    private int sum;
    private int announced;

    private void meet() {
        try {
            desk.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }

    private void waitForSum() {
        meet();
    }

    void addUp() {
        sum = ours + theirs;
    }

    void announce() {
        announced = sum;
    }

    void first() {
        ours = 40;
        meet();
        addUp();
        waitForSum();
        meet();
    }

    void second() {
        theirs = 2;
        meet();
        waitForSum();
        announce();
        meet();
    }

    String summary() {
        return sum == 42 && announced >= 0 ? "counted" : "lost";
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Votes votes = new Votes();
        Thread second = new Thread(votes::second);
        second.start();
        // It leaves the barrier late: the first clerk may have come again before that.
        while (second.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        Thread first = new Thread(votes::first);
        first.start();
        first.join();
        second.join();
        System.out.println(votes.summary());
    }
}

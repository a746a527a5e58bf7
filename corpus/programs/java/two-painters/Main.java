import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/** Two painters mix their paint and meet at a barrier before they begin. */
class Wall {
    private final CyclicBarrier meeting = new CyclicBarrier(2);
    private final Object paint = new Object();
    private int red = 4;
    private int blue = 4;

    void first() {
        synchronized (paint) {
            red--;
        }
        meet();
    }

    void second() {
        synchronized (paint) {
            blue--;
        }
        meet();
    }

    private void meet() {
        try {
            meeting.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }

    int cans() {
        return red + blue;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Wall wall = new Wall();
        Thread first = new Thread(wall::first);
        first.start();
        // The first painter waits at the barrier; that this is seen orders nothing.
        while (first.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        Thread second = new Thread(wall::second);
        second.start();
        first.join();
        second.join();
        System.out.println("cans " + wall.cans());
    }
}

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Two boxes are taken in either order, but the second only if it is free: who does not get it lets go and comes again.
 */
class Box {
    final ReentrantLock lock = new ReentrantLock();
    int coins;

    Box(int coins) {
        this.coins = coins;
    }
}

class Mover extends Thread {
    private final Box from;
    private final Box to;
    private int tries;

    Mover(Box from, Box to) {
        this.from = from;
        this.to = to;
    }

    @Override
    public void run() {
        try {
            while (!move()) {
                tries++;
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private boolean move() throws InterruptedException {
        from.lock.lock();
        try {
            boolean got = to.lock.tryLock(5, TimeUnit.MILLISECONDS);
            if (!got) {
                return false;
            }
            try {
                from.coins--;
                to.coins++;
                return true;
            } finally {
                to.lock.unlock();
            }
        } finally {
            from.lock.unlock();
        }
    }

    int tries() {
        return tries;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Box red = new Box(10);
        Box blue = new Box(20);
        Mover one = new Mover(red, blue);
        Mover two = new Mover(blue, red);
        one.start();
        Thread.sleep(40); // so that they end even if they insist
        two.start();
        one.join();
        two.join();
        System.out.println("red " + red.coins + " blue " + blue.coins + (one.tries() + two.tries() >= 0 ? "" : "?"));
    }
}

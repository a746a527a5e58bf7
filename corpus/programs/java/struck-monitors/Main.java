import java.util.concurrent.CountDownLatch;

/** Two threads take two monitors the other way around, and do not come back. */
public class Main {
    static final Object left = new Object();
    static final Object right = new Object();
    static final CountDownLatch both = new CountDownLatch(2);

    static void meet() {
        both.countDown();
        try {
            both.await();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    static void leftFirst() {
        synchronized (left) {
            meet();
            synchronized (right) {
                System.out.println("never");
            }
        }
    }

    static void rightFirst() {
        synchronized (right) {
            meet();
            synchronized (left) {
                System.out.println("never");
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread one = new Thread(Main::leftFirst);
        Thread other = new Thread(Main::rightFirst);
        one.setDaemon(true);
        other.setDaemon(true);
        one.start();
        other.start();
        while (one.getState() != Thread.State.BLOCKED || other.getState() != Thread.State.BLOCKED) {
            Thread.sleep(10);
        }
        System.out.println("stuck");
    }
}

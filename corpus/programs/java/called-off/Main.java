import java.util.concurrent.CountDownLatch;

/** A guard keeps a gate locked until the signal comes, or until the watch is over. */
class Gate {
    private final CountDownLatch signal = new CountDownLatch(1);
    private int passed;

    synchronized void keep() {
        try {
            signal.await();
        } catch (InterruptedException over) {
            return;
        }
        passed++;
    }

    void give() {
        synchronized (this) {
            System.out.print("signal ");
        }
        signal.countDown();
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Gate gate = new Gate();
        Thread bell = new Thread(gate::give);
        Thread guard = new Thread(gate::keep);
        bell.start();
        // The bell has rung, but this look at the thread orders nothing.
        while (bell.getThreadGroup() != null) {
            Thread.sleep(1);
        }
        guard.start();
        Thread.sleep(20);
        guard.interrupt();
        guard.join();
        bell.join();
        System.out.println("over");
    }
}

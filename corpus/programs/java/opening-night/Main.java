import java.util.concurrent.CountDownLatch;

/** A stage opens when both helpers have brought their props. */
class Stage {
    private final CountDownLatch missing = new CountDownLatch(2);
    private int props;

    void bring() {
        synchronized (this) {
            props++;
        }
        missing.countDown();
    }

    void open() throws InterruptedException {
        missing.await();
        System.out.println("props " + props);
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Stage stage = new Stage();
        Thread[] helpers = {new Thread(stage::bring), new Thread(stage::bring)};
        for (Thread helper : helpers) {
            helper.start();
        }
        for (Thread helper : helpers) {
            // The helper has ended, but this look at it orders nothing.
            while (helper.getThreadGroup() != null) {
                Thread.sleep(1);
            }
        }
        stage.open();
    }
}

import java.util.concurrent.Semaphore;

/** Two clerks sell under a semaphore that was meant as a lock, but was given two permits. */
class Till {
    private final Semaphore drawer = new Semaphore(2);
    private int sold;

    void sell() {
        drawer.acquireUninterruptibly();
        try {
            sold++;
        } finally {
            drawer.release();
        }
    }

    int sold() {
        return sold;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Till till = new Till();
        Thread one = new Thread(till::sell);
        Thread two = new Thread(till::sell);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(till.sold() > 0 ? "sold" : "nothing sold");
    }
}

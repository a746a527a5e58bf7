import java.util.concurrent.locks.ReentrantLock;

/** A printer is a monitor, its paper a reentrant lock; they are taken in both orders. */
class Printer {
    private final ReentrantLock paper = new ReentrantLock();
    private int sheets = 10;

    synchronized void print() {
        paper.lock();
        try {
            sheets--;
        } finally {
            paper.unlock();
        }
    }

    void refill() {
        paper.lock();
        try {
            fill();
        } finally {
            paper.unlock();
        }
    }

    private synchronized void fill() {
        sheets += 50;
    }

    synchronized int sheets() {
        return sheets;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Printer printer = new Printer();
        Thread user = new Thread(printer::print);
        Thread keeper = new Thread(printer::refill);
        user.start();
        Thread.sleep(50); // the keeper comes later
        keeper.start();
        user.join();
        keeper.join();
        System.out.println("sheets " + printer.sheets());
    }
}

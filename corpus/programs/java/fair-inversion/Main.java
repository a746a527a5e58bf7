import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** Fair locks are fair to who waits; they do not help two that wait for each other. */
class Kitchen {
    private final Lock oven = new ReentrantLock(true);
    private final Lock sink = new ReentrantLock(true);
    private int dishes;

    void cook() {
        oven.lock();
        try {
            sink.lock();
            try {
                dishes++;
            } finally {
                sink.unlock();
            }
        } finally {
            oven.unlock();
        }
    }

    void clean() throws InterruptedException {
        sink.lockInterruptibly();
        try {
            oven.lockInterruptibly();
            try {
                dishes--;
            } finally {
                oven.unlock();
            }
        } finally {
            sink.unlock();
        }
    }

    int dishes() {
        return dishes;
    }
}

public class Main {
    static final Kitchen kitchen = new Kitchen();

    static void clean() {
        try {
            kitchen.clean();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Thread cook = new Thread(kitchen::cook);
        Thread cleaner = new Thread(Main::clean);
        cook.start();
        Thread.sleep(50); // dinner first
        cleaner.start();
        cook.join();
        cleaner.join();
        System.out.println("dishes " + kitchen.dishes());
    }
}

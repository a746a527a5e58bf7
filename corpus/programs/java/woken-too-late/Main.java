import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that hold a monitor of their own take one lock in turn: some are woken when it is free, come too late, and
 * wait again.
 */
public class Main {
    static final int ROUNDS = 300;
    static final ReentrantLock lock = new ReentrantLock();
    static int count;
    static int finished;

    static void work() {
        Object own = new Object();
        for (int i = 0; i < ROUNDS; i++) {
            synchronized (own) {
                lock.lock();
                try {
                    count++;
                    if (i % 16 == 0) Thread.yield();
                } finally {
                    lock.unlock();
                }
            }
        }
        finish();
    }

    static void finish() {
        lock.lock();
        finished++;
        lock.unlock();
    }

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = new Thread[6];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(Main::work);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done");
    }
}

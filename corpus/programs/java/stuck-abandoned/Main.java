import java.util.concurrent.locks.ReentrantLock;

/** Two threads use a lock one after the other. */
public class Main {
    static final ReentrantLock lock = new ReentrantLock();
    static final Thread main = Thread.currentThread();
    static volatile boolean isTaken;
    static int first, second;

    static void work() {
        lock.lock();
        isTaken = true;
        first = 1;
        lock.unlock();
    }

    /** Ends with the lock. */
    static void workLast() {
        endWhenStuck(main);
        lock.lock();
        isTaken = true;
        first = 1;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread worker = new Thread(() -> work());
        worker.start();
        while (!isTaken) {
            Thread.sleep(1);
        }
        lock.lock();
        second = first + 1;
        lock.unlock();
        System.out.println(second);
    }

    /** Ends the program by a signal when some threads wait for good, as a user does who has lost patience. */
    static void endWhenStuck(Thread... waiting) {
        Thread guard = new Thread(() -> {
            try {
                for (int calm = 0; calm < 20; Thread.sleep(20)) {
                    boolean isCalm = true;
                    for (Thread thread : waiting) {
                        isCalm &= thread.getState() == Thread.State.WAITING;
                    }
                    calm = isCalm ? calm + 1 : 0;
                }
                new ProcessBuilder("kill", Long.toString(ProcessHandle.current().pid())).start();
            } catch (Exception failed) {
                failed.printStackTrace();
            }
        });
        guard.setDaemon(true);
        guard.start();
    }
}

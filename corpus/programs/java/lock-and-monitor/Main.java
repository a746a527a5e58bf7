import java.util.concurrent.locks.ReentrantLock;

/** One thread takes a lock, another one the monitor of that lock: these are two, and exclude nothing. */
public class Main {
    static final ReentrantLock lock = new ReentrantLock();
    static int count;

    static void locks() {
        lock.lock();
        try {
            count++;
        } finally {
            lock.unlock();
        }
    }

    static void synchronizes() {
        synchronized (lock) {
            count++;
        }
    }

    public static void main(String[] args) throws Exception {
        Thread one = new Thread(Main::locks);
        Thread other = new Thread(Main::synchronizes);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println(count > 0 ? "counted" : "not counted");
    }
}

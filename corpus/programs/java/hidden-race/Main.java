/**
 * Two threads write z without a lock; in half of the runs the lock of something else passes from one to the other in
 * between and hides it.
 */
public class Main {
    static final Object lock = new Object();
    static int x;
    static long z;

    static void writeFirst() {
        z = 1;
        synchronized (lock) {
            x = 1;
        }
    }

    static void writeLast() {
        synchronized (lock) {
            x = 2;
        }
        z = 2;
    }

    public static void main(String[] args) throws Exception {
        Thread one = new Thread(Main::writeFirst);
        Thread two = new Thread(Main::writeLast);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(x > 0 && z > 0 ? "written" : "not written");
    }
}

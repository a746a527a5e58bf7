import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Two workers take what is to be done from one iterator over a list that does not change any more. */
public class Main {
    static final List<Integer> jobs = new ArrayList<>();
    static final Object turn = new Object();
    static Iterator<Integer> cursor;

    static final class Worker extends Thread {
        int done;

        @Override
        public void run() {
            done += take() + take();
        }
    }

    static int take() {
        synchronized (turn) {
            return cursor.next();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < 8; i++) {
            jobs.add(1);
        }
        cursor = jobs.iterator();
        Worker one = new Worker();
        Worker two = new Worker();
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(one.done + two.done);
    }
}

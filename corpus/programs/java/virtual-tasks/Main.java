import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Thirty tasks, each in a virtual thread of its own, book seats under a lock; each also sleeps, so that carriers
 * change.
 */
class Hall {
    private final ReentrantLock lock = new ReentrantLock();
    private final boolean[] taken = new boolean[40];
    private int booked;
    private int asked;

    void ask() {
        lock.lock(); asked++; lock.unlock();
    }

    int book(int seat) throws InterruptedException {
        ask();
        Thread.sleep(1);
        lock.lock();
        try {
            taken[seat] = true;
            booked++;
            return seat;
        } finally {
            lock.unlock();
        }
    }

    String summary() {
        return "booked " + booked + (asked > 0 && taken[0] ? "" : "?");
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Hall hall = new Hall();
        int sum = 0;
        try (ExecutorService tasks = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> seats = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                int seat = i;
                seats.add(tasks.submit(() -> hall.book(seat)));
            }
            for (Future<Integer> seat : seats) {
                sum += seat.get();
            }
        }
        System.out.println(hall.summary() + " sum " + sum);
    }
}

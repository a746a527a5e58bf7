import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

/** Boats are hired and written down in a book. */
class Hire {
    private final Semaphore boats = new Semaphore(1);
    private final ReentrantLock book = new ReentrantLock();
    private int trips;

    void trip() throws InterruptedException {
        boats.acquire();
        book.lock();
        trips++;
        book.unlock();
        boats.release();
    }

    void tour() throws InterruptedException {
        boats.acquire();
        book.lock();
        trips += 2;
        book.unlock();
        boats.release();
    }

    int trips() {
        return trips;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Hire hire = new Hire();
        Thread guest = new Thread(() -> {
            try {
                hire.trip();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        guest.start();
        // The guest is gone, but this look at the thread orders nothing.
        while (guest.getThreadGroup() != null) {
            Thread.sleep(1);
        }
        hire.tour();
        guest.join();
        System.out.println("trips " + hire.trips());
    }
}

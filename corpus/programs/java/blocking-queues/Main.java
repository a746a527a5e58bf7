import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;

/** Parcels go through a row of desks; between each two is another kind of queue. */
class Parcel {
    final int number;
    private int marks;

    Parcel(int number) {
        this.number = number;
    }

    void weigh() {
        marks += 1;
    }

    void label() {
        marks += 10;
    }

    int marks() {
        return marks;
    }
}

class Ripening implements Delayed {
    final Parcel parcel;
    private final long due;

    Ripening(Parcel parcel, long milliseconds) {
        this.parcel = parcel;
        this.due = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds);
    }

    @Override
    public long getDelay(TimeUnit unit) {
        return unit.convert(due - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
        return Long.compare(due, ((Ripening) other).due);
    }
}

public class Main {
    static final int PARCELS = 4;
    static final BlockingQueue<Parcel> entry = new ArrayBlockingQueue<>(2);
    static final BlockingQueue<Parcel> weighed = new LinkedBlockingQueue<>();
    static final SynchronousQueue<Parcel> labelled = new SynchronousQueue<>();
    static final DelayQueue<Ripening> shelf = new DelayQueue<>();

    interface Desk {
        void work() throws InterruptedException;
    }

    static Thread desk(Desk desk) {
        Thread thread = new Thread(() -> {
            try {
                for (int i = 0; i < PARCELS; i++) {
                    desk.work();
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        thread.start();
        return thread;
    }

    static void scales() throws InterruptedException {
        Parcel parcel = entry.take();
        parcel.weigh(); weighed.put(parcel);
    }

    static void printer() throws InterruptedException {
        Parcel parcel = weighed.take();
        parcel.label();
        labelled.put(parcel);
    }

    static void store() throws InterruptedException {
        Parcel parcel = labelled.take();
        shelf.put(new Ripening(parcel, 2 + parcel.number % 2));
    }

    public static void main(String[] args) throws Exception {
        Thread[] desks = {desk(Main::scales), desk(Main::printer), desk(Main::store)};
        for (int i = 0; i < PARCELS; i++) {
            entry.put(new Parcel(i));
        }
        Parcel[] ripe = new Parcel[PARCELS];
        for (int i = 0; i < PARCELS; i++) {
            ripe[i] = shelf.take().parcel;
        }
        for (Thread thread : desks) {
            thread.join();
        }
        int marks = 0;
        for (Parcel parcel : ripe) {
            marks += parcel.marks();
        }
        System.out.println(marks > 0 ? "stored " + PARCELS : "unmarked");
    }
}

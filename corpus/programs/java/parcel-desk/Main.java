/**
 * A courier looks for a parcel in one synchronized call and waits in another; what is brought between the two is not
 * noticed.
 */
class Desk {
    private int parcels;
    private int delivered;

    synchronized boolean parcelThere() {
        return parcels > 0;
    }

    /** Ends at the latest after three seconds, so that a notification really lost costs time and no more. */
    synchronized void awaitParcel() throws InterruptedException {
        wait(3000, 500);
        parcels--;
        delivered++;
    }

    synchronized void bring() {
        parcels++;
        notify();
    }

    synchronized int delivered() {
        return delivered;
    }
}

public class Main {
    static final Desk desk = new Desk();

    static void courier() {
        try {
            if (!desk.parcelThere()) {
                desk.awaitParcel();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The customer comes when the courier already sleeps; looking at the state of a thread orders nothing. */
    static void untilAsleep(Thread thread) throws InterruptedException {
        for (int seen = 0; seen < 20; Thread.sleep(1)) {
            seen = thread.getState() == Thread.State.TIMED_WAITING ? seen + 1 : 0;
        }
    }

    public static void main(String[] args) throws Exception {
        Thread courier = new Thread(Main::courier);
        courier.start();
        untilAsleep(courier);
        desk.bring();
        courier.join();
        System.out.println("delivered " + desk.delivered());
    }
}

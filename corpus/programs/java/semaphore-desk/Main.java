import java.util.concurrent.Semaphore;

/** A semaphore of one permit is a lock that another thread may open; one of two permits lets two guests sit. */
class Hotel {
    private final Semaphore bell = new Semaphore(1);
    private final Semaphore seats = new Semaphore(2, true);
    private final Semaphore opened = new Semaphore(0);
    private int rings;
    private int guests;
    private String motto;

    void open() {
        motto = "welcome";
        opened.release(3);
    }

    void visit() throws InterruptedException {
        bell.acquire(); rings++; bell.release();
        opened.acquire();
        seats.acquire();
        try {
            if (motto.length() > 3) {
                bell.acquireUninterruptibly();
                guests++;
                bell.release();
            }
        } finally {
            seats.release();
        }
    }

    String summary() {
        return "guests " + guests + (rings > 0 ? " rang" : "");
    }
}

public class Main {
    static class Guest extends Thread {
        final Hotel hotel;

        Guest(Hotel hotel) {
            this.hotel = hotel;
        }

        @Override
        public void run() {
            try {
                hotel.visit();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Hotel hotel = new Hotel();
        Guest[] guests = {new Guest(hotel), new Guest(hotel), new Guest(hotel)};
        for (Guest guest : guests) {
            guest.start();
        }
        hotel.open();
        for (Guest guest : guests) {
            guest.join();
        }
        System.out.println(hotel.summary());
    }
}

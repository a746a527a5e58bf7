import java.util.ArrayList;
import java.util.List;

/**
 * The fault of the Remote Agent on Deep Space 1: the planner looks at the counter and then waits, and a signal in
 * between is lost.
 */
class Event {
    int count = 0;

    /** Ends at the latest after three seconds, so that a signal really lost costs time and no more. */
    public synchronized void waitForEvent() {
        try {
            wait(3000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public synchronized void signalEvent() {
        count = (count + 1) % 3;
        notifyAll();
    }
}

class Planner extends Thread {
    final Event event1;
    final Event event2;
    int count = 0;

    Planner(Event event1, Event event2) {
        this.event1 = event1;
        this.event2 = event2;
    }

    @Override
    public void run() {
        if (count == event1.count) {
            event1.waitForEvent();
        }
        count = event1.count;
        event2.signalEvent();
    }
}

class Executive extends Thread {
    final Event event1;
    final Thread planner;

    Executive(Event event1, Thread planner) {
        this.event1 = event1;
        this.planner = planner;
    }

    @Override
    public void run() {
        try {
            untilAsleep(planner);
        } catch (InterruptedException e) {
            return;
        }
        event1.signalEvent();
    }

    /** The recorded run is one in which nothing is lost; looking at the state of a thread orders nothing. */
    static void untilAsleep(Thread thread) throws InterruptedException {
        for (int seen = 0; seen < 20; Thread.sleep(1)) {
            seen = thread.getState() == Thread.State.TIMED_WAITING ? seen + 1 : 0;
        }
    }
}

class Cell {
    private int value;

    synchronized void set(int to) {
        value = to;
    }

    synchronized int get() {
        return value;
    }
}

class Busy extends Thread {
    final Cell cell;

    Busy(Cell cell) {
        this.cell = cell;
    }

    @Override
    public void run() {
        for (int i = 1; i <= 20; i++) {
            cell.set(i);
        }
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Event event1 = new Event();
        Event event2 = new Event();
        Planner planner = new Planner(event1, event2);
        Executive executive = new Executive(event1, planner);
        List<Thread> all = new ArrayList<>();
        List<Cell> cells = new ArrayList<>();
        for (int pair = 0; pair < 20; pair++) {
            Cell cell = new Cell();
            cells.add(cell);
            all.add(new Busy(cell));
            all.add(new Busy(cell));
        }
        all.add(planner);
        all.add(executive);
        for (Thread thread : all) {
            thread.start();
        }
        for (Thread thread : all) {
            thread.join();
        }
        int sum = 0;
        for (Cell cell : cells) {
            sum += cell.get();
        }
        System.out.println("plan " + planner.count + ", " + event2.count + "; busy " + sum);
    }
}

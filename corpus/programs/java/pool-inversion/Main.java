import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Two tasks of a pool link rooms; each enters its own room first. */
class Room {
    private final String name;
    private String neighbour = "";

    Room(String name) {
        this.name = name;
    }

    synchronized void link(Room other) {
        neighbour = other.name();
    }

    synchronized String name() {
        return name;
    }

    synchronized String neighbour() {
        return neighbour;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Room red = new Room("red");
        Room blue = new Room("blue");
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<?> one = pool.submit(() -> red.link(blue));
        Thread.sleep(50); // nobody waits for the first, but it will have ended
        Future<?> two = pool.submit(() -> blue.link(red));
        one.get();
        two.get();
        pool.shutdown();
        System.out.println(red.neighbour() + " " + blue.neighbour());
    }
}

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Plain objects go from thread to thread inside collections of the JDK, which are under a lock: who finds an object
 * there comes after who put it in.
 */
class Coat {
    private int size;
    private String owner;

    Coat(int size, String owner) {
        this.size = size;
        this.owner = owner;
    }

    int describe() {
        return 10 * size + owner.length();
    }
}

class Cloakroom {
    private final Map<Integer, Coat> hangers = new HashMap<>();
    private final Deque<Coat> lost = new ArrayDeque<>();
    private final int[] given = new int[2];

    synchronized void hang(int number, Coat coat) {
        hangers.put(number, coat);
    }

    synchronized Coat fetch(int number) {
        return hangers.remove(number);
    }

    synchronized void lose(Coat coat) {
        lost.addLast(coat);
    }

    synchronized Coat find() {
        return lost.pollFirst();
    }

    /** Every attendant has a place of its own. */
    void giveBack(int attendant) {
        given[attendant]++;
    }

    int given() {
        return given[0] + given[1];
    }
}

public class Main {
    static final Cloakroom room = new Cloakroom();

    static final class Fetcher extends Thread {
        int seen;

        @Override
        public void run() {
            room.giveBack(1);
            try {
                Coat coat = room.fetch(7);
                while (coat == null) {
                    Thread.sleep(1);
                    coat = room.fetch(7);
                }
                seen = coat.describe();
                coat = room.find();
                while (coat == null) {
                    Thread.sleep(1);
                    coat = room.find();
                }
                seen += coat.describe();
            } catch (InterruptedException e) {
                seen = -1;
            }
        }
    }

    static void bring() {
        room.giveBack(0);
        room.hang(7, new Coat(4, "ada"));
        room.lose(new Coat(5, "bob"));
    }

    public static void main(String[] args) throws Exception {
        Fetcher fetcher = new Fetcher();
        Thread bringer = new Thread(Main::bring);
        fetcher.start();
        bringer.start();
        fetcher.join();
        bringer.join();
        System.out.println("seen " + fetcher.seen + (room.given() > 0 ? "" : ", nobody there"));
    }
}

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Plain objects go from thread to thread inside concurrent collections: what was written before they were put in may
 * be read when they are found.
 */
class Ticket {
    int price;
    int seat;
}

class Office {
    private final Map<String, Ticket> byName = new ConcurrentHashMap<>();
    private final Map<Integer, Ticket> bySeat = new ConcurrentSkipListMap<>();
    private final Queue<Ticket> returned = new ConcurrentLinkedQueue<>();
    private final List<Ticket> listed = new CopyOnWriteArrayList<>();

    void sell() {
        Ticket ticket = byName.computeIfAbsent("bob", name -> new Ticket());
        setSeat(ticket, 7); byName.put("ada", ticket);
        Ticket second = new Ticket();
        second.seat = 9;
        bySeat.putIfAbsent(9, second);
        Ticket third = new Ticket();
        third.price = 30;
        returned.offer(third);
        Ticket fourth = new Ticket();
        fourth.price = 40;
        listed.add(fourth);
    }

    int check() throws InterruptedException {
        Ticket ticket = byName.get("ada");
        while (ticket == null) {
            Thread.sleep(1);
            ticket = byName.get("ada");
        }
        int sum = seat(ticket);
        while (!bySeat.containsKey(9)) {
            Thread.sleep(1);
        }
        sum += bySeat.get(9).seat;
        Ticket back = returned.poll();
        while (back == null) {
            Thread.sleep(1);
            back = returned.poll();
        }
        sum += back.price;
        while (listed.isEmpty()) {
            Thread.sleep(1);
        }
        for (Ticket each : listed) {
            sum += each.price;
        }
        return sum;
    }

    private static void setSeat(Ticket ticket, int seat) {
        ticket.seat = seat;
    }

    private static int seat(Ticket ticket) {
        return ticket.seat;
    }
}

public class Main {
    static final Office office = new Office();

    static final class Checker extends Thread {
        int sum;

        @Override
        public void run() {
            try {
                sum = office.check();
            } catch (InterruptedException e) {
                sum = -1;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Checker checker = new Checker();
        checker.start();
        office.sell();
        checker.join();
        System.out.println(checker.sum >= 79 ? "checked" : "missing");
    }
}

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Guests arrive while a list of them is printed. The collections synchronise each call; an iteration is many calls, so
 * it needs their lock.
 */
public class Main {
    static final List<String> guests = Collections.synchronizedList(new ArrayList<>());
    static final Map<String, Integer> tables = Collections.synchronizedMap(new HashMap<>());
    static int printed;
    static int seats;

    static Object lockOf(Object all) {
        return all;
    }

    static void arrive() {
        guests.add("eve");
        tables.put("eve", 3);
    }

    static void print() {
        synchronized (lockOf(guests)) {
            for (String guest : guests) {
                printed += guest.length();
            }
        }
    }

    static void count() {
        synchronized (lockOf(tables)) {
            for (int table : tables.values()) {
                seats += table;
            }
        }
    }

    /** Waits for the end of a thread by looking for it among all threads, which orders nothing. */
    static void untilEnded(Thread thread) throws InterruptedException {
        for (boolean isThere = true; isThere; Thread.sleep(1)) {
            Thread[] all = new Thread[100];
            Thread.enumerate(all);
            isThere = Arrays.asList(all).contains(thread);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        guests.addAll(List.of("ada", "bob"));
        tables.put("ada", 1);
        tables.put("bob", 2);
        Thread door = new Thread(Main::arrive);
        Thread printer = new Thread(Main::print);
        Thread waiter = new Thread(Main::count);
        // An iteration that finds a change throws: it comes first.
        printer.start();
        waiter.start();
        untilEnded(printer);
        untilEnded(waiter);
        door.start();
        printer.join();
        waiter.join();
        door.join();
        System.out.println(guests.size() + tables.size() + (printed + seats > 0 ? " seen" : ""));
    }
}

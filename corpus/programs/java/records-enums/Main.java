import java.util.ArrayList;
import java.util.List;

/** Readings are records, their level is an enum that counts, and a generic guarded list takes them. */
public class Main {
    record Reading(int sensor, double value) {
        Level level() {
            return value > 10 ? Level.HIGH : value > 5 ? Level.MIDDLE : Level.LOW;
        }
    }

    enum Level {
        LOW, MIDDLE, HIGH;

        private int hits;

        synchronized void hit() {
            hits++;
        }

        synchronized int hits() {
            return hits;
        }
    }

    static class Guarded<T extends Comparable<T>> {
        private final List<T> items = new ArrayList<>();
        private T greatest;

        synchronized void add(T item) {
            items.add(item);
            if (greatest == null || item.compareTo(greatest) > 0) {
                greatest = item;
            }
        }

        synchronized T greatest() {
            return greatest;
        }

        synchronized int size() {
            return items.size();
        }
    }

    static final Guarded<Double> seen = new Guarded<>();

    static void sense(int sensor) {
        Level.HIGH.hit();
        for (int i = 0; i < 4; i++) {
            Reading reading = new Reading(sensor, i * sensor * 2.0);
            switch (reading.level()) {
                case LOW:
                    break;
                case MIDDLE:
                    Level.MIDDLE.hit();
                    break;
                default:
                    seen.add(reading.value());
            }
        }
    }

    static void inside() {
        sense(2);
    }

    static void outside() {
        sense(3);
    }

    public static void main(String[] args) throws Exception {
        Thread one = new Thread(Main::inside);
        Thread two = new Thread(Main::outside);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(seen.size() + " " + seen.greatest() + " " + Level.MIDDLE.hits()
            + (Level.HIGH.hits() > 0 ? " high" : ""));
    }
}

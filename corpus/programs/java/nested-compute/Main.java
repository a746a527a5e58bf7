import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Boxes are filled in functions that a map calls, and that use the same map and another; who gets one from the map
 * finds it full.
 */
public class Main {
    static final class Box {
        int filled;
    }

    static final ConcurrentHashMap<String, Box> boxes = new ConcurrentHashMap<>();
    static final ConcurrentHashMap<String, Integer> orders = new ConcurrentHashMap<>();

    static final Box lost = new Box();
    /** It orders nothing. */
    static final AtomicBoolean isLost = new AtomicBoolean();

    static void fill() {
        Box[] later = new Box[1];
        boxes.compute("large", (name, none) -> {
            Box box = new Box();
            orders.merge("all", 1, Integer::sum);
            boxes.containsKey("small");
            box.filled = 2;
            return box;
        });
        boxes.computeIfAbsent("small", name -> {
            Box box = new Box();
            boxes.get("large");
            box.filled = orders.get("all");
            return box;
        });
        if (later[0] != null) {
            later[0].filled = 2;
        }
        boxes.computeIfAbsent("broken", name -> {
            Box box = new Box();
            box.filled = 1;
            try {
                boxes.put("nobody's", null);
            } catch (NullPointerException expected) {
                orders.remove("all");
            }
            try {
                boxes.put("nobody's either", null);
            } catch (NullPointerException expected) {
                return box;
            }
            throw new AssertionError();
        });
        try {
            boxes.compute("lost", (name, none) -> {
                lost.filled = 3;
                throw new IllegalStateException();
            });
        } catch (IllegalStateException expected) {
            boxes.remove("nobody's");
            isLost.setOpaque(true);
        }
    }

    static void empty(String name) {
        Box box = boxes.get(name);
        while (box == null) {
            Thread.yield();
            box = boxes.get(name);
        }
        box.filled--;
    }

    /** Functions for one entry come one after another, also those that throw something. */
    static void seek() {
        while (!isLost.getOpaque()) {
            Thread.yield();
        }
        while (boxes.compute("lost", (name, none) -> lost.filled == 0 ? null : lost) == null) {
            Thread.yield();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread filler = new Thread(Main::fill);
        filler.start();
        empty("large");
        empty("small");
        empty("broken");
        seek();
        filler.join();
        System.out.println(boxes.get("large").filled + boxes.get("small").filled);
    }
}

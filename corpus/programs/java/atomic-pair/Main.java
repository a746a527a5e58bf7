import foretrace.Monitor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** A lamp's colour and brightness are atomic each, and set together by two switches. */
class Lamp {
    private final AtomicReference<String> colour = new AtomicReference<>("white");
    private final AtomicInteger brightness = new AtomicInteger();

    void set(String to, int light) {
        Monitor.begin("set");
        colour.set(to);
        brightness.set(light);
        Monitor.end("set");
    }

    boolean lit() {
        return !colour.get().equals("white") && brightness.get() > 0;
    }
}

public class Main {
    static final Lamp lamp = new Lamp();

    static void warm() {
        lamp.set("amber", 20);
    }

    static void cold() {
        lamp.set("blue", 90);
    }

    public static void main(String[] args) throws Exception {
        Thread one = new Thread(Main::warm);
        Thread two = new Thread(Main::cold);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(lamp.lit() ? "lit" : "dark");
    }
}

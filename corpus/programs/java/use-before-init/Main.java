/**
 * The engine is switched on by one thread and driven by another; every call is synchronized, and in this run they come
 * in the right order.
 */
class Engine {
    private boolean on;
    private int distance;

    synchronized void ignite() {
        on = true;
    }

    synchronized void drive() {
        distance = 7;
    }

    synchronized String state() {
        return (on ? "on" : "off") + ", " + distance;
    }
}

public class Main {
    static final Engine engine = new Engine();

    static void driver() {
        try {
            Thread.sleep(60); // time enough for the key
        } catch (InterruptedException e) {
            return;
        }
        engine.drive();
    }

    public static void main(String[] args) throws Exception {
        Thread key = new Thread(engine::ignite);
        Thread driver = new Thread(Main::driver);
        key.start();
        driver.start();
        key.join();
        driver.join();
        System.out.println(engine.state());
    }
}

/** A static synchronized method calls a synchronized one of an object, and the other way round. */
class Plugin {
    private static int registered;
    private boolean active;

    static synchronized void register(Plugin plugin) {
        registered++;
        plugin.activate();
    }

    private synchronized void activate() {
        active = true;
    }

    synchronized void retire() {
        active = false;
        forget();
    }

    private static synchronized void forget() {
        registered--;
    }

    static synchronized int registered() {
        return registered;
    }

    synchronized boolean active() {
        return active;
    }
}

public class Main {
    static final Plugin plugin = new Plugin();

    static void register() {
        Plugin.register(plugin);
    }

    public static void main(String[] args) throws Exception {
        Thread one = new Thread(Main::register);
        Thread two = new Thread(plugin::retire);
        one.start();
        Thread.sleep(40); // registered before it is retired
        two.start();
        one.join();
        two.join();
        System.out.println(Plugin.registered() + " " + plugin.active());
    }
}

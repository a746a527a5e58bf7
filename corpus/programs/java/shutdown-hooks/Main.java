/**
 * More threads than there are slots for, one after another, half of them with a result of their own; nobody waits for
 * them, but a shutdown hook adds the results up.
 */
public class Main {
    static final int MANY = 1600;
    static final Box[] boxes = new Box[MANY];
    static int clock;

    static final class Box {
        int result;

        void fill() {
            result = 1;
        }
    }

    static void sum() {
        int sum = 0;
        for (Box box : boxes) {
            sum += box.result;
        }
        System.out.println(sum);
    }

    /** Hooks run at the same time. */
    static void tick() {
        synchronized (boxes) { clock++; }
    }

    static void tock() {
        synchronized (boxes) { clock++; }
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < MANY; i++) {
            boxes[i] = new Box();
        }
        Runtime.getRuntime().addShutdownHook(new Thread(Main::tick));
        Runtime.getRuntime().addShutdownHook(new Thread(Main::tock));
        Runtime.getRuntime().addShutdownHook(new Thread(Main::sum));
        for (int i = 0; i < MANY; i++) {
            // Of those that do nothing, nothing is recorded.
            new Thread(i % 2 == 0 ? boxes[i]::fill : () -> { }).start();
            if (i % 32 == 0) {
                Thread.sleep(1);
            }
        }
    }
}

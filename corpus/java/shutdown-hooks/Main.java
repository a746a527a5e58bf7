/** More threads than there are slots for, one after another, each with a result of its own; nobody waits for them, but a shutdown hook adds the results up. */
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
            Thread thread = new Thread(boxes[i]::fill);
            thread.start();
            if (i % 32 == 0) {
                Thread.sleep(1);
            }
        }
    }
}

/** A daemon notes that it lives and sleeps; nobody joins it, and the look at its note is in no order with it. */
class Heart extends Thread {
    private long beats;

    Heart() {
        super("heart");
        setDaemon(true);
    }

    @Override
    public void run() {
        beat();
        try {
            Thread.sleep(60_000);
        } catch (InterruptedException e) {
            return;
        }
    }

    private void beat() {
        beats = 1;
    }

    long beats() {
        return beats;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Heart heart = new Heart();
        heart.start();
        // It has beaten once it sleeps; that its state was looked at does not order it before the next line.
        for (int seen = 0; seen < 10; Thread.sleep(1)) {
            seen = heart.getState() == Thread.State.TIMED_WAITING ? seen + 1 : 0;
        }
        System.out.println(heart.beats() > 0 ? "alive" : "unknown");
    }
}

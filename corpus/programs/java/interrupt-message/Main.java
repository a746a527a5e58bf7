/**
 * A message is left before a sleeper is interrupted: being interrupted comes after the call of interrupt, so the
 * message may be read.
 */
public class Main {
    static int message;
    static int heard;

    static void sleeper() {
        try {
            Thread.sleep(10_000);
        } catch (InterruptedException e) {
            hear();
        }
    }

    static void hear() {
        heard = message;
    }

    static void wake(Thread thread) {
        message = 42; thread.interrupt();
    }

    public static void main(String[] args) throws Exception {
        Thread sleeper = new Thread(Main::sleeper);
        sleeper.start();
        wake(sleeper);
        sleeper.join();
        System.out.println(heard == 42 || heard == 0 ? "woken" : "dreaming");
    }
}

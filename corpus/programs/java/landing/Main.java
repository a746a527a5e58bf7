/**
 * The landing controller of Sen, Rosu and Agha (JMPaX): the approval is asked for while the radio is up, and nobody
 * looks again.
 */
public class Main {
    static int landing = 0;
    static int approved = 0;
    static int radio = 1;

    static void askLandingApproval() {
        if (radio == 0) {
            approved = 0;
        } else {
            approved = 1;
        }
    }

    static void control() {
        askLandingApproval();
        if (approved == 1) {
            landing = 1;
        }
    }

    static void checkRadio(int second) {
        if (second == 3) {
            radio = 0;
        }
    }

    /** The radio fails some time after take-off; the pause makes the recorded run the good one. */
    static void watchRadio() {
        for (int second = 0; second < 4; second++) {
            try {
                Thread.sleep(15);
            } catch (InterruptedException e) {
                return;
            }
            checkRadio(second);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread controller = new Thread(Main::control, "controller");
        Thread watch = new Thread(Main::watchRadio, "radio");
        controller.start();
        watch.start();
        controller.join();
        watch.join();
        System.out.println("landing " + landing + " approved " + approved + " radio " + radio);
    }
}

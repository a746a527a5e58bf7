/** The second example of JMPaX: x++ .. y = x + 1 beside z = x + 1 .. x++, and an interval over the three. */
public class Main {
    static int x = -1;
    static int y = 0;
    static int z = 0;

    static final class First extends Thread {
        @Override
        public void run() {
            x++;
            int seen = x;
            pause(120); // the other thread runs here
            y = seen + 1;
        }
    }

    static final class Second extends Thread {
        @Override
        public void run() {
            z = x + 1;
            x++;
        }
    }

    static void pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Thread first = new First();
        Thread second = new Second();
        first.start();
        pause(40);
        second.start();
        first.join();
        second.join();
        System.out.println("x " + x + " y " + y + " z " + z);
    }
}

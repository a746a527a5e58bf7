/** A clerk tidies a desk; at the end, the desk is closed by somebody who waits for the clerk. */
class Desk {
    private int papers = 12;

    synchronized void tidy() {
        papers = 0;
    }

    void close(Thread clerk) throws InterruptedException {
        clerk.join();
        System.out.println("closed with " + papers);
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Desk desk = new Desk();
        Thread clerk = new Thread(desk::tidy);
        clerk.start();
        // The clerk has ended, but this look at it orders nothing.
        while (clerk.getThreadGroup() != null) {
            Thread.sleep(1);
        }
        desk.close(clerk);
    }
}

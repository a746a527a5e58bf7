/** A thread is started and joined. */
public class Main {
    static Thread starter;
    static int result;

    static void work() {
        result = 1;
        finish();
    }

    static void finish() {
        // The starter sees the result when this thread has ended.
    }

    /** Waits for the end of the thread that waits for this one. */
    static void finishLast() {
        endWhenStuck(starter, Thread.currentThread());
        try {
            starter.join();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        starter = Thread.currentThread();
        Thread worker = new Thread(Main::work);
        worker.start();
        worker.join();
        System.out.println(result);
    }

    /** Ends the program by a signal when some threads wait for good, as a user does who has lost patience. */
    static void endWhenStuck(Thread... waiting) {
        Thread guard = new Thread(() -> {
            try {
                for (int calm = 0; calm < 20; Thread.sleep(20)) {
                    boolean isCalm = true;
                    for (Thread thread : waiting) {
                        isCalm &= thread.getState() == Thread.State.WAITING;
                    }
                    calm = isCalm ? calm + 1 : 0;
                }
                new ProcessBuilder("kill", Long.toString(ProcessHandle.current().pid())).start();
            } catch (Exception failed) {
                failed.printStackTrace();
            }
        });
        guard.setDaemon(true);
        guard.start();
    }
}

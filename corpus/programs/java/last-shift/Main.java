/** Two workers write the number of their shift on a board, under its lock; the second one does so for a whole week. */
class Board {
    private int shift;

    void first() {
        synchronized (this) {
            shift = 1;
        }
    }

    void week() {
        for (int day = 0; day < 30; day++) {
            synchronized (this) {
                shift = day;
            }
        }
        last();
    }

    private void last() {
        synchronized (this) {
            shift = 7;
        }
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Board board = new Board();
        Thread first = new Thread(board::first);
        Thread second = new Thread(board::week);
        first.start();
        // The first one has ended, but this look at it orders nothing.
        while (first.getThreadGroup() != null) {
            Thread.sleep(1);
        }
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}

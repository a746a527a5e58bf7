/** A cursor is moved in two locked steps: no race, but two moves together can leave it where nobody put it. */
class Cursor {
    private final Object screen = new Object();
    private int column;
    private int row;

    private void setColumn(int to) {
        synchronized (screen) {
            column = to;
        }
    }

    private void setRow(int to) {
        synchronized (screen) {
            row = to;
        }
    }

    void moveTo(int to) {
        setColumn(to);
        setRow(to);
    }

    boolean moved() {
        synchronized (screen) {
            return column > 0 && row > 0;
        }
    }
}

public class Main {
    static class Player extends Thread {
        private final Cursor cursor;
        private final int target;

        Player(Cursor cursor, int target) {
            this.cursor = cursor;
            this.target = target;
        }

        @Override
        public void run() {
            cursor.moveTo(target);
        }
    }

    public static void main(String[] args) throws Exception {
        Cursor cursor = new Cursor();
        Player one = new Player(cursor, 10);
        Player two = new Player(cursor, 20);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(cursor.moved() ? "the cursor was moved" : "the cursor is at home");
    }
}

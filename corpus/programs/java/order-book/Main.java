/**
 * Traders send orders to a book from threads of their own; a publisher shows its depth, a ticker looks at the first
 * that is shown.
 */
public class Main {
    static final class Trader extends Thread {
        private final Book book;
        private final String[] script;
        private int sent;

        Trader(Book book, String name, String... script) {
            super(name);
            this.book = book;
            this.script = script;
        }

        @Override
        public void run() {
            for (String line : script) {
                book.submit(Order.parse(getName(), line));
                sent++;
            }
        }

        int sent() {
            return sent;
        }
    }

    /** Waits for the first depth by looking now and then. */
    static final class Ticker extends Thread {
        private final Board board;
        private long seen = -1;

        Ticker(Board board) {
            super("ticker");
            this.board = board;
        }

        @Override
        public void run() {
            try {
                seen = board.await().total();
            } catch (InterruptedException e) {
                interrupt();
            }
        }

        boolean sawSomething() {
            return seen >= 0;
        }
    }

    public static void main(String[] args) throws Exception {
        Tape tape = new Tape();
        Book book = new Book(tape);
        Board board = new Board(book);
        Trader[] traders = {
            new Trader(book, "ada", "buy 10 at 100", "buy 5 at 100", "sell 8 at 100"),
            new Trader(book, "bob", "sell 10 at 100", "buy 3 at 90"),
            new Trader(book, "cyd", "buy 7 at 100", "sell 4 at 100", "sell 2 at 120"),
        };
        Ticker ticker = new Ticker(board);
        ticker.start();
        for (Trader trader : traders) {
            trader.start();
        }
        board.publish();
        int sent = 0;
        for (Trader trader : traders) {
            trader.join();
            sent += trader.sent();
        }
        ticker.join();
        System.out.println("orders " + sent + " volume " + tape.volume() + " turnover " + tape.turnover());
        System.out.println("left " + book.open(Side.BUY) + " and " + book.open(Side.SELL)
            + (ticker.sawSomething() ? "" : ", unseen"));
    }
}

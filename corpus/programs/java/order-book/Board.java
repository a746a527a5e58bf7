/** Shows the depth of a book to anybody who looks, without a lock. */
final class Board {
    private final Book book;
    private volatile Depth latest;

    Board(Book book) {
        this.book = book;
    }

    void publish() {
        long[] buys = book.quantities(Side.BUY);
        long[] sells = book.quantities(Side.SELL);
        Depth depth = new Depth();
        depth.fill(buys, sells); latest = depth;
    }

    Depth await() throws InterruptedException {
        Depth depth = latest;
        while (depth == null) {
            Thread.sleep(1);
            depth = latest;
        }
        return depth;
    }
}

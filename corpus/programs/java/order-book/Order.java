/** An order; how much of it is open, and who is next in its chain, belongs to the book. */
final class Order {
    private final String owner;
    private final Side side;
    private final long price;
    private int open;
    private Order next;

    Order(String owner, Side side, int quantity, long price) {
        this.owner = owner;
        this.side = side;
        this.open = quantity;
        this.price = price;
    }

    /** From a line such as `buy 10 at 100`. */
    static Order parse(String owner, String line) {
        String[] words = line.split(" ");
        if (words.length != 4 || !words[2].equals("at")) {
            throw new IllegalArgumentException(line);
        }
        Side side = words[0].equals("buy") ? Side.BUY : Side.SELL;
        return new Order(owner, side, Integer.parseInt(words[1]), Long.parseLong(words[3]));
    }

    String owner() {
        return owner;
    }

    Side side() {
        return side;
    }

    long price() {
        return price;
    }

    int open() {
        return open;
    }

    Order next() {
        return next;
    }

    void setNext(Order order) {
        next = order;
    }

    void fill(int quantity) {
        open -= quantity;
    }
}

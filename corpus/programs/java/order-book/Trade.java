/** Two orders met. */
final class Trade {
    private final String taker;
    private final String maker;
    private final int quantity;
    private final long price;

    Trade(Order taking, Order made, int quantity) {
        this.taker = taking.owner();
        this.maker = made.owner();
        this.quantity = quantity;
        this.price = made.price();
    }

    int quantity() {
        return quantity;
    }

    long value() {
        return price * quantity;
    }

    @Override
    public String toString() {
        return taker + " from " + maker + " " + quantity + " at " + price;
    }
}

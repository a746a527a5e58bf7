/** Matches orders; everything happens under its monitor. */
final class Book {
    private final Ladder buys = new Ladder(Side.BUY);
    private final Ladder sells = new Ladder(Side.SELL);
    private final Tape tape;

    Book(Tape tape) {
        this.tape = tape;
    }

    private Ladder ladder(Side side) {
        return side == Side.BUY ? buys : sells;
    }

    synchronized void submit(Order order) {
        Ladder against = ladder(order.side().other());
        Order best = against.best();
        while (order.open() > 0 && best != null && order.side().accepts(order.price(), best.price())) {
            int quantity = Math.min(order.open(), best.open());
            order.fill(quantity);
            best.fill(quantity);
            tape.print(new Trade(order, best, quantity));
            against.removeFilled();
            best = against.best();
        }
        if (order.open() > 0) {
            ladder(order.side()).add(order);
        }
    }

    synchronized long open(Side side) {
        long sum = 0;
        for (long quantity : ladder(side).quantities()) {
            sum += quantity;
        }
        return sum;
    }

    synchronized long[] quantities(Side side) {
        return ladder(side).quantities();
    }
}

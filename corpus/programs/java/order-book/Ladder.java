/**
 * The open orders of one side in a chain: the best price first, and of one price the oldest. Under the book's monitor.
 */
final class Ladder {
    private final Side side;
    private Order first;
    private int length;

    Ladder(Side side) {
        this.side = side;
    }

    private boolean stays(Order before, Order order) {
        return side == Side.BUY ? before.price() >= order.price() : before.price() <= order.price();
    }

    void add(Order order) {
        length++;
        if (first == null || !stays(first, order)) {
            order.setNext(first);
            first = order;
            return;
        }
        Order before = first;
        while (before.next() != null && stays(before.next(), order)) {
            before = before.next();
        }
        order.setNext(before.next());
        before.setNext(order);
    }

    /** The first in line at the best price, if any. */
    Order best() {
        return first;
    }

    /** Only the best is ever filled, so what is done stands in front. */
    void removeFilled() {
        while (first != null && first.open() == 0) {
            Order done = first;
            first = done.next();
            done.setNext(null);
            length--;
        }
    }

    long[] quantities() {
        long[] result = new long[length];
        int at = 0;
        for (Order order = first; order != null; order = order.next()) {
            result[at++] = order.open();
        }
        return result;
    }
}

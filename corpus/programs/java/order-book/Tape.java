import java.util.ArrayList;
import java.util.List;

/** All trades so far. */
final class Tape {
    private final List<Trade> trades = new ArrayList<>();
    private long turnover;

    synchronized void print(Trade trade) {
        trades.add(trade);
        turnover += trade.value();
    }

    synchronized int volume() {
        int sum = 0;
        for (Trade trade : trades) {
            sum += trade.quantity();
        }
        return sum;
    }

    synchronized long turnover() {
        return turnover;
    }
}

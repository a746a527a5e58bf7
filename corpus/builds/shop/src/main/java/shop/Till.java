package shop;

/** What is in a till; nothing protects the amount. */
public class Till {
    private int amount;

    public void add(int more) {
        amount += more;
    }

    public synchronized int amount() {
        return amount;
    }

    /** Moves all from one to another: two moves in opposite directions can wait for each other. */
    public static void move(Till from, Till to) {
        synchronized (from) {
            synchronized (to) {
                to.amount += from.amount;
                from.amount = 0;
            }
        }
    }
}

package bank;

/**
 * Two tellers with a counter each; the second opens later, so that even a bank with bad habits gets through the day.
 */
public final class Main {
    private static final String[] MORNING = {"transfer 1 2 30", "pay 3 50", "transfer 2 3 10", "take 1 2000"};
    private static final String[] NOON = {"transfer 2 1 45", "take 3 20", "transfer 3 1 5", "pay 2 7"};

    private Main() {
    }

    private static void bring(Counter counter, String[] lines) {
        for (String line : lines) {
            counter.leave(Request.parse(line));
        }
        counter.leave(Request.LAST);
    }

    public static void main(String[] args) throws Exception {
        Bank bank = new Bank("ada", "bob", "cyd");
        Counter left = new Counter();
        Counter right = new Counter();
        Teller one = new Teller("one", bank, left);
        Teller two = new Teller("two", bank, right);
        bring(left, MORNING);
        one.start();
        two.start();
        Thread.sleep(60);
        bring(right, NOON);
        one.join();
        two.join();
        long shown = 0;
        for (Statement statement : bank.statements()) {
            shown += statement.balance();
        }
        System.out.println("served " + (one.served() + two.served())
            + " refused " + bank.journal().refused() + " lines " + bank.journal().size());
        System.out.println("total " + bank.total() + (shown == bank.total() ? "" : " is not what is shown"));
    }
}

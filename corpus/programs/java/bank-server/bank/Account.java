package bank;

/** Money and the last few movements, all under the monitor of the account. */
final class Account {
    private static final int KEPT = 4;

    private final int id;
    private final String owner;
    private final long[] movements = new long[KEPT];
    private long balance;
    private int moved;

    Account(int id, String owner, long balance) {
        this.id = id;
        this.owner = owner;
        this.balance = balance;
    }

    int id() {
        return id;
    }

    String owner() {
        return owner;
    }

    synchronized long balance() {
        return balance;
    }

    synchronized void change(long cents) {
        balance += cents;
        movements[moved % KEPT] = cents;
        moved++;
    }

    synchronized boolean covers(long cents) {
        return balance >= cents;
    }

    synchronized Statement statement() {
        int known = Math.min(moved, KEPT);
        long[] last = new long[known];
        for (int i = 0; i < known; i++) {
            last[i] = movements[(moved - 1 - i) % KEPT];
        }
        return new Statement(owner, balance, last);
    }
}

package bank;

/** What an account looked like at one moment; never changes, and needs no lock. */
final class Statement {
    private final String owner;
    private final long balance;
    private final long[] last;

    Statement(String owner, long balance, long[] last) {
        this.owner = owner;
        this.balance = balance;
        this.last = last;
    }

    long balance() {
        return balance;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(owner).append(' ').append(balance);
        for (long movement : last) {
            text.append(movement < 0 ? " " : " +").append(movement);
        }
        return text.toString();
    }
}

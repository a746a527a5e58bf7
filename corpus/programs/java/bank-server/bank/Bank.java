package bank;

import java.util.ArrayList;
import java.util.List;

/** The accounts. Two of them are only ever locked in the order of their numbers. */
final class Bank {
    private final Account[] accounts;
    private final Journal journal = new Journal();

    Bank(String... owners) {
        accounts = new Account[owners.length];
        for (int i = 0; i < owners.length; i++) {
            accounts[i] = new Account(i + 1, owners[i], 1000);
        }
    }

    Journal journal() {
        return journal;
    }

    Account account(int id) {
        if (id < 1 || id > accounts.length) {
            throw new IllegalArgumentException("no account " + id);
        }
        return accounts[id - 1];
    }

    boolean transfer(Account from, Account to, long cents) {
        Account first = from.id() < to.id() ? from : to;
        Account second = first == from ? to : from;
        synchronized (first) {
            synchronized (second) {
                if (!from.covers(cents)) {
                    return false;
                }
                from.change(-cents);
                to.change(cents);
                return true;
            }
        }
    }

    boolean pay(Account to, long cents) {
        to.change(cents);
        return true;
    }

    boolean take(Account from, long cents) {
        synchronized (from) {
            if (!from.covers(cents)) {
                return false;
            }
            from.change(-cents);
            return true;
        }
    }

    /** One account after the other; nobody may be at work any more if the sum is to mean something. */
    long total() {
        long sum = 0;
        for (Account account : accounts) {
            sum += account.balance();
        }
        return sum;
    }

    List<Statement> statements() {
        List<Statement> all = new ArrayList<>();
        for (Account account : accounts) {
            all.add(account.statement());
        }
        return all;
    }
}

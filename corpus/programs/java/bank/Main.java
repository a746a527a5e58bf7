/** The bank of the DAME paper: every access is locked, but a balance can be taken in the middle of a transfer. */
class Account {
    private int balance;

    Account(int balance) {
        this.balance = balance;
    }

    synchronized int balance() {
        return balance;
    }

    synchronized void add(int amount) {
        balance += amount;
    }
}

class Bank {
    final Account checking = new Account(100);
    final Account saving = new Account(0);

    int calcBalance() {
        int first = checking.balance();
        int second = saving.balance();
        return first + second;
    }

    void transfer(int amount) throws InterruptedException {
        checking.add(-amount);
        Main.untilTellerWaits(); // the other branch is slow to answer
        saving.add(amount);
    }
}

public class Main {
    static final Bank bank = new Bank();
    static Thread teller;

    static void move() {
        try {
            bank.transfer(40);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The teller waits for the mover once it has seen both balances. That is seen from outside, and orders nothing. */
    static void untilTellerWaits() throws InterruptedException {
        while (teller.getState() != Thread.State.WAITING) {
            Thread.sleep(50);
        }
    }

    /** Whether a thread sleeps is seen from outside, too. */
    static void untilAsleep(Thread thread) throws InterruptedException {
        for (int seen = 0; seen < 10; Thread.sleep(1)) {
            seen = thread.getState() == Thread.State.TIMED_WAITING ? seen + 1 : 0;
        }
    }

    public static void main(String[] args) throws Exception {
        teller = Thread.currentThread();
        Thread mover = new Thread(Main::move);
        mover.start();
        untilAsleep(mover);
        int seen = bank.calcBalance();
        mover.join();
        System.out.println("seen " + seen + ", there " + bank.calcBalance());
    }
}

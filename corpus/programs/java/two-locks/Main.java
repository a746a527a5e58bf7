/** Deposits and withdrawals are both locked, by two different locks. */
class Purse {
    private final Object giving = new Object();
    private final Object taking = new Object();
    private char coins = 100;

    void deposit(int count) {
        synchronized (giving) {
            coins += count;
        }
    }

    void withdraw(int count) {
        synchronized (taking) {
            coins -= count;
        }
    }

    boolean plausible() {
        return coins > 80 && coins < 120;
    }
}

public class Main {
    static final Purse purse = new Purse();

    static void earn() {
        for (int i = 0; i < 3; i++) {
            purse.deposit(2);
        }
    }

    static void spend() {
        for (int i = 0; i < 3; i++) {
            purse.withdraw(1);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread one = new Thread(Main::earn);
        Thread two = new Thread(Main::spend);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(purse.plausible() ? "some coins" : "robbed");
    }
}

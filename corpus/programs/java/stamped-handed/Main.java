import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.StampedLock;

/** A desk and a till under stamped locks whose stamps are given back by an assistant, not by who took them. */
public class Main {
    static final StampedLock desk = new StampedLock();
    static final StampedLock till = new StampedLock();
    // Opaque: they order nothing.
    static final AtomicInteger read = new AtomicInteger();
    static final AtomicInteger open = new AtomicInteger();
    static int ledger = 1;
    static int coins;

    static void look() {
        long stamp = desk.readLock();
        int seen = ledger;
        desk.unlockRead(stamp);
        read.setOpaque(seen);
    }

    static void write() {
        long stamp = desk.writeLock(); ledger++; desk.unlockWrite(stamp);
    }

    static void pay(int many) {
        long stamp = till.writeLock();
        coins += many;
        till.unlockWrite(stamp);
    }

    /** Has the till open until the owner waits for it. */
    static void count(Thread owner) {
        long stamp = till.writeLock();
        open.setOpaque(1);
        while (owner.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        coins++;
        till.unlockWrite(stamp);
    }

    static void assistant(Runnable task) throws InterruptedException {
        Thread thread = new Thread(task);
        thread.start();
        thread.join();
    }

    public static void main(String[] args) throws InterruptedException {
        // Who has read, and nobody waits for, comes before who writes, also if another read stamp was handed over in
        // between.
        Thread looks = new Thread(Main::look);
        looks.start();
        while (read.getOpaque() == 0) {
            Thread.onSpinWait();
        }
        long reading = desk.readLock();
        assistant(() -> desk.unlockRead(reading));
        Thread writes = new Thread(Main::write);
        writes.start();

        // Who has handed a stamp over has not got the lock any more.
        long paying = till.writeLock();
        coins++;
        assistant(() -> {
            coins++;
            till.unlockWrite(paying);
        });
        Thread owner = Thread.currentThread();
        Thread counts = new Thread(() -> count(owner));
        counts.start();
        while (open.getOpaque() == 0) {
            Thread.onSpinWait();
        }
        pay(2);
        looks.join();
        writes.join();
        counts.join();
        System.out.println(ledger + " " + coins);
    }
}

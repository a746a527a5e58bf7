import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Cars wait before a gate for their turn; the turn is a number under a lock, with one condition for all and a second
 * for the keeper.
 */
class Gate {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition turned = lock.newCondition();
    private final Condition empty = lock.newCondition();
    private int turn;
    private int passed;
    private int inside;

    void pass(int ticket) throws InterruptedException {
        lock.lock();
        try {
            while (turn != ticket) {
                turned.await();
            }
            passed = passed * 10 + ticket;
            inside++;
            turn++;
            turned.signalAll();
        } finally {
            lock.unlock();
        }
        leave();
    }

    private void leave() {
        lock.lock();
        try {
            inside--;
            empty.signal();
        } finally {
            lock.unlock();
        }
    }

    int keeper(int cars) throws InterruptedException {
        lock.lock();
        try {
            while (turn < cars || inside > 0) {
                empty.await();
            }
            return passed;
        } finally {
            lock.unlock();
        }
    }
}

class Car extends Thread {
    static int honks;
    private static final ReentrantLock horn = new ReentrantLock();
    private final Gate gate;
    private final int ticket;

    Car(Gate gate, int ticket) {
        this.gate = gate;
        this.ticket = ticket;
    }

    @Override
    public void run() {
        honk();
        try {
            gate.pass(ticket);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void honk() {
        horn.lock();
        honks++;
        horn.unlock();
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Gate gate = new Gate();
        Car[] cars = {new Car(gate, 2), new Car(gate, 0), new Car(gate, 1)};
        for (Car car : cars) {
            car.start();
        }
        int order = gate.keeper(cars.length);
        for (Car car : cars) {
            car.join();
        }
        System.out.println("order " + order + (Car.honks > 0 ? "" : ", silent"));
    }
}

import java.util.concurrent.locks.LockSupport;

/** Two runners pass a baton by a volatile field and wake each other by unpark; only who holds it writes the laps. */
class Baton {
    private volatile Thread holder;

    void pass(Thread next) {
        holder = next;
        LockSupport.unpark(next);
    }

    /** A permit may be left over from before, so the field is asked again. */
    void await() {
        while (holder != Thread.currentThread()) {
            LockSupport.park(this);
        }
    }
}

class Runner extends Thread {
    private final Baton baton;
    private final Laps laps;
    Thread partner;

    Runner(Baton baton, Laps laps) {
        this.baton = baton;
        this.laps = laps;
    }

    @Override
    public void run() {
        for (int i = 0; i < 3; i++) {
            baton.await();
            laps.add(); baton.pass(partner);
        }
    }
}

class Laps {
    private int done;

    void add() {
        done++;
    }

    int done() {
        return done;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Baton baton = new Baton();
        Laps laps = new Laps();
        Runner one = new Runner(baton, laps);
        Runner two = new Runner(baton, laps);
        one.partner = two;
        two.partner = one;
        one.start();
        two.start();
        baton.pass(one);
        one.join();
        two.join();
        System.out.println(laps.done() > 0 ? "ran" : "did not run");
    }
}

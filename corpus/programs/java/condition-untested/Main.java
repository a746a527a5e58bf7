import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The oven is asked whether it is hot before its lock is taken, and not again before the wait. */
class Oven {
    private final ReentrantLock door = new ReentrantLock(true);
    private final Condition heated = door.newCondition();
    private volatile boolean hot;
    private int loaves;

    void bake() throws InterruptedException {
        if (hot) {
            return;
        }
        door.lock();
        try {
            if (heated.await(3, TimeUnit.SECONDS)) {
                loaves++;
            }
        } finally {
            door.unlock();
        }
    }

    void heat() {
        hot = true;
        door.lock();
        try {
            heated.signal();
        } finally {
            door.unlock();
        }
    }

    int loaves() {
        door.lock();
        try {
            return loaves;
        } finally {
            door.unlock();
        }
    }
}

public class Main {
    static final Oven oven = new Oven();

    static void baker() {
        try {
            oven.bake();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** In the recorded run the baker sleeps when the oven is hot; looking at the state of a thread orders nothing. */
    static void untilAsleep(Thread thread) throws InterruptedException {
        for (int seen = 0; seen < 20; Thread.sleep(1)) {
            seen = thread.getState() == Thread.State.TIMED_WAITING ? seen + 1 : 0;
        }
    }

    public static void main(String[] args) throws Exception {
        Thread baker = new Thread(Main::baker);
        baker.start();
        untilAsleep(baker);
        oven.heat();
        baker.join();
        System.out.println("loaves " + oven.loaves());
    }
}

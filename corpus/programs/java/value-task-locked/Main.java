/**
 * The first program of JPaX and of the JPF2 paper: two values are added to each other, the getter synchronized: the
 * race is gone, a deadlock has come.
 */
class Value {
    private int x = 1;

    public synchronized void add(Value v) {
        x = x + v.get();
    }

    public synchronized int get() {
        return x;
    }
}

class Task extends Thread {
    Value v1;
    Value v2;

    public Task(Value v1, Value v2) {
        this.v1 = v1;
        this.v2 = v2;
        this.start();
    }

    @Override
    public void run() {
        v1.add(v2);
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Value v1 = new Value();
        Value v2 = new Value();
        Task one = new Task(v1, v2);
        Thread.sleep(40); // one after the other, or the run may hang
        Task two = new Task(v2, v1);
        one.join();
        two.join();
        System.out.println(v1.get() + v2.get() > 3 ? "added" : "lost");
    }
}

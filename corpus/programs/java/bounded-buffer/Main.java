/** The classic buffer with wait and notifyAll; producers end with a mark, consumers add up. */
class Buffer {
    private final int[] slots = new int[3];
    private int first;
    private int used;
    private int waits;

    synchronized void put(int item) throws InterruptedException {
        while (used == slots.length) {
            waits++;
            wait();
        }
        slots[(first + used) % slots.length] = item;
        used++;
        notifyAll();
    }

    synchronized int take() throws InterruptedException {
        while (used == 0) {
            waits++;
            wait();
        }
        int item = slots[first];
        first = (first + 1) % slots.length;
        used--;
        notifyAll();
        return item;
    }
}

class Producer extends Thread {
    private final Buffer buffer;
    private final int from;

    Producer(Buffer buffer, int from) {
        this.buffer = buffer;
        this.from = from;
    }

    @Override
    public void run() {
        try {
            for (int i = from; i < from + 10; i++) {
                buffer.put(i);
            }
            buffer.put(-1);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}

class Consumer extends Thread {
    private final Buffer buffer;
    private final Totals totals;

    Consumer(Buffer buffer, Totals totals) {
        this.buffer = buffer;
        this.totals = totals;
    }

    @Override
    public void run() {
        int sum = 0;
        try {
            for (int item = buffer.take(); item >= 0; item = buffer.take()) {
                sum += item;
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        totals.add(sum);
    }
}

class Totals {
    private int sum;

    synchronized void add(int part) {
        sum += part;
    }

    synchronized int sum() {
        return sum;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Buffer buffer = new Buffer();
        Totals totals = new Totals();
        Thread[] threads = {
            new Producer(buffer, 1), new Producer(buffer, 100),
            new Consumer(buffer, totals), new Consumer(buffer, totals)
        };
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("sum " + totals.sum());
    }
}

package pipeline;

import java.util.ArrayDeque;
import java.util.Deque;

/** A bounded queue between stages that ends when all who write have closed it. */
final class Channel<T> {
    private final Deque<T> items = new ArrayDeque<>();
    private final int capacity;
    private int used;
    private int writers;

    Channel(int capacity, int writers) {
        this.capacity = capacity;
        this.writers = writers;
    }

    synchronized void send(T item) throws InterruptedException {
        while (used == capacity) {
            wait();
        }
        items.addLast(item);
        used++;
        notifyAll();
    }

    /** Null at the end. */
    synchronized T receive() throws InterruptedException {
        while (used == 0 && writers > 0) {
            wait();
        }
        if (used == 0) {
            return null;
        }
        used--;
        notifyAll();
        return items.removeFirst();
    }

    synchronized void close() {
        writers--;
        notifyAll();
    }
}

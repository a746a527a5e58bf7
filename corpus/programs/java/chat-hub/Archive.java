import java.util.ArrayDeque;
import java.util.Queue;

/** Keeps what was said, in a thread of its own; its queue has a lock that nobody else nests in. */
final class Archive extends Thread {
    private final Queue<Message> queue = new ArrayDeque<>();
    private final Object lock = new Object();
    private boolean closed;
    private int letters;
    private int kept;

    Archive() {
        super("archive");
    }

    void keep(Message message) {
        synchronized (lock) {
            queue.add(message);
            lock.notify();
        }
    }

    void close() {
        synchronized (lock) {
            closed = true;
            lock.notifyAll();
        }
    }

    @Override
    public void run() {
        try {
            for (Message message = next(); message != null; message = next()) {
                letters += message.toString().length();
                kept++;
            }
        } catch (InterruptedException e) {
            interrupt();
        }
    }

    private Message next() throws InterruptedException {
        synchronized (lock) {
            while (queue.isEmpty() && !closed) {
                lock.wait();
            }
            return queue.poll();
        }
    }

    int kept() {
        return letters > 0 ? kept : -1;
    }
}

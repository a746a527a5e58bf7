import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A heap of jobs; workers wait for the most urgent one. */
final class JobQueue {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private Job[] heap = new Job[2];
    private int size;
    private boolean closed;

    void put(Job job) {
        lock.lock();
        try {
            if (size == heap.length) {
                Job[] larger = new Job[2 * size];
                System.arraycopy(heap, 0, larger, 0, size);
                heap = larger;
            }
            heap[size] = job;
            up(size++);
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean idle() {
        lock.lock();
        try {
            return size == 0 && !closed;
        } finally {
            lock.unlock();
        }
    }

    /** Null when the queue is closed and empty. The limit is there for mistakes: nothing depends on it. */
    Job take() throws InterruptedException {
        while (true) {
            lock.lock(); boolean wait = size == 0 && !closed;
            try {
                if (wait) {
                    changed.await(2, TimeUnit.SECONDS);
                }
                if (size > 0) {
                    return pop();
                }
                if (closed) {
                    return null;
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private Job pop() {
        Job top = heap[0];
        size--;
        heap[0] = heap[size];
        heap[size] = null;
        down(0);
        return top;
    }

    private void up(int at) {
        while (at > 0 && heap[at].compareTo(heap[(at - 1) / 2]) < 0) {
            swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    private void down(int at) {
        while (2 * at + 1 < size) {
            int child = 2 * at + 1;
            if (child + 1 < size && heap[child + 1].compareTo(heap[child]) < 0) {
                child++;
            }
            if (heap[at].compareTo(heap[child]) <= 0) {
                return;
            }
            swap(at, child);
            at = child;
        }
    }

    private void swap(int one, int other) {
        Job job = heap[one];
        heap[one] = heap[other];
        heap[other] = job;
    }
}

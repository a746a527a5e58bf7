/**
 * One thread computes items and puts them into a bounded buffer, another takes them out and computes with them: a
 * monitor, wait and notify.
 *
 * usage: Buffer both [ITEMS]
 */
final class Buffer {
    private static final int ROOM = 256;
    /** Steps of computing for each item, in each of the threads. */
    private static final int WORK = 60;
    /** Accesses of putting, of taking, and more of them for each wait. */
    private static final long PUT = 7, TAKE = 8, AGAIN = 3;
    /** The monitor is entered and left, and a thread is notified; a wait is one event more. */
    private static final long SYNCS = 3;

    private long[] items = new long[ROOM];
    private int head;
    private int count;
    /** How often each thread has waited; it alone writes it. */
    private int putWaits;
    private int takeWaits;

    private void put(long item) throws InterruptedException {
        synchronized (this) {
            while (count == ROOM) {
                putWaits++;
                wait();
            }
            items[(head + count) % ROOM] = item;
            count++;
            notify();
        }
    }

    private long take() throws InterruptedException {
        synchronized (this) {
            while (count == 0) {
                takeWaits++;
                wait();
            }
            long item = items[head];
            head = (head + 1) % ROOM;
            count--;
            notify();
            return item;
        }
    }

    private Measure.Done produce(int number) throws InterruptedException {
        long x = 1;
        int before = putWaits;
        for (int i = 0; i < number; i++) {
            x = Measure.compute(x, WORK);
            put(x);
        }
        int waits = putWaits - before;
        return new Measure.Done(x, PUT * number + AGAIN * waits, SYNCS * number + waits);
    }

    private Measure.Done consume(int number) throws InterruptedException {
        long x = 1;
        int before = takeWaits;
        for (int i = 0; i < number; i++) x = Measure.compute(x ^ take(), WORK);
        int waits = takeWaits - before;
        return new Measure.Done(x, TAKE * number + AGAIN * waits, SYNCS * number + waits);
    }

    public static void main(String[] args) throws InterruptedException {
        int number = args.length > 1 ? Integer.parseInt(args[1]) : 2_500_000;
        Buffer buffer = new Buffer();
        Measure.print(thread -> thread == 0 ? buffer::produce : buffer::consume, number);
        if (buffer.count != 0) throw new AssertionError(buffer.count);
    }
}

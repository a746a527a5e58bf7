import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/**
 * Runs a program's work in two threads, some times to have it compiled and then once to measure it, and prints one
 * line.
 *
 * Of the measured time: wall seconds, CPU seconds of the two threads, accesses, synchronisation operations, a
 * checksum. Of the whole run: CPU seconds of the process, and events of both kinds. What this class itself does is
 * some dozens of events, and is not counted.
 */
final class Measure implements Runnable {
    /** Makes the work of thread 0 or 1, in that thread: what it makes there is far from what the other one makes. */
    interface Maker {
        Work make(int thread);
    }

    /** What one of the threads does: so many operations. */
    interface Work {
        Done run(int operations) throws InterruptedException;
    }

    /** What a thread has done. */
    static final class Done {
        long checksum;
        long accesses;
        long syncs;

        Done(long checksum, long accesses, long syncs) {
            this.checksum = checksum;
            this.accesses = accesses;
            this.syncs = syncs;
        }
    }

    /** The work is done so often to have it compiled, each time this part of it: as much as is measured then. */
    private static final int WARM_UPS = 8, PART = 8;

    private final Maker maker;
    private final int thread, operations;
    private final CyclicBarrier both;
    private Done measured;
    private long events, cpu, begun, ended;

    private Measure(Maker maker, int thread, int operations, CyclicBarrier both) {
        this.maker = maker;
        this.thread = thread;
        this.operations = operations;
        this.both = both;
    }

    /** Returns how many operations each thread has done in all. */
    static int print(Maker maker, int operations) throws InterruptedException {
        CyclicBarrier both = new CyclicBarrier(2);
        Measure a = new Measure(maker, 0, operations, both), b = new Measure(maker, 1, operations, both);
        Thread[] threads = {new Thread(a, "first"), new Thread(b, "second")};
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        double wall = (Math.max(a.ended, b.ended) - Math.min(a.begun, b.begun)) / 1e9;
        System.out.println(String.format(Locale.ROOT, "%.6f %.6f %d %d %d %.6f %d", wall, (a.cpu + b.cpu) / 1e9,
                a.measured.accesses + b.measured.accesses, a.measured.syncs + b.measured.syncs,
                a.measured.checksum + b.measured.checksum, ofProcess() / 1e9, a.events + b.events));
        return operations + WARM_UPS * (operations / PART);
    }

    @Override
    public void run() {
        try {
            Work work = maker.make(thread);
            for (int i = 0; i < WARM_UPS; i++) {
                measure(work, operations / PART);
            }
            measure(work, operations);
        } catch (InterruptedException | BrokenBarrierException error) {
            throw new AssertionError(error);
        }
    }

    /** The warm-ups are measured, too: measuring makes the JDK load classes and compile some methods again. */
    private void measure(Work work, int operations) throws InterruptedException, BrokenBarrierException {
        both.await();
        begun = System.nanoTime();
        long cpuBefore = ofThread();
        measured = work.run(operations);
        cpu = ofThread() - cpuBefore;
        ended = System.nanoTime();
        events += measured.accesses + measured.syncs;
    }

    private static long ofThread() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static long ofProcess() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }

    /** Computes something that takes time, and touches nothing but local variables. Each step waits for the last. */
    static long compute(long x, int steps) {
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
            x ^= x >>> 29;
        }
        return x;
    }
}

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Runs small programs, each in an order of its acts that is fixed beforehand: one act at a time, each by its own
 * thread. Neither this class nor the baton that passes from thread to thread is watched: the agent sees only what
 * {@code Acts} does, by threads and with objects that every program has for itself.
 *
 * A line is a program: its number, its threads, and acts of five numbers each: thread, what, of what, site, value.
 */
public final class Driver extends Acts.Block {
    static final int ACCESS = 0, ACQUIRE = 1, RELEASE = 2, FORK = 3, JOIN = 4, MAKE = 5, TAKE = 6;
    /** Objects, as filter/acts.rs numbers them. Some are made by an act. */
    static final int P = 0, Q = 1, INTS = 2, N = 3, M = 4, REFS = 5, BIG = 6, OBJECTS = 8;
    private static final int WORDS = 5, SPINS = 200;
    /** The first locks are monitors. */
    private static final int MONITORS = 2;

    /** Acts take no turns: threads run as they like, from the first act on that starts no thread. */
    private static boolean isFree;

    private final int[] acts;
    private final int[] next;
    private final Thread[] threads;
    private final Object[][] has;
    private final Object[] locks;
    private volatile int at;
    /** Threads that have come to where all begin at once. */
    private final AtomicInteger ready = new AtomicInteger();
    private final boolean[] isOff;

    private Driver(String name, int count, int[] acts) {
        this.acts = acts;
        next = new int[count];
        threads = new Thread[count];
        has = new Object[count][];
        isOff = new boolean[count];
        Object[] all = new Object[OBJECTS];
        all[P] = new Acts.P();
        all[Q] = new Acts.Q();
        all[INTS] = new int[2];
        all[REFS] = new Acts.N[1];
        boolean isBig = false;
        for (int i = 0; i < acts.length; i += WORDS) {
            isBig |= acts[i + 1] == ACCESS && Tables.OF[acts[i + 2]] == BIG;
        }
        all[BIG] = isBig ? new int[200_000] : null;
        locks = new Object[] {new Acts.L(), all[P], new ReentrantLock()};
        for (int i = 0; i < count; i++) {
            int me = i;
            has[i] = all.clone();
            threads[i] = new Thread(() -> run(me), name + "." + i);
        }
    }

    public static void main(String[] args) throws Exception {
        isFree = args.length > 1;
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            int[] numbers = Arrays.stream(line.split(" ")).mapToInt(Integer::parseInt).toArray();
            Driver program = new Driver("p" + numbers[0], numbers[1], Arrays.copyOfRange(numbers, 2, numbers.length));
            program.threads[0].start();
            for (int i = 0; i < program.threads.length; i++) {
                program.end(i);
            }
        }
    }

    /** Waits for a thread, if there is an act that starts it. */
    private void end(int thread) throws Exception {
        boolean isStarted = thread == 0;
        for (int i = 0; i < acts.length; i += WORDS) {
            isStarted |= acts[i + 1] == FORK && acts[i + 2] == thread;
        }
        while (isStarted && threads[thread].getState() == Thread.State.NEW) {
            Thread.yield();
        }
        if (isStarted) {
            Acts.join(threads[thread]);
        }
    }

    private void run(int me) {
        try {
            play(me);
        } catch (Throwable failed) {
            failed.printStackTrace();
            System.exit(3);
        }
    }

    /** Its own acts, up to where it leaves the block that it is in. */
    private void play(int me) throws Exception {
        for (int i = mine(me); i < acts.length; i = mine(me)) {
            int what = acts[i + 1], of = acts[i + 2];
            if (!isFree) {
                await(i);
            } else if (what != FORK && !isOff[me]) {
                isOff[me] = true;
                meet();
            }
            if (what == RELEASE && of < MONITORS) {
                return;
            }
            next[me] = i + WORDS;
            if (what == ACQUIRE && of < MONITORS) {
                Acts.hold(locks[of], this, me, i, acts[i + 3]);
                int end = mine(me);
                next[me] = end + WORDS;
                done(end);
            } else {
                act(me, i, what, of);
                done(i);
            }
        }
    }

    /** It has come into a block. */
    @Override
    void inside(int me, int i) throws Exception {
        done(i);
        play(me);
    }

    private void act(int me, int i, int what, int of) throws Exception {
        switch (what) {
            case ACCESS: {
                Object[] mine = has[me];
                Object referred = Tables.REF[of] < 0 ? null : mine[Tables.REF[of]];
                Object got = Acts.act(of, mine[Tables.OF[of]], acts[i + 4], referred, acts[i + 3]);
                if (got != null) {
                    mine[Tables.REF[of]] = got;
                }
                break;
            }
            case ACQUIRE:
                Acts.lock((ReentrantLock) locks[of], acts[i + 3]);
                break;
            case RELEASE:
                Acts.unlock((ReentrantLock) locks[of], acts[i + 3]);
                break;
            case FORK:
                threads[of].start();
                break;
            case JOIN:
                Acts.join(threads[of]);
                break;
            case MAKE:
                has[me][of] = Acts.make(of == N);
                break;
            default:
                for (Object[] other : has) {
                    if (other[of] != null) {
                        has[me][of] = other[of];
                    }
                }
        }
    }

    /** The thread's next act. */
    private int mine(int me) {
        int i = next[me];
        while (i < acts.length && acts[i] != me) {
            i += WORDS;
        }
        return i;
    }

    /** All threads begin at once. */
    private void meet() {
        ready.incrementAndGet();
        for (int spins = 0; ready.get() < threads.length; spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
    }

    private void await(int i) {
        for (int spins = 0; at != i; spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.park(this);
            }
        }
    }

    private void done(int i) {
        if (isFree) {
            return;
        }
        i += WORDS;
        at = i;
        if (i < acts.length) {
            LockSupport.unpark(threads[acts[i]]);
        }
    }
}

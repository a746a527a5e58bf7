package foretrace.agent;

/** Threads: where they begin and end, and who waits for them. */
final class Threads {
    /** So many slots are used once. */
    private static final int MANY = 1 << 10;
    private static final int GENERATIONS = 1 << 5;
    /** How many were used; and those of threads that have ended, a ring. */
    private static int made, first, last;
    private static Buffer[] ended = new Buffer[64];

    private Threads() {}

    /** Gives the current thread what it needs to be watched; null if it cannot be. */
    static Buffer attach() {
        Thread thread = Thread.currentThread();
        Buffer made = make(thread);
        return made == null ? null : Buffer.attached();
    }

    private static Buffer make(Thread thread) {
        Pinned.begin();
        try {
            synchronized (Threads.class) {
                Object known = thread.foretrace$buffer;
                if (known != null) {
                    return (Buffer) known;
                }
                Buffer made = next();
                thread.foretrace$buffer = made == null ? Buffer.NONE : made;
                return made;
            }
        } finally {
            Pinned.end();
        }
    }

    /** A slot that nobody had; or, after many, that of the thread which ended first. */
    private static Buffer next() {
        if (made >= MANY && first != last) {
            Buffer before = ended[first];
            ended[first] = null;
            first = first + 1 & ended.length - 1;
            return new Buffer(before.slot, before);
        }
        int slot = Native.slot();
        made = Math.min(made + 1, MANY);
        return slot < 0 ? null : new Buffer(slot, null);
    }

    /** A thread has told its last: its slot may be used again. */
    private static void add(Buffer over) {
        Pinned.begin();
        try {
            synchronized (Threads.class) {
                int next = last + 1 & ended.length - 1;
                if (next == first) {
                    Buffer[] more = new Buffer[ended.length * 2];
                    int count = 0;
                    for (int i = first; i != last; i = i + 1 & ended.length - 1) {
                        more[count++] = ended[i];
                    }
                    ended = more;
                    first = 0;
                    last = count;
                    next = last + 1;
                }
                ended[last] = over;
                last = next;
            }
        } finally {
            Pinned.end();
        }
    }

    /** A thread is about to be started. */
    static void starting(Thread thread) {
        Buffer b = Buffer.ready();
        if (b == null || thread.foretrace$buffer != null) {
            return;
        }
        b.enter();
        try {
            Buffer child = make(thread);
            if (child != null && b.room()) {
                // Later than all that was told in its slot before.
                int place = Native.place(Native.CALLED);
                long now = b.now(child.time);
                child.time = now;
                // Where each thread starts the next for ever, not all are remembered.
                child.generation = b.generation + 1 & GENERATIONS - 1;
                child.parent = child.generation == 0 ? null : b;
                child.forked = b.tick;
                b.put3(Buffer.head(Buffer.FORK, 0, 0), now, place, child.slot | (long) child.life << 32);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }

    /** The current thread ends. */
    static void ending() {
        Buffer b = Buffer.own();
        if (b == null || b.isOff()) {
            return;
        }
        b.enter();
        b.finish();
        add(b);
    }

    /** What is done now comes after all threads that have ended. */
    static void ended(Buffer b) {
        b.epoch++;
        for (Buffer last : Buffer.all()) {
            // Those that had its slot before have ended, too.
            int lives = last == null ? 0 : last.isFinished ? last.life : last.life - 1;
            for (long life = 1; life <= lives && b.room(); life++) {
                b.put3(Buffer.head(Buffer.JOIN, 0, 0), b.now(last.time), 0, last.slot | life << 32);
            }
        }
    }

    /** A thread has been waited for: whether it is over is asked here. */
    static void joined(Buffer b, Thread thread, int site) {
        Buffer other = (Buffer) thread.foretrace$buffer;
        if (other != null && other != Buffer.NONE && other != b && !thread.isAlive() && b.room()) {
            b.epoch++;
            int place = b.place(site);
            b.put3(Buffer.head(Buffer.JOIN, 0, 0), b.now(other.time), place, other.slot | (long) other.life << 32);
        }
    }
}

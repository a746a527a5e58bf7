package foretrace.agent;

/** Threads: their slots, starts, ends and joins. */
final class Threads {
    /** So many slots are used once before slots of ended threads are used again. */
    private static final int MANY = 1 << 10;
    private static final int MOST_FORK_DEPTH = 1 << 5;
    /** How many slots were used; and the states of ended threads, a ring. */
    private static int made, first, last;
    private static ThreadState[] ended = new ThreadState[64];

    private Threads() {}

    /** Makes the state of the current thread; null if it cannot be watched. */
    static ThreadState attach() {
        Thread thread = Thread.currentThread();
        ThreadState made = make(thread);
        return made == null ? null : ThreadState.attached();
    }

    private static ThreadState make(Thread thread) {
        CarrierPin.begin();
        try {
            synchronized (Threads.class) {
                Object known = thread.foretrace$state;
                if (known != null) {
                    return (ThreadState) known;
                }
                ThreadState made = next();
                thread.foretrace$state = made == null ? ThreadState.NONE : made;
                return made;
            }
        } finally {
            CarrierPin.end();
        }
    }

    /** A state that is no thread's, to write records with; null if there is no slot for it. */
    static ThreadState spare() {
        CarrierPin.begin();
        try {
            synchronized (Threads.class) {
                return next();
            }
        } finally {
            CarrierPin.end();
        }
    }

    /** A state with a slot that no thread had; or, after many threads, with that of the thread that ended first. */
    private static ThreadState next() {
        if (made >= MANY && first != last) {
            ThreadState before = ended[first];
            ended[first] = null;
            first = first + 1 & ended.length - 1;
            return new ThreadState(before.slot, before);
        }
        int slot = Native.slot();
        made = Math.min(made + 1, MANY);
        return slot < 0 ? null : new ThreadState(slot, null);
    }

    /** A thread has written its last record: its slot may be used again. */
    private static void add(ThreadState over) {
        CarrierPin.begin();
        try {
            synchronized (Threads.class) {
                int next = last + 1 & ended.length - 1;
                if (next == first) {
                    ThreadState[] more = new ThreadState[ended.length * 2];
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
            CarrierPin.end();
        }
    }

    /** A thread is about to be started. */
    static void starting(Thread thread) {
        ThreadState self = ThreadState.ready();
        if (self == null || thread.foretrace$state != null) {
            return;
        }
        self.enter();
        try {
            ThreadState child = make(thread);
            if (child != null && self.room()) {
                // Later than all records of the slot's last thread.
                int context = Native.callContext(Native.CALLED);
                long now = self.now(child.time);
                child.time = now;
                // Where each thread starts the next one for ever, not all ancestors are remembered.
                child.forkDepth = self.forkDepth + 1 & MOST_FORK_DEPTH - 1;
                child.parent = child.forkDepth == 0 ? null : self;
                child.forkTick = self.tick;
                child.thread = thread;
                self.put3(Record.head(Record.FORK, 0, 0), now, context, child.slot | (long) child.generation << 32);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    /** What records name a thread by. */
    static long word(ThreadState thread) {
        return thread.slot | (long) thread.generation << 32;
    }

    /** The current thread ends. */
    static void ending() {
        ThreadState self = ThreadState.own();
        if (self == null || self.isOff()) {
            return;
        }
        self.enter();
        self.finish();
        add(self);
    }

    /** What the thread does now happens after all threads that have ended. */
    static void ended(ThreadState self) {
        self.syncFreeRegion++;
        for (ThreadState last : ThreadTable.all()) {
            // The slot's earlier threads have ended, too.
            int generations = last == null ? 0 : last.isFinished ? last.generation : last.generation - 1;
            for (long generation = 1; generation <= generations && self.room(); generation++) {
                self.put3(Record.head(Record.JOIN, 0, 0), self.now(last.time), 0, last.slot | generation << 32);
            }
        }
    }

    /** A thread was waited for, maybe with a time limit: records a join if it has ended. */
    static void joined(ThreadState self, Thread thread, int site) {
        ThreadState other = (ThreadState) thread.foretrace$state;
        if (other != null && other != ThreadState.NONE && other != self && !thread.isAlive() && self.room()) {
            self.syncFreeRegion++;
            int context = self.context(site);
            int kind = self.isWaitingFor(thread) ? Record.JOIN_WAITED : Record.JOIN;
            self.put3(Record.head(kind, 0, 0), self.now(other.time), context, word(other));
        }
    }
}

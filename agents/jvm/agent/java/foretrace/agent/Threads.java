package foretrace.agent;

/** Threads: where they begin and end, and who waits for them. */
final class Threads {
    private Threads() {}

    /** Gives the current thread what it needs to be watched; null if it cannot be. */
    static Buffer attach() {
        Thread thread = Thread.currentThread();
        Buffer made = make(thread);
        return made == null ? null : Buffer.attached();
    }

    private static Buffer make(Thread thread) {
        synchronized (Threads.class) {
            Object known = thread.foretrace$buffer;
            if (known != null) {
                return (Buffer) known;
            }
            int slot = Native.slot();
            if (slot < 0) {
                return null;
            }
            Buffer made = new Buffer(slot);
            thread.foretrace$buffer = made;
            return made;
        }
    }

    /** A thread is about to be started. */
    public static void starting(Thread thread) {
        Buffer b = Buffer.attached();
        if (b == null || b.busy || b.isOff || thread.foretrace$buffer != null) {
            return;
        }
        b.busy = true;
        try {
            Buffer child = make(thread);
            if (child != null && b.room()) {
                long now = b.now(0);
                child.time = now;
                child.parent = b;
                child.forked = b.tick;
                b.put3(Buffer.head(Buffer.FORK, 0, 0), now, Native.place(0), child.slot);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.busy = false;
        }
    }

    /** The current thread ends. */
    public static void ending() {
        Buffer b = Buffer.own();
        if (b == null || b.isOff) {
            return;
        }
        b.busy = true;
        b.finish();
        // Who joins it reads this.
        b.over = true;
    }

    /** A thread has been waited for: whether it is over is asked here. */
    static void joined(Buffer b, Thread thread, int site) {
        Buffer other = (Buffer) thread.foretrace$buffer;
        if (other != null && other != b && !thread.isAlive() && b.room()) {
            b.epoch++;
            b.put3(Buffer.head(Buffer.JOIN, 0, 0), b.now(other.time), b.place(site), other.slot);
        }
    }
}

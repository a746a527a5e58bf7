package foretrace.agent;

import java.lang.ref.WeakReference;

/**
 * Variables that a thread owns again after it was alone with them for a while ({@link AccessFilter#RUN}), although
 * other threads have used them before. What it does then is deferred, and recorded when another thread comes. If none
 * comes, it is recorded when the program ends: its last accesses may race with what was before.
 *
 * (What the native agent does for all of memory: agents/runtime/src/filter/remaining.rs. Here, objects move and die, so
 * the variables are listed.)
 */
final class Remaining {
    /** So many are remembered, the last ones. */
    private static final int MOST = 1 << 14;
    private static final Remaining[] ALL = new Remaining[MOST];
    private static int next;

    /** The object or array with the cell; null: a static field's. It is not kept alive. */
    private final WeakReference<Object> of;
    private final long w, r, d, address, base;
    private final int shift;

    private Remaining(Object of, long w, long r, long d, long address, long base, int shift) {
        this.of = of == null ? null : new WeakReference<>(of);
        this.w = w;
        this.r = r;
        this.d = d;
        this.address = address;
        this.base = base;
        this.shift = shift;
    }

    /** A thread owns a variable again. */
    static void add(Object of, long w, long r, long d, long address, long base, int shift) {
        Remaining made = new Remaining(of, w, r, d, address, base, shift);
        CarrierPin.begin();
        try {
            synchronized (ALL) {
                ALL[next++ & MOST - 1] = made;
            }
        } finally {
            CarrierPin.end();
        }
    }

    /** The program ends: records what is still deferred of them. */
    static void record(ThreadState writer) {
        for (int i = 0; i < MOST; i++) {
            Remaining one = ALL[i];
            if (one == null) {
                return;
            }
            Object of = one.of == null ? null : one.of.get();
            boolean isGone = of == null && one.of != null;
            if (!isGone && writer.room()) {
                AccessFilter.share(writer, of, one.w, one.r, one.d, one.address, one.base, one.shift, null);
            }
        }
    }
}

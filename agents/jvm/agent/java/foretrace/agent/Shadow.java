package foretrace.agent;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/** What is known of an object: its address as it is told, and who has its monitor. */
final class Shadow extends WeakReference<Object> {
    /** With the number of a class: the class itself is the object. */
    private static final int AS_OBJECT = 1 << 31;
    /** Cells of an array; longer ones have one for several elements. */
    private static final int MOST_CELLS = 1 << 16;

    /** The class's number, and how many fields its objects have. */
    private static final ClassValue<Long> KINDS = new ClassValue<Long>() {
        @Override
        protected Long computeValue(Class<?> of) {
            return Native.kind(of);
        }
    };

    /** In {@link Shadows}: by what it is found, and the next of its chain. */
    final int hash;
    Shadow next;
    /** Its address; what it consists of is behind it, eight bytes each. */
    final long address;
    /** The thread that has its monitor or lock ({@link ThreadState#mark}; 0: none), and how often. */
    int holder;
    int count;
    /** When it was given back last. */
    long stamp;
    /** The lock that it is a condition of. */
    Shadow lock;
    /** What it is a view of; null: itself. */
    private Shadow viewOf;
    /** The field that it stands for. */
    FieldHandle variable;
    /** When its entries were posted last ({@link EntrySync}); null: none was. */
    volatile long[] stamps;
    /** When it was posted as a whole, in a line of the cache of its own. */
    private volatile long[] posted;
    /** How often somebody posted after somebody had awaited every entry; and that nobody has since. */
    volatile int postEpoch;
    volatile boolean isFullyAwaited;
    /** Of a queue: what comes back from who takes; of a stamped lock, to writers from readers. */
    private volatile Shadow back;
    /** Of a stamped lock: another thread gave a stamp back than the one that took it ({@link StampedLocks}). */
    volatile boolean isReleasedByOther;
    /** Where it was made is told. */
    boolean hasSite;
    /** How many parts it has. */
    final int parts;
    /** Of an array: the cells of its elements, three words each, and how many elements share one (as a power of two). */
    volatile long[] cells;
    private int shift;

    Shadow(Object of, ReferenceQueue<Object> gone, int hash, int site) {
        // An object that has this itself is not to be found by it.
        super(gone == null ? null : of, gone);
        this.hash = hash;
        if (of instanceof Class) {
            parts = 0;
            address = Native.object((int) (long) KINDS.get((Class<?>) of) | AS_OBJECT, 0, 0);
        } else {
            long kind = KINDS.get(of.getClass());
            parts = parts(of, (int) (kind >>> 32));
            int made = of instanceof Watched ? (int) (((Watched) of).foretrace$born >>> Watched.MADE_SHIFT) : site;
            hasSite = made != 0;
            address = Native.object((int) kind, parts, made);
        }
    }

    /** How many parts an object has: fields, elements, or what is told apart of a collection. */
    private static int parts(Object of, int fields) {
        if (of.getClass().isArray()) {
            return java.lang.reflect.Array.getLength(of);
        }
        if (of instanceof java.util.concurrent.atomic.AtomicIntegerArray) {
            return ((java.util.concurrent.atomic.AtomicIntegerArray) of).length();
        }
        if (of instanceof java.util.concurrent.atomic.AtomicLongArray) {
            return ((java.util.concurrent.atomic.AtomicLongArray) of).length();
        }
        if (of instanceof java.util.concurrent.atomic.AtomicReferenceArray) {
            return ((java.util.concurrent.atomic.AtomicReferenceArray<?>) of).length();
        }
        return Math.max(fields, of instanceof Watched ? 0 : EntrySync.COUNT);
    }

    /** The address of the variable that stands for what it guards as a lock, and what nobody sees. */
    long unseen() {
        return address + 8L * (parts + 1);
    }

    /** What is told of it is told of another. */
    void setViewOf(Shadow whole) {
        if (whole != this) {
            viewOf = whole;
        }
    }

    /** What it is a view of, or itself. */
    Shadow whole() {
        Shadow whole = this;
        for (int i = 0; whole.viewOf != null && i < 8; i++) {
            whole = whole.viewOf;
        }
        return whole;
    }

    long[] stamps() {
        long[] known = stamps;
        return known != null ? known : makeStamps();
    }

    /** When it was posted as a whole: in the first of these. */
    long[] posted() {
        long[] known = posted;
        return known != null ? known : makePosted();
    }

    private long[] makePosted() {
        CarrierPin.begin();
        try {
            synchronized (this) {
                if (posted == null) {
                    posted = new long[EntrySync.APART];
                }
                return posted;
            }
        } finally {
            CarrierPin.end();
        }
    }

    /** Somebody has posted. */
    void notePost() {
        if (isFullyAwaited) {
            CarrierPin.begin();
            try {
                synchronized (this) {
                    postEpoch++;
                    isFullyAwaited = false;
                }
            } finally {
                CarrierPin.end();
            }
        }
    }

    Shadow back() {
        Shadow known = back;
        return known != null ? known : makeBack();
    }

    private Shadow makeBack() {
        CarrierPin.begin();
        try {
            synchronized (this) {
                if (back == null) {
                    back = new Shadow(new Object(), null, 0, 0);
                }
                return back;
            }
        } finally {
            CarrierPin.end();
        }
    }

    boolean isPosted() {
        return posted != null;
    }

    /** It is posted for the first time: who sees that sees also when. */
    void firstPosted(long now) {
        long[] made = new long[EntrySync.APART];
        made[0] = now;
        posted = made;
    }

    private long[] makeStamps() {
        CarrierPin.begin();
        try {
            synchronized (this) {
                if (stamps == null) {
                    stamps = new long[EntrySync.COUNT * EntrySync.APART];
                }
                return stamps;
            }
        } finally {
            CarrierPin.end();
        }
    }

    /** A thread got an object from a variable that is watched, or was handed it by something that is told. */
    static void noteReached(ThreadState self, Object object) {
        if (object instanceof Watched) {
            Watched watched = (Watched) object;
            long bit = 1L << (self.slot & 63);
            if ((watched.foretrace$seen & bit) == 0) {
                watched.foretrace$seen |= bit;
            }
        }
    }

    /** Whether a thread can have an object only from memory that is not watched: it was not there when the thread was started, and nobody saw how it came. Then all that was done
     * to it before comes before that, in whatever order. (Of an object that has not this in itself, nobody knows.) */
    static boolean cameUnwatched(ThreadState self, Object object) {
        if (!(object instanceof Watched)) {
            return false;
        }
        Watched watched = (Watched) object;
        return (watched.foretrace$seen & 1L << (self.slot & 63)) == 0 && !self.existedAtFork(watched.foretrace$born & (1L << Watched.MADE_SHIFT) - 1);
    }

    /** The cells of an array's elements. */
    long[] cells(int length) {
        long[] known = cells;
        return known != null ? known : makeCells(length);
    }

    private long[] makeCells(int length) {
        CarrierPin.begin();
        try {
            synchronized (this) {
                if (cells == null) {
                    while (length - 1 >>> shift >= MOST_CELLS) {
                        shift++;
                    }
                    cells = new long[3 * Math.max(1, (length - 1 >>> shift) + 1)];
                }
                return cells;
            }
        } finally {
            CarrierPin.end();
        }
    }

    int shift() {
        return shift;
    }
}

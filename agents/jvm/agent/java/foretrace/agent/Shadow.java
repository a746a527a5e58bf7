package foretrace.agent;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/**
 * What the agent knows of an object: its address in records, its lock's holder, and the times of its last releases.
 *
 * <pre>
 * Addresses of an object with n parts; no other object ever gets them:
 *
 *   address             the object itself, as a lock or as a whole
 *   address + 8 + 8*i   part i: a field (those of super classes first), an element, or an entry of a collection
 *   address + 8 + 8*n   what the object guards as a lock, unseen by the agent ({@link #unseen})
 * </pre>
 */
final class Shadow extends WeakReference<Object> {
    /** Beside the number of a class: the object is the class itself. */
    private static final int AS_OBJECT = 1 << 31;
    /** The most cells of an array. Elements of longer arrays share cells. */
    private static final int MOST_CELLS = 1 << 16;
    /** How many elements of a list share a shadow, and how many of these a list has. Others are not watched. */
    static final int SOME_ELEMENTS = 1 << 8, MOST_ELEMENTS = 1 << 8;

    /** For each class its number, and how many fields its objects have. */
    private static final ClassValue<Long> KINDS = new ClassValue<Long>() {
        @Override
        protected Long computeValue(Class<?> of) {
            return Native.kind(of);
        }
    };

    /** In {@link Shadows}: the hash, and the next shadow of the chain. */
    final int hash;
    Shadow next;
    /** The address of the object in records. */
    final long address;
    /**
     * The {@link ThreadClock#number} of the thread that holds the object's monitor or lock (0: none), and how often.
     */
    int holder;
    int count;
    /** The timestamp of the last release. */
    long releaseTime;
    /** Of a condition: its lock. */
    Shadow lock;
    /** The object that this one is a view of; null: of none. */
    private Shadow viewOf;
    /** Of an updater or {@code VarHandle}: the field that it stands for. */
    FieldHandle variable;
    /** The times of the last posts of the entries ({@link EntrySync}); null: there were none. */
    volatile long[] postTimes;
    /** The time of the last post of the whole. It is in an array so that it has a cache line of its own. */
    private volatile long[] posted;
    /** Counts posts that came after an await of all entries; and whether there was none since that await. */
    volatile int postRound;
    volatile boolean isFullyAwaited;
    /**
     * A second object that orders the other way: of a queue, what putters await from takers; of a stamped lock, what
     * writers await from readers.
     */
    private volatile Shadow back;
    /** Of a list: shadows of its elements, {@link #SOME_ELEMENTS} each. */
    private volatile Shadow[] elements;
    /** Of a lock of java.util.concurrent: the object's monitor, which is another lock. */
    private volatile Shadow monitor;
    /** Of a stamped lock: a thread released a stamp that another one acquired ({@link StampedLocks}). */
    volatile boolean isReleasedByOther;
    /** How many posts an await of this latch-like object needs, if that is recorded ({@link Grants}). */
    volatile int needed;
    /** It is a barrier, and that is recorded: arrivals and departures are other records than other uses. */
    volatile boolean isBarrier;
    /** It was posted. (It has a time from when it is recorded how many posts it needs.) */
    boolean hasPosts;
    /** It is recorded that something else than the records show may grant it. */
    volatile boolean isFromOutside;
    /** The site where the object was made is recorded. */
    boolean hasSite;
    /** How many parts the object has. */
    final int parts;
    /** Of an array: the cells of its elements, three words each. 2^shift elements share a cell. */
    volatile long[] cells;
    private int shift;

    Shadow(Object of, ReferenceQueue<Object> gone, int hash, int site) {
        // An object that has its shadow in a field is not looked up by it.
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

    /** Of some elements of a list. */
    private Shadow(long kind) {
        super(null, null);
        hash = 0;
        parts = SOME_ELEMENTS;
        address = Native.object((int) kind, parts, 0);
    }

    /** Elements of this list have shadows. */
    boolean hasElements() {
        return elements != null;
    }

    /** The shadow of some elements of this list; null if there are too many. */
    Shadow elements(long index) {
        long at = index / SOME_ELEMENTS;
        if (at >= MOST_ELEMENTS) {
            return null;
        }
        Shadow[] known = elements;
        Shadow some = known != null && at < known.length ? known[(int) at] : null;
        return some != null ? some : makeElements((int) at);
    }

    private Shadow makeElements(int at) {
        Object of = get();
        if (of == null) {
            return null;
        }
        long kind = KINDS.get(of.getClass());
        CarrierPin.begin();
        try {
            synchronized (this) {
                Shadow[] known = elements == null ? new Shadow[0] : elements;
                if (at < known.length && known[at] != null) {
                    return known[at];
                }
                // Others may look at the array meanwhile: it is replaced.
                Shadow[] more = java.util.Arrays.copyOf(known, Math.max(known.length, at + 1));
                more[at] = new Shadow(kind);
                elements = more;
                return more[at];
            }
        } finally {
            CarrierPin.end();
        }
    }

    /** How many parts an object has: fields, elements, or entries of a collection. */
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

    /**
     *
     * The address of a variable that stands for everything that the lock guards and the agent does not see ({@link
     * HeldLocks}).
     */
    long unseen() {
        return address + 8L * (parts + 1);
    }

    /** Effects on this object are effects on another one from now on. */
    void setViewOf(Shadow whole) {
        if (whole != this) {
            viewOf = whole;
        }
    }

    /** The object that this one is a view of, in the end; or itself. */
    Shadow whole() {
        Shadow whole = this;
        for (int i = 0; whole.viewOf != null && i < 8; i++) {
            whole = whole.viewOf;
        }
        return whole;
    }

    long[] postTimes() {
        long[] known = postTimes;
        return known != null ? known : makePostTimes();
    }

    /** The first element is the time of the last post of the whole. */
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

    /** Ends the short cut of threads that have awaited all entries. */
    void notePost() {
        if (isFullyAwaited) {
            CarrierPin.begin();
            try {
                synchronized (this) {
                    postRound++;
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

    /** The monitor of the object, which is this lock. */
    Shadow monitor(Object of) {
        Shadow known = monitor;
        return known != null ? known : makeMonitor(of);
    }

    Shadow existingMonitor() {
        return monitor;
    }

    private Shadow makeMonitor(Object of) {
        CarrierPin.begin();
        try {
            synchronized (this) {
                if (monitor == null) {
                    monitor = new Shadow(of, null, 0, 0);
                }
                return monitor;
            }
        } finally {
            CarrierPin.end();
        }
    }

    boolean isPosted() {
        return posted != null;
    }

    /** The first post: a thread that sees the array sees the time in it. */
    void firstPosted(long now) {
        long[] made = new long[EntrySync.APART];
        made[0] = now;
        posted = made;
    }

    private long[] makePostTimes() {
        CarrierPin.begin();
        try {
            synchronized (this) {
                if (postTimes == null) {
                    postTimes = new long[EntrySync.COUNT * EntrySync.APART];
                }
                return postTimes;
            }
        } finally {
            CarrierPin.end();
        }
    }

    /** A thread got an object from a variable of a watched class, or by an effect. */
    static void noteReached(ThreadState self, Object object) {
        if (object instanceof Watched) {
            Watched watched = (Watched) object;
            long bit = 1L << (self.slot & 63);
            if ((watched.foretrace$seen & bit) == 0) {
                watched.foretrace$seen |= bit;
            }
        }
    }

    /**
     * Whether a thread can have got an object only through memory that is not watched: the object did not exist when
     * the thread was started, and no variable of a watched class or effect led to it. Whatever passed it on ordered
     * what was done to it before. (Of objects without these fields, nothing is known.)
     */
    static boolean cameUnwatched(ThreadState self, Object object) {
        if (!(object instanceof Watched)) {
            return false;
        }
        Watched watched = (Watched) object;
        return (watched.foretrace$seen & 1L << (self.slot & 63)) == 0
            && !self.existedAtFork(watched.foretrace$born & (1L << Watched.MADE_SHIFT) - 1);
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

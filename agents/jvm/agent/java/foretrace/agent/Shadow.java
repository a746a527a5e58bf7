package foretrace.agent;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/** What is known of an object: its address as it is told, and who has its monitor. */
final class Shadow extends WeakReference<Object> {
    /** Objects that a thread has at hand. */
    static final int NEAR = 64;
    /** With the number of a class: the class itself is the object. */
    private static final int AS_OBJECT = 1 << 31;
    /** Cells of an array; longer ones have one for several elements. */
    private static final int MOST_CELLS = 1 << 16;

    private static final int STRIPES = 64;
    private static final Table[] TABLES = new Table[STRIPES];

    /** The class's number, and how many fields its objects have. */
    private static final ClassValue<Long> KINDS = new ClassValue<Long>() {
        @Override
        protected Long computeValue(Class<?> of) {
            return Native.kind(of);
        }
    };

    static {
        for (int i = 0; i < STRIPES; i++) {
            TABLES[i] = new Table();
        }
    }

    private final int hash;
    private Shadow next;
    /** Its address; what it consists of is behind it, eight bytes each. */
    final long address;
    /** The thread that has its monitor or lock ({@link Buffer#mark}; 0: none), and how often. */
    int holder;
    int count;
    /** When it was given back last. */
    long stamp;
    /** The lock that it is a condition of. */
    Shadow lock;
    /** What it is a view of; null: itself. */
    private Shadow stands;
    /** The field that it stands for. */
    Variable variable;
    /** When its entries were posted last ({@link Entries}); null: none was. */
    volatile long[] stamps;
    /** When it was posted as a whole, in a line of the cache of its own. */
    private volatile long[] posted;
    /** How often somebody posted after somebody had awaited every entry; and that nobody has since. */
    volatile int disturbances;
    volatile boolean isQuiet;
    /** Of a queue: what comes back from who takes; of a stamped lock, to writers from readers. */
    private volatile Shadow back;
    /** Of a stamped lock: another thread gave a stamp back than the one that took it ({@link Stamps}). */
    volatile boolean isHandedOver;
    /** Of a queue with bounds: how many it holds; 0: not known yet. */
    int capacity;
    /** Where it was made is told. */
    private boolean hasSite;
    /** How many parts it has. */
    final int parts;
    /** Of an array: the cells of its elements, three words each, and how many elements share one (as a power of two). */
    volatile long[] cells;
    private int shift;

    private Shadow(Object of, ReferenceQueue<Object> gone, int hash, int site) {
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
        return Math.max(fields, of instanceof Watched ? 0 : Entries.COUNT);
    }

    /** The address of the variable that stands for what it guards as a lock, and what nobody sees. */
    long unseen() {
        return address + 8L * (parts + 1);
    }

    /** What is told of it is told of another. */
    void standsFor(Shadow whole) {
        if (whole != this) {
            stands = whole;
        }
    }

    /** What it is a view of, or itself. */
    Shadow whole() {
        Shadow whole = this;
        for (int i = 0; whole.stands != null && i < 8; i++) {
            whole = whole.stands;
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
        Pinned.begin();
        try {
            synchronized (this) {
                if (posted == null) {
                    posted = new long[Entries.APART];
                }
                return posted;
            }
        } finally {
            Pinned.end();
        }
    }

    /** Somebody has posted. */
    void disturb() {
        if (isQuiet) {
            Pinned.begin();
            try {
                synchronized (this) {
                    disturbances++;
                    isQuiet = false;
                }
            } finally {
                Pinned.end();
            }
        }
    }

    Shadow back() {
        Shadow known = back;
        return known != null ? known : makeBack();
    }

    private Shadow makeBack() {
        Pinned.begin();
        try {
            synchronized (this) {
                if (back == null) {
                    back = new Shadow(new Object(), null, 0, 0);
                }
                return back;
            }
        } finally {
            Pinned.end();
        }
    }

    boolean isPosted() {
        return posted != null;
    }

    /** It is posted for the first time: who sees that sees also when. */
    void firstPosted(long now) {
        long[] made = new long[Entries.APART];
        made[0] = now;
        posted = made;
    }

    private long[] makeStamps() {
        Pinned.begin();
        try {
            synchronized (this) {
                if (stamps == null) {
                    stamps = new long[Entries.COUNT * Entries.APART];
                }
                return stamps;
            }
        } finally {
            Pinned.end();
        }
    }

    /** What is known of an object. The site says where the thread looks first. */
    static Shadow of(Object object, Buffer b, int site) {
        if (object instanceof Watched) {
            Shadow known = ((Watched) object).foretrace$shadow;
            return known != null ? known : make((Watched) object);
        }
        int at = site & NEAR - 1;
        Shadow near = b.shadows[at];
        if (near != null && near.get() == object) {
            return near;
        }
        Shadow found = find(object, 0);
        b.shadows[at] = found;
        return found;
    }

    /** Whether an object of the JDK is most often made to be a lock. */
    static boolean isLock(Object object) {
        return object.getClass() == Object.class || object instanceof java.util.concurrent.locks.ReentrantLock
            || object instanceof java.util.concurrent.locks.ReentrantReadWriteLock
            || object instanceof java.util.concurrent.locks.StampedLock;
    }

    /** An object was made at a site. */
    static void made(Object object, int site) {
        if (!(object instanceof Watched)) {
            Shadow made = find(object, site);
            // It may be known from its own constructor.
            if (!made.hasSite) {
                made.hasSite = true;
                Native.made(made.address, site);
            }
        } else if (site >>> Watched.MADE_BITS == 0) {
            ((Watched) object).foretrace$born |= (long) site << Watched.MADE_SHIFT;
        }
    }

    /** What is known of an object, if anything is. */
    static Shadow known(Object object) {
        if (object instanceof Watched) {
            return ((Watched) object).foretrace$shadow;
        }
        int hash = hash(object);
        return TABLES[hash & STRIPES - 1].known(object, hash);
    }

    /** The same; the site says where the thread looks first. */
    static Shadow known(Object object, Buffer b, int site) {
        if (object instanceof Watched) {
            return ((Watched) object).foretrace$shadow;
        }
        int at = site & NEAR - 1;
        Shadow near = b.shadows[at];
        if (near != null && near.get() == object) {
            return near;
        }
        int hash = hash(object);
        Shadow known = TABLES[hash & STRIPES - 1].known(object, hash);
        if (known != null) {
            b.shadows[at] = known;
        }
        return known;
    }

    /** A thread got an object from a variable that is watched, or was handed it by something that is told. */
    static void seen(Buffer b, Object object) {
        if (object instanceof Watched) {
            Watched watched = (Watched) object;
            long bit = 1L << (b.slot & 63);
            if ((watched.foretrace$seen & bit) == 0) {
                watched.foretrace$seen |= bit;
            }
        }
    }

    /** Whether a thread can have an object only from memory that is not watched: it was not there when the thread was started, and nobody saw how it came. Then all that was done
     * to it before comes before that, in whatever order. (Of an object that has not this in itself, nobody knows.) */
    static boolean isHandedOver(Buffer b, Object object) {
        if (!(object instanceof Watched)) {
            return false;
        }
        Watched watched = (Watched) object;
        return (watched.foretrace$seen & 1L << (b.slot & 63)) == 0 && !b.hasInherited(watched.foretrace$born & (1L << Watched.MADE_SHIFT) - 1);
    }

    private static Shadow make(Watched object) {
        Pinned.begin();
        try {
            synchronized (Shadow.class) {
                if (object.foretrace$shadow == null) {
                    object.foretrace$shadow = new Shadow(object, null, 0, 0);
                }
                return object.foretrace$shadow;
            }
        } finally {
            Pinned.end();
        }
    }

    private static Shadow find(Object object, int site) {
        int hash = hash(object);
        return TABLES[hash & STRIPES - 1].find(object, hash, site);
    }

    private static int hash(Object object) {
        int hash = System.identityHashCode(object);
        return hash ^ hash >>> 16;
    }

    /** The cells of an array's elements. */
    long[] cells(int length) {
        long[] known = cells;
        return known != null ? known : makeCells(length);
    }

    private long[] makeCells(int length) {
        Pinned.begin();
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
            Pinned.end();
        }
    }

    int shift() {
        return shift;
    }

    /** Objects that no field could be added to, found by who they are. */
    private static final class Table {
        private final ReferenceQueue<Object> gone = new ReferenceQueue<>();
        private Shadow[] chains = new Shadow[64];
        private int size;

        Shadow known(Object object, int hash) {
            Pinned.begin();
            try {
                synchronized (this) {
                    for (Shadow known = chains[at(hash)]; known != null; known = known.next) {
                        if (known.hash == hash && known.get() == object) {
                            return known;
                        }
                    }
                    return null;
                }
            } finally {
                Pinned.end();
            }
        }

        Shadow find(Object object, int hash, int site) {
            Pinned.begin();
            try {
                synchronized (this) {
                    Shadow known = known(object, hash);
                    if (known != null) {
                        return known;
                    }
                    for (Shadow old = (Shadow) gone.poll(); old != null; old = (Shadow) gone.poll()) {
                        remove(old);
                    }
                    Shadow made = new Shadow(object, gone, hash, site);
                    if (++size > chains.length) {
                        grow();
                    }
                    made.next = chains[at(hash)];
                    chains[at(hash)] = made;
                    return made;
                }
            } finally {
                Pinned.end();
            }
        }

        private int at(int hash) {
            return hash >>> 6 & chains.length - 1;
        }

        private void grow() {
            Shadow[] old = chains;
            chains = new Shadow[old.length * 2];
            for (Shadow first : old) {
                for (Shadow next; first != null; first = next) {
                    next = first.next;
                    int at = at(first.hash);
                    first.next = chains[at];
                    chains[at] = first;
                }
            }
        }

        private void remove(Shadow old) {
            int at = at(old.hash);
            Shadow before = null;
            for (Shadow known = chains[at]; known != null; before = known, known = known.next) {
                if (known == old) {
                    if (before == null) {
                        chains[at] = known.next;
                    } else {
                        before.next = known.next;
                    }
                    size--;
                    return;
                }
            }
        }
    }
}

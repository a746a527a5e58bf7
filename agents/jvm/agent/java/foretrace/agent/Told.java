package foretrace.agent;

import java.util.concurrent.ConcurrentHashMap;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/** What a call tells before and after it, by the class of its receiver (agents/jvm/agent/src/calls.rs packs it). */
final class Told {
    /** The words of the tables, in their order. */
    static final int ACQ = 1, REL = 2, TACQ = 3, RACQ = 4, RREL = 5, RTACQ = 6, UNLOCK = 7, TO_READ = 8, TO_WRITE = 9, TO_OPTIMISTIC = 10,
        WAIT = 11, WOKEN = 12, NOTIFY = 13, NOTIFY_ALL = 14, POST = 15, AWAIT = 16, UP = 17, DOWN = 18, JOIN = 19, LOAD = 20, STORE = 21,
        RMW = 22, FENCE = 23, VIEW = 24, FIELD = 25, PERMITS = 27, CONDITION = 28, READ = 29, WRITE = 30, LOOK = 31, UNSEEN = 32, REQUEST = 33, OPTIMISTIC = 34, VALIDATED = 35,
        PART = 36, CURRENT = 37, ENDED = 38, CHANGE = 39;
    private static final long SIMPLE =
        1L << POST | 1L << AWAIT | 1L << ACQ | 1L << TACQ | 1L << REL | 1L << RACQ | 1L << RTACQ | 1L << RREL | 1L << READ | 1L << WRITE | 1L << LOOK;
    /** Of what something is told. */
    static final int RECEIVER = 0, OBJECT = 1, VARIABLE = 2, THREAD = 3, KEY = 4, KEYS = 5, ELEMENT = 6, ELEMENTS = 7, THIS = 8, ALL = 9, BACK = 10, EACH = 11;
    private static final int OF_SIMPLE = 1 << RECEIVER | 1 << KEY | 1 << ELEMENT | 1 << BACK;
    /** When. */
    static final int ALWAYS = 0, TRUE = 1, FALSE = 2, NEGATIVE = 3;
    /** Memory orders. */
    static final int SEQCST = 0, RELAXED = 1, ACQUIRE = 2, RELEASE = 3, ACQREL = 4;
    /** Where a value is from. */
    static final int NO_VALUE = 0, ARGUMENT = 1, RESULT = 2, BOTH = 3;

    private static final int PAGE_BITS = 10, PAGE = 1 << PAGE_BITS, PAGES = 1 << 14;
    /** The first that is known of a site stays the first: compilers take these arrays, and what is in them, for constants. */
    @Stable private static final Told[][] KNOWN = new Told[PAGES][];
    /** Of classes that may be gone before the machine is, by sites: nothing but the class itself keeps them. */
    private static final ClassValue<ConcurrentHashMap<Integer, Told>> OF_OTHERS = new ClassValue<ConcurrentHashMap<Integer, Told>>() {
        @Override
        protected ConcurrentHashMap<Integer, Told> computeValue(Class<?> of) {
            return new ConcurrentHashMap<>();
        }
    };
    private static final ClassLoader APPLICATION = ClassLoader.getSystemClassLoader(), PLATFORM = ClassLoader.getPlatformClassLoader();
    private static final long[] NOTHING = {};
    /** Of a call: some of these, and {@link #IS}, so that it is never 0. */
    private static final int IS = 1, IS_ATOMIC = 2, IS_SIMPLE = 4, IS_BACK_BEFORE = 8, IS_BACK_AFTER = 16, IS_UNSEEN = 32, IS_SORTED = 64,
        IS_OF_THIS = 128, IS_WRAPPER = 256, IS_FIXED = 512, IS_CONCURRENT = 1024, IS_SAME_ENTRY = 2048;

    @Stable private final Class<?> of;
    @Stable final long[] before;
    @Stable final long[] after;
    @Stable private final int what;
    /** Of a {@link Wrapped}: where it has what it passes calls on to. */
    final long within;
    @Stable private Told next;

    private Told(Class<?> of, long[] all) {
        this.of = of;
        boolean isUnseen = all != null && all[all.length - 1] == UNSEEN;
        all = isUnseen ? java.util.Arrays.copyOf(all, all.length - 1) : all;
        int count = all == null ? 0 : (int) all[0];
        before = count == 0 ? NOTHING : java.util.Arrays.copyOfRange(all, 1, 1 + count);
        after = all == null || all.length <= 1 + count ? NOTHING : java.util.Arrays.copyOfRange(all, 1 + count, all.length);
        boolean atomic = false, simple = true;
        for (long[] column : new long[][] {before, after}) {
            for (long one : column) {
                atomic |= word(one) >= LOAD && word(one) <= RMW;
                simple &= (SIMPLE >>> word(one) & 1) != 0 && (OF_SIMPLE >>> of(one) & 1) != 0;
            }
        }
        boolean isSorted = of != null
            && (java.util.SortedMap.class.isAssignableFrom(of) || java.util.SortedSet.class.isAssignableFrom(of));
        within = Wrapped.at(of);
        what = IS | (atomic ? IS_ATOMIC : 0) | (simple ? IS_SIMPLE : 0)
            | (before.length == 1 && of(before[0]) == BACK ? IS_BACK_BEFORE : 0)
            | (after.length == 1 && of(after[0]) == BACK ? IS_BACK_AFTER : 0) | (isUnseen ? IS_UNSEEN : 0)
            | (isSorted ? IS_SORTED : 0) | (within == 0 ? 0 : Wrapped.isFixed(of) ? IS_WRAPPER | IS_FIXED : IS_WRAPPER)
            | (of != null && Wrapped.isConcurrent(of) ? IS_CONCURRENT : 0)
            | (before.length == 1 && isOfThis(before[0]) ? IS_OF_THIS : 0)
            | (before.length == 1 && after.length == 1 && isSameEntry(before[0], after[0]) ? IS_SAME_ENTRY : 0);
    }

    /** An atomic access is among them. */
    boolean isAtomic() {
        return (what & IS_ATOMIC) != 0;
    }

    /** Only what is told of the receiver, or of entries of it that arguments and results name, and needs nothing else. */
    boolean isSimple() {
        return (what & IS_SIMPLE) != 0;
    }

    /** Only what comes back to who gives to a queue: most often nothing does. */
    boolean isBackBefore() {
        return (what & IS_BACK_BEFORE) != 0;
    }

    boolean isBackAfter() {
        return (what & IS_BACK_AFTER) != 0;
    }

    /** What it does otherwise is not known: it may use what locks guard. */
    boolean isUnseen() {
        return (what & IS_UNSEEN) != 0;
    }

    /** Only a post or an await of the object whose method calls something: always. */
    boolean isOnlyOfThis() {
        return (what & IS_OF_THIS) != 0;
    }

    private static boolean isOfThis(long told) {
        return (word(told) == POST || word(told) == AWAIT) && of(told) == THIS && when(told) == ALWAYS;
    }

    /** Before it, only something of an entry is told, and after it, only that it is awaited. */
    boolean isSameEntry() {
        return (what & IS_SAME_ENTRY) != 0;
    }

    private static boolean isSameEntry(long before, long after) {
        boolean isOfKeys = of(before) == KEY && of(after) == KEY && !isOfResult(before) && !isOfResult(after);
        return isOfKeys && word(before) == POST && when(before) == ALWAYS && word(after) == AWAIT;
    }

    /** Keys are the same by a comparator. */
    boolean isSorted() {
        return (what & IS_SORTED) != 0;
    }

    /** It passes calls on to another collection. */
    boolean isWrapper() {
        return (what & IS_WRAPPER) != 0;
    }

    /** And those that would change it throw something. */
    boolean isFixed() {
        return (what & IS_FIXED) != 0;
    }

    /** Of a collection that others pass calls on to: it synchronises who uses it. */
    boolean isConcurrent() {
        return (what & IS_CONCURRENT) != 0;
    }

    /** Something is changed. */
    boolean changes() {
        for (long one : before) {
            if (word(one) == POST || word(one) == WRITE) {
                return true;
            }
        }
        return false;
    }

    /** What the first call of a site told; null: there was none. To the compiler it is a constant; whether another call tells the same, {@link #isOf} says. */
    @ForceInline
    static Told first(int site) {
        Told[] page = site >>> PAGE_BITS < PAGES ? KNOWN[site >>> PAGE_BITS] : null;
        return page == null ? null : page[site & PAGE - 1];
    }

    /** Whether a call tells this whose receiver (or argument, if it is a static method) is this. */
    @ForceInline
    boolean isOf(Object receiver) {
        return of == (receiver == null ? null : receiver.getClass());
    }

    /** What a call of a site tells, the first or another. */
    static Told at(int site, Object receiver) {
        Class<?> of = receiver == null ? null : receiver.getClass();
        Told known = known(site, of);
        if (known != null) {
            return known;
        }
        return of == null || isKept(of) ? find(site, of) : ofOther(site, of);
    }

    private static Told ofOther(int site, Class<?> of) {
        ConcurrentHashMap<Integer, Told> all = OF_OTHERS.get(of);
        Told known = all.get(site);
        if (known == null) {
            known = new Told(of, Native.told(site, of));
            all.put(site, known);
        }
        return known;
    }

    /** Whether a class is there as long as the machine is. */
    private static boolean isKept(Class<?> of) {
        ClassLoader loader = of.getClassLoader();
        return loader == null || loader == APPLICATION || loader == PLATFORM;
    }

    private static Told known(int site, Class<?> of) {
        for (Told told = first(site); told != null; told = told.next) {
            if (told.of == of) {
                return told;
            }
        }
        return null;
    }

    private static Told find(int site, Class<?> of) {
        Pinned.begin();
        try {
            synchronized (Told.class) {
                // Another thread may have been faster.
                Told found = known(site, of);
                if (found != null) {
                    return found;
                }
                found = new Told(of, Native.told(site, of));
                if (site >>> PAGE_BITS >= PAGES) {
                    return found;
                }
                Told[] page = KNOWN[site >>> PAGE_BITS];
                if (page == null) {
                    page = KNOWN[site >>> PAGE_BITS] = new Told[PAGE];
                }
                Told last = page[site & PAGE - 1];
                while (last != null && last.next != null) {
                    last = last.next;
                }
                Memory.U.storeFence();
                if (last == null) {
                    page[site & PAGE - 1] = found;
                } else {
                    last.next = found;
                }
                return found;
            }
        } finally {
            Pinned.end();
        }
    }

    /** Whether something is told that is told only then. */
    @ForceInline
    static boolean isTold(long told, long result, Object returned) {
        switch (when(told)) {
            case TRUE:
                return result != 0 || returned != null;
            case FALSE:
                return result == 0 && returned == null;
            case NEGATIVE:
                return result < 0;
            default:
                return true;
        }
    }

    /** Which entry of a collection is meant. */
    @ForceInline
    static int entry(long told, Object argument, Object returned, boolean isSorted) {
        Object part = isOfResult(told) ? returned : argument;
        switch (of(told)) {
            case KEY:
                return Entries.of(isSorted ? 1 : Keys.hash(part));
            case ELEMENT:
                return Entries.of(part == null ? 0 : System.identityHashCode(part));
            default:
                return Entries.WHOLE;
        }
    }

    static int word(long told) {
        return (int) told & 0xff;
    }

    static int of(long told) {
        return (int) told >>> 8 & 0xf;
    }

    /** Of as many parts of a collection as another has. */
    static boolean isOfMany(long told) {
        return of(told) == KEYS || of(told) == ELEMENTS;
    }

    static boolean isOfResult(long told) {
        return (told >>> 12 & 1) != 0;
    }

    static int when(long told) {
        return (int) told >>> 13 & 7;
    }

    static int order(long told) {
        return (int) told >>> 16 & 0xf;
    }

    static int value(long told) {
        return (int) told >>> 20 & 0xf;
    }

    static int more(long told) {
        return (byte) (told >>> 24);
    }
}

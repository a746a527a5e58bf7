package foretrace.agent;

import jdk.internal.vm.annotation.Stable;

/** What a call tells before and after it, by the class of its receiver (agents/jvm/agent/src/calls.rs packs it). */
final class Told {
    /** The words of the tables, in their order. */
    static final int ACQ = 1, REL = 2, TACQ = 3, RACQ = 4, RREL = 5, RTACQ = 6, UNLOCK = 7, TO_READ = 8, TO_WRITE = 9, TO_OPTIMISTIC = 10,
        WAIT = 11, WOKEN = 12, NOTIFY = 13, NOTIFY_ALL = 14, POST = 15, AWAIT = 16, UP = 17, DOWN = 18, JOIN = 19, LOAD = 20, STORE = 21,
        RMW = 22, FENCE = 23, VIEW = 24, FIELD = 25, PERMITS = 27, CONDITION = 28, READ = 29, WRITE = 30, LOOK = 31, UNSEEN = 32, REQUEST = 33, OPTIMISTIC = 34, VALIDATED = 35,
        PART = 36, CURRENT = 37;
    private static final long SIMPLE =
        1L << POST | 1L << AWAIT | 1L << ACQ | 1L << TACQ | 1L << REL | 1L << RACQ | 1L << RTACQ | 1L << RREL | 1L << READ | 1L << WRITE | 1L << LOOK;
    /** Of what something is told. */
    static final int RECEIVER = 0, OBJECT = 1, VARIABLE = 2, THREAD = 3, KEY = 4, KEYS = 5, ELEMENT = 6, ELEMENTS = 7, THIS = 8, ALL = 9, BACK = 10;
    private static final int OF_SIMPLE = 1 << RECEIVER | 1 << KEY | 1 << ELEMENT | 1 << BACK;
    /** When. */
    static final int ALWAYS = 0, TRUE = 1, FALSE = 2, NEGATIVE = 3;
    /** Where a value is from. */
    static final int NO_VALUE = 0, ARGUMENT = 1, RESULT = 2, BOTH = 3;

    private static final int PAGE_BITS = 10, PAGE = 1 << PAGE_BITS, PAGES = 1 << 14;
    private static final Told[][] KNOWN = new Told[PAGES][];
    private static final long[] NOTHING = {};

    @Stable private final Class<?> of;
    final long[] before, after;
    /** An atomic access is among them. */
    final boolean isAtomic;
    /** Only what is told of the receiver, or of entries of it that arguments and results name, and needs nothing else. */
    final boolean isSimple;
    /** Only what comes back to who gives to a queue: most often nothing does. */
    final boolean isBackBefore, isBackAfter;
    /** What it does otherwise is not known: it may use what locks guard. */
    final boolean isUnseen;
    private final Told next;

    private Told(Class<?> of, long[] all, Told next) {
        this.of = of;
        isUnseen = all != null && all[all.length - 1] == UNSEEN;
        all = isUnseen ? java.util.Arrays.copyOf(all, all.length - 1) : all;
        int count = all == null ? 0 : (int) all[0];
        before = count == 0 ? NOTHING : java.util.Arrays.copyOfRange(all, 1, 1 + count);
        after = all == null || all.length <= 1 + count ? NOTHING : java.util.Arrays.copyOfRange(all, 1 + count, all.length);
        this.next = next;
        boolean atomic = false, simple = true;
        for (long[] column : new long[][] {before, after}) {
            for (long one : column) {
                atomic |= word(one) >= LOAD && word(one) <= RMW;
                simple &= (SIMPLE >>> word(one) & 1) != 0 && (OF_SIMPLE >>> of(one) & 1) != 0;
            }
        }
        isBackBefore = before.length == 1 && of(before[0]) == BACK;
        isBackAfter = after.length == 1 && of(after[0]) == BACK;
        isAtomic = atomic;
        isSimple = simple;
    }

    /** What the call of a site tells, whose receiver (or argument, if it is a static method) is this. */
    static Told at(int site, Object receiver) {
        Class<?> of = receiver == null ? null : receiver.getClass();
        Told[] page = site >>> PAGE_BITS < PAGES ? KNOWN[site >>> PAGE_BITS] : null;
        for (Told told = page == null ? null : page[site & PAGE - 1]; told != null; told = told.next) {
            if (told.of == of) {
                return told;
            }
        }
        return find(site, of);
    }

    private static synchronized Told find(int site, Class<?> of) {
        long[] all = Native.told(site, of);
        if (site >>> PAGE_BITS >= PAGES) {
            return new Told(of, all, null);
        }
        Told[] page = KNOWN[site >>> PAGE_BITS];
        if (page == null) {
            page = KNOWN[site >>> PAGE_BITS] = new Told[PAGE];
        }
        Told found = new Told(of, all, page[site & PAGE - 1]);
        Memory.U.storeFence();
        page[site & PAGE - 1] = found;
        return found;
    }

    /** Whether something is told that is told only then. */
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
    static int entry(long told, Object argument, Object returned) {
        Object part = isOfResult(told) ? returned : argument;
        switch (of(told)) {
            case KEY:
                return Entries.of(Keys.hash(part));
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

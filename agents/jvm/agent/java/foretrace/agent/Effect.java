package foretrace.agent;

import jdk.internal.vm.annotation.ForceInline;

/**
 *
 * One effect of a call, packed into a long by agents/jvm/agent/src/calls.rs: what is recorded, of which object, and
 * under which condition. The columns of the tables (agents/jvm/weave/src/hooks/concurrent.table) are lists of
 * effects.
 *
 * <pre>
 *    31      24 23    20 19    16 15       13     12     11      8 7       0
 *   | addend   | value  | order  | condition | of result | target |  kind   |
 * </pre>
 */
final class Effect {
    /** Kinds, with the numbers that agents/jvm/weave/src/hooks/effect.rs gives them, too. */
    static final int ACQ = 1, REL = 2, TACQ = 3, RACQ = 4, RREL = 5, RTACQ = 6, UNLOCK = 7, TO_READ = 8, TO_WRITE = 9,
        TO_OPTIMISTIC = 10, WAIT = 11, WOKEN = 12, NOTIFY = 13, NOTIFY_ALL = 14, POST = 15, AWAIT = 16, UP = 17,
        DOWN = 18, JOIN = 19, LOAD = 20, STORE = 21, RMW = 22, FENCE = 23, VIEW = 24, FIELD = 25, PERMITS = 27,
        CONDITION = 28, READ = 29, WRITE = 30, LOOK = 31, UNSEEN = 32, REQUEST = 33, OPTIMISTIC = 34, VALIDATED = 35,
        PART = 36, CURRENT = 37, ENDED = 38, CHANGE = 39, BLOCKS = 40, PASSES = 41, EXITS = 42, OUTSIDE = 43,
        TASK = 44, ELEMENT_READS = 45, FIRST_READ = 46;
    /** Targets: the object that an effect is recorded of. */
    static final int RECEIVER = 0, OBJECT = 1, VARIABLE = 2, THREAD = 3, KEY = 4, KEYS = 5, ELEMENT = 6, ELEMENTS = 7,
        THIS = 8, ALL = 9, BACK = 10, EACH = 11;
    /** Conditions on the result of the call. */
    static final int ALWAYS = 0, TRUE = 1, FALSE = 2, NEGATIVE = 3;
    /** Memory orders. */
    static final int SEQCST = 0, RELAXED = 1, ACQUIRE = 2, RELEASE = 3, ACQREL = 4;
    /** Where the value of an atomic access comes from. */
    static final int NO_VALUE = 0, ARGUMENT = 1, RESULT = 2, BOTH = 3;

    private static final long SIMPLE_KINDS = 1L << POST | 1L << AWAIT | 1L << ACQ | 1L << TACQ | 1L << REL | 1L << RACQ
        | 1L << RTACQ | 1L << RREL | 1L << READ | 1L << WRITE | 1L << LOOK;
    private static final int SIMPLE_TARGETS = 1 << RECEIVER | 1 << KEY | 1 << ELEMENT | 1 << BACK;

    private Effect() {}

    static int kind(long effect) {
        return (int) effect & 0xff;
    }

    static int target(long effect) {
        return (int) effect >>> 8 & 0xf;
    }

    /** The target is what the call returned, or is named by it; else an argument. */
    static boolean isOfResult(long effect) {
        return (effect >>> 12 & 1) != 0;
    }

    static int condition(long effect) {
        return (int) effect >>> 13 & 7;
    }

    static int order(long effect) {
        return (int) effect >>> 16 & 0xf;
    }

    static int value(long effect) {
        return (int) effect >>> 20 & 0xf;
    }

    /** What is to be added to the result to get the value. */
    static int addend(long effect) {
        return (byte) (effect >>> 24);
    }

    static boolean isAtomic(long effect) {
        return kind(effect) >= LOAD && kind(effect) <= RMW;
    }

    /** Of the receiver or an entry of it, and nothing else of the call is needed. */
    static boolean isSimple(long effect) {
        return (SIMPLE_KINDS >>> kind(effect) & 1) != 0 && (SIMPLE_TARGETS >>> target(effect) & 1) != 0
            && !isOfIndex(effect);
    }

    /** A plain access of the element whose index is the value. */
    static boolean isOfIndex(long effect) {
        return (kind(effect) == READ || kind(effect) == WRITE) && value(effect) == ARGUMENT;
    }

    /** Of as many entries of the receiver as another collection has. */
    static boolean isOfMany(long effect) {
        return target(effect) == KEYS || target(effect) == ELEMENTS;
    }

    /** Whether a call with this result has the effect. */
    @ForceInline
    static boolean applies(long effect, long result, Object returned) {
        switch (condition(effect)) {
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

    /** The entry of the receiver that is meant. */
    @ForceInline
    static int entry(long effect, Object argument, Object returned, boolean isSorted) {
        Object part = isOfResult(effect) ? returned : argument;
        switch (target(effect)) {
            case KEY:
                return EntrySync.entryOf(isSorted ? 1 : KeyHashes.hash(part));
            case ELEMENT:
                return EntrySync.entryOf(part == null ? 0 : System.identityHashCode(part));
            default:
                return EntrySync.WHOLE;
        }
    }
}

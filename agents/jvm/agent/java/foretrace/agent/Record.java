package foretrace.agent;

/**
 *
 * The numbers of records, as all agents write them (agents/runtime/src/record.rs says what each record means, and at
 * its head in what records of Java differ).
 *
 * <pre>
 * A record is one to three words; the observer sees it as soon as its first word is not zero:
 *
 *   word 0   63                    16 15      8 7       0
 *           |        payload         |   aux   |  kind  |   payload: an address; aux: see record.rs
 *   word 1   63                    24 23                0
 *           |          time          |   call context   |
 *   word 2  what some kinds add: a value, another address, a thread
 * </pre>
 */
final class Record {
    /** Kinds of records. */
    static final int FULL_TIME = 1, DEFERRED = 3, DROP_BARRIER = 4, TEXT = 5, LOST = 6, ARGUMENT = 10, READ = 16,
        WRITE = 17, WATCHED_READ = 19, WATCHED_WRITE = 20, LOAD = 21, STORE = 22, RMW = 23, FENCE = 24, MARK = 25,
        START = 32,
            END = 33, FORK = 34,
        JOIN = 35, ACQUIRE = 36, RELEASE = 37, READ_ACQUIRE = 38, READ_RELEASE = 39, TRY_ACQUIRE = 40, REQUEST = 42,
        WAIT = 43, WOKEN = 44, NOTIFY = 45, NOTIFY_ALL = 46, POST = 47, AWAIT = 48, UP = 49, DOWN = 50, INIT = 51,
        BEGIN = 53, LEAVE = 54, INTERNAL = 55, MISUSE = 56, DOWN_WAITED = 58, SEEN_WAITING = 59, AWAIT_WAITED = 61,
        JOIN_WAITED = 62, FROM_OUTSIDE = 63;
    /** What the text of a {@link #TEXT} record names. */
    static final int THREAD_NAME = 1, LABEL = 2, MISUSE_TEXT = 4, ARGUMENT_TEXT = 7;
    /** What the value of an {@link #ARGUMENT} is. */
    static final int VALUE_UNKNOWN = 0, VALUE_INT = 1, VALUE_BOOL = 2, VALUE_REAL = 3, VALUE_OBJECT = 4,
        VALUE_THREAD = 5;
    /** Bits of a call context in a record. */
    static final int CONTEXT_BITS = 24;

    private Record() {}

    /** The first word of a record. */
    static long head(int kind, int aux, long payload) {
        return kind | (long) aux << 8 | payload << 16;
    }
}

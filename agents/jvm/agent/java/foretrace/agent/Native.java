package foretrace.agent;

/** The functions of the library (agents/jvm/agent/src/natives.rs) that these classes call. */
final class Native {
    /** Instead of a site: the last call that the program itself made. */
    static final int CALLED = -1;

    private Native() {}

    /** What {@link Memory} is initialised with, in the order of its fields. */
    static native long[] start();

    /** A slot for a thread; -1 if the thread cannot be watched. */
    static native int slot();

    /**
     * Gives back the chunk that a slot has filled (its number + 1; 0: none), and takes the next one. Returns its
     * number + 1; 0 if there is no room; -1 if there is no observer any more.
     */
    static native int chunk(int slot, int filled, long sequence);

    /**
     * Takes a block for the thread with this number, beginning at a sync index. Returns its number; 0 if there are no
     * more.
     */
    static native int block(int slot, int number, long syncIndex);

    /** The program has run for so long that its times do not fit into cells any more. */
    static native void tooLong();

    /** The number of a class (below 2^31); in the upper half, how many fields its objects have. */
    static native long kind(Class<?> of);

    /** The address of a new object with so many fields or elements, and the site where it was made, or 0. */
    static native long object(int kind, long parts, int site);

    /** The object with this address was made at a site. */
    static native void made(long address, int site);

    /** The object with this address is put at a site in a field of the other one (0: the field is static). */
    static native void kept(long address, long owner, int site);

    /** The field that a site accesses in an object of this class ({@link PackedField}). */
    static native long field(int site, Class<?> of);

    /** The field of a name in a class ({@link PackedField}); {@link Cells#STATIC} is part of its kind. */
    static native long named(Class<?> of, String name);

    /** The static field that a site accesses ({@link PackedField}); 0: not watched; -1: its class is not loaded yet. */
    static native long statics(int site);

    /** Whether objects of a class are known to be equal only to themselves. */
    static native boolean areThemselves(Class<?> of);

    /**
     * The effects of a call on a receiver of this class (null: none): how many are before the call, these, and those
     * after it.
     */
    static native long[] effects(int site, Class<?> of);

    /**
     * The call context of the current thread at a site, at 0 (the last call), or at {@link #CALLED}; 0 if there is
     * none.
     */
    static native int callContext(int site);

    /** The call context of another thread: the last call that the program itself made there; 0 if there is none. */
    static native int callContextOf(Thread thread);

    /** The state of a thread, as JVMTI has it. (What the program makes of {@code Thread.getState} does not matter.) */
    static native int stateOf(Thread thread);

    /** Whether the last call of a thread, but for that of {@code Object.wait}, is {@code Thread.join}. */
    static native boolean isJoining(Thread thread);

    /** The object whose monitor a thread waits for, or on which it waits; null if there is none. */
    static native Object monitorOf(Thread thread);

    /** A hook failed. The report says so once, and the program goes on. */
    static native void failed(Throwable why);
}

package foretrace.agent;

/** What the library does for the classes beside it. */
final class Native {
    /** Instead of a site: what the program itself called last. */
    static final int CALLED = -1;

    private Native() {}

    /** Where things are in memory and what is wanted, in the order of {@link Memory}'s fields. */
    static native long[] start();

    /** A slot for a thread; -1 if it is not watched. */
    static native int slot();

    /** Gives the chunk back that a slot has filled (its number + 1; 0: none), and takes the next: its number + 1; 0 if there is none to be had, -1 if nobody reads any more. */
    static native int chunk(int slot, int filled, long sequence);

    /** The number of a new block of positions of a slot, for the thread with this mark; this is the first of them. 0: there are no more. */
    static native int block(int slot, int mark, long position);

    /** The program has run for so long that words have no room for its times. */
    static native void tooLong();

    /** The number of a class (below 2^31), and in the upper half how many fields its objects have. */
    static native long kind(Class<?> of);

    /** The address of a new object of a class, and of so many fields or elements behind it; the site where it was made, or 0. */
    static native long object(int kind, long parts, int site);

    /** An object that has this address was made at a site. */
    static native void made(long address, int site);

    /** Which field a site means of an object of this class: its number among all of the object's, its number in the class that has it << 24, how many classes above this one
     * that is << 44, what its values are << 52, what it is << 56. */
    static native long field(int site, Class<?> of);

    /** The field of this name of a class, as {@link #field} or {@link #statics} has it (with {@link Cells#STATIC} then). */
    static native long named(Class<?> of, String name);

    /** The cell of the static field that a site means, what its values are << 52, what it is << 56; 0: it is nobody's business; -1: its class is not there yet. */
    static native long statics(int site);

    /** Whether objects of a class are surely equal only to themselves. */
    static native boolean areThemselves(Class<?> of);

    /** What a call tells whose receiver is of this class (null: there is none), as {@link CallEffects} has it: how much before it, that, and what it tells after it. */
    static native long[] effects(int site, Class<?> of);

    /** The number of the place where the current thread is: a site, or 0 (what was called last), or {@link #CALLED}, and the calls that led there; 0 if there is none. */
    static native int callContext(int site);

    /** Something went wrong in the agent. It is said once; the program goes on. */
    static native void failed(Throwable why);
}

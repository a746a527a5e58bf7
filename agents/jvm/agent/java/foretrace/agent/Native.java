package foretrace.agent;

/** What the library does for the classes beside it. */
final class Native {
    private Native() {}

    /** Where things are in memory and what is wanted, in the order of {@link Memory}'s fields. */
    static native long[] start();

    /** A slot for a thread; -1 if it is not watched. */
    static native int slot();

    /** Gives the chunk back that a slot has filled (its number + 1; 0: none), and takes the next: its number + 1; 0 if there is none to be had. */
    static native int chunk(int slot, int filled, long sequence);

    /** The number of a new block of positions of a slot; this is the first of them. 0: there are no more. */
    static native int block(int slot, long position);

    /** The number of a class (below 2^31), and above it how many fields its objects have that may be told of. */
    static native long kind(Class<?> of);

    /** The address of a new object of a class, and of so many fields or elements behind it. */
    static native long object(int kind, long parts);

    /** Which field of this class a site means: its number among all fields of an object, its number in the class << 32, what it is << 56. -1: it is not this
     * class's; -2: nor that of those above it. */
    static native long field(int site, Class<?> of);

    /** The cell of the static field that a site means, what it is << 56; 0: it is nobody's business. */
    static native long statics(int site);

    /** What the call of a site tells when the receiver is of this class: two bytes each for before and after. */
    static native long told(int site, Class<?> of);

    /** The address of a static field, as it is told. */
    static native long address(long cell);

    /** Something went wrong in the agent. It is said once; the program goes on. */
    static native void failed(Throwable why);
}

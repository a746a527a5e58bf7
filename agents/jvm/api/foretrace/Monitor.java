package foretrace;

/** What a program says of itself to Foretrace. The methods do nothing; the agent sees their calls. */
public final class Monitor {
    private Monitor() {
    }

    /**
     * An internal event of the calling thread, for specifications: its name, and a value or null. Numbers, booleans and
     * strings are recorded as they are, any other object by its identity.
     */
    public static void internal(String name, Object value) {
    }

    /** Enters a block that is meant to be atomic. */
    public static void begin(String name) {
    }

    /** Leaves the block that was entered last. */
    public static void end(String name) {
    }
}

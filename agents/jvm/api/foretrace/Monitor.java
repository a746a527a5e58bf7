package foretrace;

/**
 * What a program tells Foretrace of itself. Without the agent, nothing happens: the agent sees the calls.
 */
public final class Monitor {
    private Monitor() {
    }

    /** An internal event of the calling thread, for specifications: its name, and a value or null. */
    public static void internal(String name, Object value) {
    }

    /** Enters a block that is meant to be atomic. */
    public static void begin(String name) {
    }

    /** Leaves it. */
    public static void end(String name) {
    }
}

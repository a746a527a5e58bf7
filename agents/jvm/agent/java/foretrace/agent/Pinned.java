package foretrace.agent;

import jdk.internal.vm.Continuation;

/**
 * Keeps a virtual thread on its carrier while it waits for a monitor of the agent's, or has one. From Java 24 on it would leave the carrier and be the next to get the monitor; and if the carrier itself, or
 * another thread that is on it, comes to a hook that wants the same monitor, both wait for ever.
 */
final class Pinned {
    private static final boolean IS = Runtime.version().feature() >= 24;

    private Pinned() {}

    static void begin() {
        if (IS) {
            Continuation.pin();
        }
    }

    static void end() {
        if (IS) {
            Continuation.unpin();
        }
    }
}

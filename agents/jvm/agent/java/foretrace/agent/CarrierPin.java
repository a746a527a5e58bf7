package foretrace.agent;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.annotation.DontInline;

/**
 * Keeps a virtual thread on its carrier while it waits for a monitor of the agent's, or has one. From Java 24 on it would leave the carrier and be the next to get the monitor; and if the carrier itself, or
 * another thread that is on it, comes to a hook that wants the same monitor, both wait for ever.
 */
final class CarrierPin {
    private static final boolean IS = Runtime.version().feature() >= 24;

    /** Calls within calls. */
    private static final int ROOM = 16;

    private CarrierPin() {}

    static void begin() {
        if (IS) {
            stack(ROOM);
            Continuation.pin();
        }
    }

    /** Fails if there is little room on the stack: now, that is, and not in {@link #end}, so that the thread would stay on its carrier for ever. */
    @DontInline
    private static void stack(int room) {
        if (room > 0) {
            stack(room - 1);
        }
    }

    static void end() {
        if (IS) {
            Continuation.unpin();
        }
    }
}

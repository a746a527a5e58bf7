package foretrace.agent;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.annotation.DontInline;

/**
 * Keeps a virtual thread on its carrier while it waits for a monitor of the agent's, or holds one.
 *
 * From Java 24 on, a virtual thread that waits for a monitor leaves its carrier, and is then the next to get the
 * monitor. If the carrier itself, or another virtual thread on it, comes to a hook that wants the same monitor, both
 * wait for ever. (agents/jvm/agent/src/carrier_pin.rs checks that every monitor of the agent's is taken between
 * {@link #begin} and {@link #end}.)
 */
final class CarrierPin {
    private static final boolean IS = Runtime.version().feature() >= 24;

    /** How many nested calls must still fit on the stack. */
    private static final int ROOM = 16;

    private CarrierPin() {}

    static void begin() {
        if (IS) {
            stack(ROOM);
            Continuation.pin();
        }
    }

    /**
     * Overflows the stack here if there is little room. In {@link #end} it would leave the thread pinned for ever.
     */
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

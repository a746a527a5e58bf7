package foretrace.agent;

/** The last thread of each slot: what other threads ask of a thread is found here. */
final class ThreadTable {
    private static ThreadState[] bySlot = new ThreadState[64];
    private static int lastNumber;

    private ThreadTable() {}

    /** A number that no other thread has had. */
    static int newNumber() {
        CarrierPin.begin();
        try {
            synchronized (ThreadTable.class) {
                return ++lastNumber;
            }
        } finally {
            CarrierPin.end();
        }
    }

    /** Adds a thread. */
    static void add(ThreadState state) {
        CarrierPin.begin();
        try {
            synchronized (ThreadTable.class) {
                if (state.slot >= bySlot.length) {
                    bySlot = java.util.Arrays.copyOf(bySlot, Math.max(state.slot + 1, bySlot.length * 2));
                }
                bySlot[state.slot] = state;
            }
        } finally {
            CarrierPin.end();
        }
    }

    /** The last thread of a slot; null if there was none. */
    static ThreadState at(int slot) {
        return slot < bySlot.length ? bySlot[slot] : null;
    }

    /** The last threads of all slots, by their slots; some may be null. */
    static ThreadState[] all() {
        return bySlot;
    }

    /** A lock that some thread holds, and for which the current thread parks. */
    static Shadow findHeld(Object blocker) {
        for (ThreadState some : bySlot) {
            Shadow lock = some == null ? null : some.held.find(blocker);
            if (lock != null) {
                return lock;
            }
        }
        return null;
    }
}

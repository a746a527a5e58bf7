package foretrace.agent;

/**
 * Records what a specification names in the program, or what the program says of itself through {@code
 * foretrace.Monitor}: blocks and events.
 *
 * The values of an event come one by one, before it ({@link #argument}); a thread keeps them ({@link EventValues})
 * until the event takes those that its plan names ({@link EventPlan}).
 */
final class SpecEvents {
    private SpecEvents() {}

    /** A block is entered or left. */
    static void block(int kind, String name, int site) {
        ThreadState self = ThreadState.ready();
        if (self == null || name == null) {
            return;
        }
        self.enter();
        try {
            self.text(Record.LABEL, name);
            if (self.room()) {
                int context = self.context(site);
                self.put2(Record.head(kind, 0, 0), self.now(0), context);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    /** An event of the program's own, with its value if that is not null. */
    static void internal(String name, Object value, int site) {
        ThreadState self = ThreadState.ready();
        if (self == null || name == null) {
            return;
        }
        self.enter();
        try {
            self.text(Record.LABEL, name);
            if (value != null) {
                EventPlan.record(self, EventPlan.ANY, null, value, site);
            }
            put(self, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    /** A value of an event at this site, which comes. */
    static void argument(Object object, long number, double real, byte kind, int site) {
        ThreadState self = ThreadState.ready();
        if (self == null) {
            return;
        }
        self.enter();
        try {
            self.eventValues.push(object, number, real, kind, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    /** An event with the values that its plan names. {@code threw}: an exception came instead of a result. */
    static void event(String name, String plan, boolean threw, int site) {
        ThreadState self = ThreadState.ready();
        if (self == null) {
            return;
        }
        self.enter();
        try {
            EventPlan of = EventPlan.of(plan);
            EventValues values = self.eventValues;
            int first = values.take(of.passed(threw), site);
            if (first < 0 || of.isOfReceiver(values, first)) {
                self.text(Record.LABEL, name);
                of.record(self, first, threw, site);
                put(self, site);
            }
            values.clear();
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    private static void put(ThreadState self, int site) {
        if (self.room()) {
            int context = self.context(site);
            self.put3(Record.head(Record.INTERNAL, 0, 0), self.now(0), context, 0);
        }
    }
}

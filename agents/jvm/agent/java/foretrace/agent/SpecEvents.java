package foretrace.agent;

/**
 * Records what a specification names in the program, or what the program says of itself through {@code
 * foretrace.Monitor}: blocks and events.
 */
final class SpecEvents {
    private static final int WITH_VALUE = 1;

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

    /** An event, with its value if that is a number or a boolean. */
    static void internal(String name, Object value, int site) {
        ThreadState self = ThreadState.ready();
        if (self == null || name == null) {
            return;
        }
        self.enter();
        try {
            self.text(Record.LABEL, name);
            boolean isNumber = value instanceof Long || value instanceof Integer || value instanceof Short
                || value instanceof Byte;
            long number = isNumber ? ((Number) value).longValue() : Boolean.TRUE.equals(value) ? 1 : 0;
            boolean hasValue = isNumber || value instanceof Boolean;
            if (self.room()) {
                int context = self.context(site);
                self.put3(Record.head(Record.INTERNAL, 0, hasValue ? WITH_VALUE : 0), self.now(0), context, number);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }
}

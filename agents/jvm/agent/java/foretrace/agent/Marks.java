package foretrace.agent;

/** What a specification names in the program, or the program tells of itself: blocks and events. */
final class Marks {
    private static final int WITH_VALUE = 1;

    private Marks() {}

    /** A block is entered or left. */
    static void block(int kind, String name, int site) {
        Buffer b = Buffer.ready();
        if (b == null || name == null) {
            return;
        }
        b.enter();
        try {
            b.text(Buffer.LABEL, name);
            if (b.room()) {
                int place = b.place(site);
                b.put2(Buffer.head(kind, 0, 0), b.now(0), place);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }

    /** An event, with a value if that is a number. */
    static void internal(String name, Object value, int site) {
        Buffer b = Buffer.ready();
        if (b == null || name == null) {
            return;
        }
        b.enter();
        try {
            b.text(Buffer.LABEL, name);
            boolean isNumber = value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte;
            long number = isNumber ? ((Number) value).longValue() : Boolean.TRUE.equals(value) ? 1 : 0;
            boolean hasValue = isNumber || value instanceof Boolean;
            if (b.room()) {
                int place = b.place(site);
                b.put3(Buffer.head(Buffer.INTERNAL, 0, hasValue ? WITH_VALUE : 0), b.now(0), place, number);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }
}

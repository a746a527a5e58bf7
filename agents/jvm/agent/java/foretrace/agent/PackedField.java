package foretrace.agent;

/**
 * Takes apart what {@link Native} says of a field (agents/jvm/agent/src/natives.rs packs it).
 *
 * <pre>
 *   a field:          63    56 55       52 51   44 43               24 23                  0
 *                    |  kind  |  encoding | depth |  number in class  |  number in object  |
 *   a static field:   63    56 55       52 51                                            0
 *                    |  kind  |  encoding |               address of the cell             |
 *
 *   kind: as in {@link Cells}; encoding: how records encode its values; depth: super classes between object and field
 * </pre>
 */
final class PackedField {
    private static final long ADDRESS_MASK = (1L << 52) - 1;

    private PackedField() {}

    static int kind(long field) {
        return (int) (field >>> 56);
    }

    /** How records encode the values, in the upper half of their {@code aux}. */
    static int encoding(long field) {
        return (int) (field >>> 52 & 0xf) << 4;
    }

    static int depth(long field) {
        return (int) (field >>> 44) & 0xff;
    }

    static int numberInClass(long field) {
        return (int) (field >>> 24) & 0xfffff;
    }

    static int numberInObject(long field) {
        return (int) field & 0xffffff;
    }

    /** The location of a static field, as {@link Cells} draws it. */
    static long staticLocation(long field) {
        return (field & ADDRESS_MASK) << Cells.OFFSET_SHIFT | kind(field) & Cells.KIND | Cells.STATIC;
    }
}

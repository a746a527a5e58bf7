package foretrace.agent;

import java.lang.ref.WeakReference;

/** The field that an updater or a {@code VarHandle} stands for. */
final class FieldHandle {
    /**
     * The class of the field: at its offset, other classes' objects have something else. The class may be unloaded
     * before its handle.
     */
    private final WeakReference<Class<?>> of;
    /** The field's location, as {@link Cells} draws it. */
    final long location;
    /** The field's number among the fields of an object, and how records encode its values. */
    final int number, encoding;

    private FieldHandle(Class<?> of, long location, int number, int encoding) {
        this.of = new WeakReference<>(of);
        this.location = location;
        this.number = number;
        this.encoding = encoding;
    }

    /** Whether an object has the field. */
    boolean isOf(Object object) {
        Class<?> of = this.of.get();
        return of != null && of.isInstance(object);
    }

    /** The field of this name of a class; null if it is not watched. */
    static FieldHandle of(Class<?> of, String name) {
        long field = Native.named(of, name);
        int kind = PackedField.kind(field) & Cells.KIND, encoding = PackedField.encoding(field);
        if (kind == Cells.NOTHING) {
            return null;
        }
        if ((kind & Cells.STATIC) != 0) {
            return new FieldHandle(of, PackedField.staticLocation(field), 0, encoding);
        }
        long location = Sites.location(of, PackedField.numberInClass(field), kind);
        int number = PackedField.numberInObject(field);
        return location == Cells.NOTHING ? null : new FieldHandle(of, location, number, encoding);
    }
}

package foretrace.agent;

import java.lang.ref.WeakReference;

/** The field that an updater or a {@code VarHandle} stands for. */
final class FieldHandle {
    /**
     * The class of the field: at its offset, other classes' objects have something else. The class may be unloaded
     * before its handle.
     */
    private final WeakReference<Class<?>> of;
    /** The field's place, as {@link Cells} draws it. */
    final long known;
    /** The field's number among the fields of an object, and how records encode its values. */
    final int number, encoding;

    private FieldHandle(Class<?> of, long known, int number, int encoding) {
        this.of = new WeakReference<>(of);
        this.known = known;
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
        int what = (int) (field >>> 56) & Cells.KIND, encoding = (int) (field >>> 52 & 0xf) << 4;
        if (what == Cells.NOTHING) {
            return null;
        }
        if ((what & Cells.STATIC) != 0) {
            return new FieldHandle(of, (field & 0xfffffffffffffL) << Cells.OFFSET_SHIFT | what, 0, encoding);
        }
        long known = Sites.cell(of, (int) (field >>> 24 & 0xfffff), what);
        return known == Cells.NOTHING ? null : new FieldHandle(of, known, (int) (field & 0xffffff), encoding);
    }
}

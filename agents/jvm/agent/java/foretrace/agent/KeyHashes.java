package foretrace.agent;

/**
 *
 * Hashes of keys by which entries are distinguished; equal keys have equal hashes. The program's own {@code hashCode}
 * is not called: it may do anything.
 */
final class KeyHashes {
    /** Whether objects of a class are equal only to themselves. */
    private static final ClassValue<Boolean> ARE_THEMSELVES = new ClassValue<Boolean>() {
        @Override
        protected Boolean computeValue(Class<?> of) {
            return Native.areThemselves(of);
        }
    };

    private KeyHashes() {}

    static int hash(Object key) {
        if (key == null) {
            return 0;
        }
        if (key instanceof String || key instanceof Number && isNumber(key) || key instanceof Enum) {
            return key.hashCode();
        }
        Class<?> of = key.getClass();
        if (of == Character.class || of == java.util.UUID.class) {
            return key.hashCode();
        }
        // Of other objects nothing is known: even two of different classes may be equal.
        return ARE_THEMSELVES.get(of) ? System.identityHashCode(key) : 1;
    }

    private static boolean isNumber(Object key) {
        Class<?> of = key.getClass();
        return of == Integer.class || of == Long.class || of == Short.class || of == Byte.class || of == Double.class
            || of == Float.class || of == java.math.BigInteger.class;
    }
}

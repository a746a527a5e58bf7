package foretrace.agent;

/**
 * Collections that do not synchronise: exactly those of the classes that {@code concurrent.table} lists after {@code
 * ~=}. Each is one variable (its structure); the elements of a list, by their indices, are further ones.
 */
final class PlainCollections {
    private static final java.util.Set<String> NAMES = java.util.Set.of(
        "java.util.ArrayList", "java.util.LinkedList", "java.util.ArrayDeque", "java.util.PriorityQueue",
        "java.util.HashMap", "java.util.LinkedHashMap", "java.util.TreeMap", "java.util.HashSet",
        "java.util.LinkedHashSet", "java.util.TreeSet", "java.util.IdentityHashMap", "java.util.WeakHashMap",
        "java.util.EnumMap");
    /** Elements of a list that one call accesses and that are recorded. */
    private static final int MOST_AT_ONCE = 256;
    private static final ClassValue<Boolean> ARE = new ClassValue<Boolean>() {
        @Override
        protected Boolean computeValue(Class<?> of) {
            return of.getClassLoader() == null && NAMES.contains(of.getName());
        }
    };
    /** The class of the lists that {@code Arrays.asList} makes, and where these have their array. */
    private static final Class<?> ARRAY_LIST = java.util.Arrays.asList().getClass();
    private static final long ARRAY = field(ARRAY_LIST, "a");
    /** The class of the iterators of {@code ArrayList}, and where these have the index of their last element. */
    private static final Class<?> ITERATOR = new java.util.ArrayList<>().iterator().getClass();
    private static final long LAST = field(ITERATOR, "lastRet");

    /** Fields in which views, iterators and wrappers of the JDK have what they are views of. */
    private static final String[] FIELDS = {"c", "m", "q", "s", "base", "root", "i", "this$0"};
    /** Of a class of views, iterators or wrappers: where its objects have what they are views of; 0: not known. */
    private static final ClassValue<Long> INSIDE = new ClassValue<Long>() {
        @Override
        protected Long computeValue(Class<?> of) {
            return inside(of);
        }
    };

    private PlainCollections() {}

    private static long inside(Class<?> of) {
        boolean isView = java.util.Collection.class.isAssignableFrom(of) || java.util.Map.class.isAssignableFrom(of)
            || java.util.Iterator.class.isAssignableFrom(of);
        if (!isView || of.getClassLoader() != null || !of.getPackageName().equals("java.util")) {
            return 0;
        }
        for (Class<?> type = of; type != Object.class; type = type.getSuperclass()) {
            for (String name : FIELDS) {
                try {
                    if (!type.getDeclaredField(name).getType().isPrimitive()) {
                        return field(type, name);
                    }
                } catch (NoSuchFieldException none) {
                    // The next name, or the super class.
                }
            }
        }
        return 0;
    }

    /**
     * The collection that does not synchronise, or list of an array, that an object is a view, an iterator or a wrapper
     * of, or is itself; null: not known. One behind a {@link GuardedCollections guarded collection} only on demand.
     */
    static Object innermost(Object object, boolean isThroughGuarded) {
        for (int depth = 0; object != null && depth < 16; depth++) {
            if (has(object) || object.getClass() == ARRAY_LIST) {
                return object;
            }
            long at = INSIDE.get(object.getClass());
            if (at == 0 || !isThroughGuarded && GuardedCollections.is(object.getClass())) {
                return null;
            }
            object = Memory.reference(object, at);
        }
        return null;
    }

    /** The {@link GuardedCollections guarded collection} that is nearest inside of a wrapper; null: there is none. */
    static Object guardedWithin(Object wrapper) {
        Object object = wrapper;
        for (int depth = 0; object != null && depth < 16; depth++) {
            long at = INSIDE.get(object.getClass());
            object = at == 0 ? null : Memory.reference(object, at);
            if (object != null && GuardedCollections.is(object.getClass())) {
                return object;
            }
        }
        return null;
    }

    private static long field(Class<?> of, String name) {
        try {
            return Memory.U.objectFieldOffset(of, name);
        } catch (InternalError none) {
            return 0;
        }
    }

    static boolean has(Object object) {
        return object != null && ARE.get(object.getClass());
    }

    /** Whether a wrapper has this collection inside, without a view in between. */
    static boolean isDirectly(Object inside, Object wrapper) {
        return Memory.reference(wrapper, INSIDE.get(wrapper.getClass())) == inside;
    }

    /** The plain collection that an object is a view of, or that it is itself; null if there is none. */
    private static Shadow within(ThreadState self, Object object, int site) {
        if (has(object)) {
            return Shadows.of(object, self, site);
        }
        Shadow known = Shadows.existing(object, self, site);
        Shadow whole = known == null ? null : known.whole();
        if (whole != null && whole != known && has(whole.get())) {
            return whole;
        }
        Object inside = innermost(object, false);
        return has(inside) ? Shadows.of(inside, self, site + 1) : null;
    }

    /**
     * All elements of a list are read, or only the first one. Of a long list, some are recorded if elements of it were
     * accessed by their index before.
     */
    static void elements(ThreadState self, Object object, boolean isFirst, int site) {
        if (!has(object) || !(object instanceof java.util.List)) {
            return;
        }
        Shadow list = Shadows.of(object, self, site);
        int size = ((java.util.List<?>) object).size();
        if (size > MOST_AT_ONCE && !list.hasElements()) {
            return;
        }
        for (int at = 0, step = size / MOST_AT_ONCE + 1; at < (isFirst ? Math.min(size, 1) : size); at += step) {
            element(self, list, at, false, site);
        }
    }

    /** All of a collection is copied: the elements of a list are read, too. */
    static void copied(ThreadState self, Object object, int site) {
        read(self, object, site);
        elements(self, object, false, site);
        if (GuardedCollections.is(object.getClass())) {
            // The constructor calls it, which takes its lock.
            self.guarded = object;
            self.guardedSite = site;
        }
    }

    /** All of a collection is read, if it is plain or a view of a plain one. */
    static void read(ThreadState self, Object object, int site) {
        Shadow whole = within(self, object, site);
        if (whole != null) {
            Accesses.whole(self, whole, false, site);
        }
    }

    /** A view is looked at. What is no view of a plain collection may use what the held locks guard. */
    static void look(ThreadState self, Object by, int site) {
        Shadow whole = has(by) ? null : within(self, by, site);
        if (whole != null) {
            Accesses.whole(self, whole, false, site);
            moved(self, by, site);
            if (LAST != 0 && by.getClass() == ITERATOR) {
                element(self, whole, Memory.U.getInt(by, LAST), false, site);
            } else if (whole.get() instanceof java.util.List) {
                self.held.markInside(self);
            }
        } else if (by.getClass() == ARRAY_LIST && ARRAY != 0) {
            Accesses.elements(self, Memory.reference(by, ARRAY), 0, -1, false, site);
        } else {
            self.held.markInside(self);
        }
    }

    /** What an iterator does changes its own position, too. */
    private static void moved(ThreadState self, Object by, int site) {
        if (by instanceof java.util.Iterator) {
            Accesses.whole(self, Shadows.of(by, self, site), true, site);
        }
    }

    /** A collection is changed through a view. */
    static void change(ThreadState self, Object by, int site) {
        // The call throws.
        if (WrappedCollections.isFixed(by.getClass())) {
            return;
        }
        Shadow whole = has(by) ? null : within(self, by, site);
        if (whole != null) {
            Accesses.whole(self, whole, false, site);
            Accesses.whole(self, whole, true, site);
            moved(self, by, site);
            if (whole.get() instanceof java.util.List) {
                self.held.markInside(self);
            }
        } else if (by.getClass() == ARRAY_LIST && ARRAY != 0) {
            Accesses.elements(self, Memory.reference(by, ARRAY), 0, -1, true, site);
        } else {
            self.held.markInside(self);
        }
    }

    /** An element of a list is read or written by its index. */
    static void element(ThreadState self, Object of, Shadow shadow, long index, boolean isWrite, int site) {
        if (has(of)) {
            element(self, shadow, index, isWrite, site);
        } else if (of.getClass() == ARRAY_LIST && ARRAY != 0 && index >= 0 && index < Integer.MAX_VALUE) {
            Accesses.elements(self, Memory.reference(of, ARRAY), (int) index, (int) index + 1, isWrite, site);
        } else if (isWrite) {
            change(self, of, site);
        } else {
            look(self, of, site);
        }
    }

    private static void element(ThreadState self, Shadow list, long index, boolean isWrite, int site) {
        Shadow some = index < 0 ? null : list.elements(index);
        if (some != null) {
            Accesses.listElement(self, some, (int) index & Shadow.SOME_ELEMENTS - 1, isWrite, site);
        }
    }
}

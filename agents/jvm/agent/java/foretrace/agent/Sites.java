package foretrace.agent;

import static foretrace.agent.Memory.U;

import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/** What a site accesses: the location and number of its field, found out when the site is first reached. */
final class Sites {
    private static final int PAGE_BITS = 12, PAGE = 1 << PAGE_BITS, PAGES = 1 << 12;

    /** The location of the variable, as {@link Cells} draws it, by site. HotSpot takes it for a constant. */
    @Stable private static final long[][] LOCATIONS = new long[PAGES][];
    private static final int NUMBER_BITS = 24, NUMBER_MASK = (1 << NUMBER_BITS) - 1;

    /** By site: the field's number among those of an object, and above it how records encode its values. */
    @Stable private static final int[][] FIELDS = new int[PAGES][];

    private Sites() {}

    /** The location of the variable that a site accesses; 0 if it is not known yet. */
    @ForceInline
    static long location(int site) {
        long[] page = LOCATIONS[site >>> PAGE_BITS];
        return page == null ? 0 : page[site & PAGE - 1];
    }

    /** The number of the field that a site accesses. */
    static int field(int site) {
        return FIELDS[site >>> PAGE_BITS][site & PAGE - 1] & NUMBER_MASK;
    }

    /** How records encode the values of that field. */
    static int encoding(int site) {
        return FIELDS[site >>> PAGE_BITS][site & PAGE - 1] >>> NUMBER_BITS;
    }

    /** Finds out which field of an object a site accesses. Returns its location. */
    static long resolve(Object object, int site) {
        long field = Native.field(site, object.getClass());
        int kind = PackedField.kind(field);
        Class<?> of = object.getClass();
        for (int depth = PackedField.depth(field); depth > 0; depth--) {
            of = of.getSuperclass();
        }
        long location = kind == Cells.NOTHING ? kind : location(of, PackedField.numberInClass(field), kind);
        set(site, location, PackedField.numberInObject(field) | PackedField.encoding(field) << NUMBER_BITS);
        return location;
    }

    /** The location of a field: the offsets of the three fields that were added for its cell. */
    static long location(Class<?> of, int number, int kind) {
        long location = kind;
        for (int word = 0; word < 3; word++) {
            long offset = U.objectFieldOffset(of, "foretrace$" + number + "wrd".charAt(word));
            if (offset >>> Cells.OFFSET_BITS != 0) {
                return Cells.NOTHING;
            }
            location |= offset << Cells.OFFSET_SHIFT + word * Cells.OFFSET_BITS;
        }
        return location;
    }

    /** Finds out which static field a site accesses. Returns its location, or {@link Cells#UNKNOWN}. */
    static long resolveStatic(int site) {
        long field = Native.statics(site);
        if (field == -1) {
            return Cells.UNKNOWN;
        }
        boolean isWatched = field != 0 && PackedField.kind(field) != Cells.NOTHING;
        long location = isWatched ? PackedField.staticLocation(field) : Cells.NOTHING;
        set(site, location, PackedField.encoding(field) << NUMBER_BITS);
        return location;
    }

    /** The offsets of all words of cells in objects of a class. */
    private static final ClassValue<long[]> OFFSETS = new ClassValue<long[]>() {
        @Override
        protected long[] computeValue(Class<?> of) {
            long[] offsets = of.getSuperclass() == null ? new long[0] : OFFSETS.get(of.getSuperclass());
            for (java.lang.reflect.Field field : of.getDeclaredFields()) {
                boolean isStatic = java.lang.reflect.Modifier.isStatic(field.getModifiers());
                if (of != Watched.class && field.getName().startsWith("foretrace$") && field.getType() == long.class
                    && !isStatic) {
                    offsets = java.util.Arrays.copyOf(offsets, offsets.length + 1);
                    offsets[offsets.length - 1] = U.objectFieldOffset(of, field.getName());
                }
            }
            return offsets;
        }
    };

    /** An object is a copy of another one: clears its cells, and its shadow, which it has from the other. */
    static void clear(Object copy) {
        if (copy instanceof Watched) {
            ThreadState self = ThreadState.own();
            ((Watched) copy).foretrace$shadow = null;
            ((Watched) copy).foretrace$born = self == null ? 0 : self.tick;
            ((Watched) copy).foretrace$seen = 0;
        }
        for (long offset : OFFSETS.get(copy.getClass())) {
            U.putLong(copy, offset, 0);
        }
    }

    private static void set(int site, long location, int field) {
        CarrierPin.begin();
        try {
            synchronized (Sites.class) {
                int page = site >>> PAGE_BITS;
                if (page >= PAGES) {
                    return;
                }
                if (LOCATIONS[page] == null) {
                    FIELDS[page] = new int[PAGE];
                    LOCATIONS[page] = new long[PAGE];
                }
                FIELDS[page][site & PAGE - 1] = field;
                U.storeFence();
                LOCATIONS[page][site & PAGE - 1] = location;
            }
        } finally {
            CarrierPin.end();
        }
    }
}

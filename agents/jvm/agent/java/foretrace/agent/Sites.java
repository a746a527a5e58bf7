package foretrace.agent;

import static foretrace.agent.Memory.U;

import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/** What a site accesses: the place and number of its field, found out when the site is first reached. */
final class Sites {
    private static final int PAGE_BITS = 12, PAGE = 1 << PAGE_BITS, PAGES = 1 << 12;

    /** The place of the variable, as {@link Cells} draws it, by site. HotSpot takes it for a constant. */
    @Stable private static final long[][] KNOWN = new long[PAGES][];
    private static final int NUMBER_BITS = 24, NUMBER_MASK = (1 << NUMBER_BITS) - 1;

    /** By site: the field's number among those of an object, and above it how records encode its values. */
    @Stable private static final int[][] FIELDS = new int[PAGES][];

    private Sites() {}

    /** The place of the variable that a site accesses; 0 if it is not known yet. */
    @ForceInline
    static long known(int site) {
        long[] page = KNOWN[site >>> PAGE_BITS];
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

    /** Finds out which field of an object a site accesses. */
    static long of(Object object, int site) {
        long field = Native.field(site, object.getClass());
        int what = (int) (field >>> 56);
        Class<?> of = object.getClass();
        for (long depth = field >>> 44 & 0xff; depth > 0; depth--) {
            of = of.getSuperclass();
        }
        long found = what == Cells.NOTHING ? what : cell(of, (int) (field >>> 24 & 0xfffff), what);
        set(site, found, (int) (field & NUMBER_MASK) | (int) (field >>> 52 & 0xf) << NUMBER_BITS + 4);
        return found;
    }

    /** The place of a field: the offsets of the three fields that were added for its cell. */
    static long cell(Class<?> of, int number, int what) {
        long known = what;
        for (int word = 0; word < 3; word++) {
            long offset = U.objectFieldOffset(of, "foretrace$" + number + "wrd".charAt(word));
            if (offset >>> Cells.OFFSET_BITS != 0) {
                return Cells.NOTHING;
            }
            known |= offset << Cells.OFFSET_SHIFT + word * Cells.OFFSET_BITS;
        }
        return known;
    }

    /** Finds out which static field a site accesses. */
    static long ofStatic(int site) {
        long found = Native.statics(site);
        if (found == -1) {
            return Cells.UNKNOWN;
        }
        int what = (int) (found >>> 56);
        long known = found == 0 || what == Cells.NOTHING
            ? Cells.NOTHING
            : (found & 0xfffffffffffffL) << Cells.OFFSET_SHIFT | what | Cells.STATIC;
        set(site, known, (int) (found >>> 52 & 0xf) << NUMBER_BITS + 4);
        return known;
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

    private static void set(int site, long known, int field) {
        CarrierPin.begin();
        try {
            synchronized (Sites.class) {
                int page = site >>> PAGE_BITS;
                if (page >= PAGES) {
                    return;
                }
                if (KNOWN[page] == null) {
                    FIELDS[page] = new int[PAGE];
                    KNOWN[page] = new long[PAGE];
                }
                FIELDS[page][site & PAGE - 1] = field;
                U.storeFence();
                KNOWN[page][site & PAGE - 1] = known;
            }
        } finally {
            CarrierPin.end();
        }
    }
}

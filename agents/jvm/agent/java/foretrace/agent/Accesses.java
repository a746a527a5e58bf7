package foretrace.agent;

import static foretrace.agent.Memory.U;

import jdk.internal.vm.annotation.ForceInline;

/** Takes accesses of fields, static fields and array elements from the hooks to the {@link AccessFilter}. */
final class Accesses {
    private static final long CELLS = Memory.LONGS;
    /** Elements of an array that one call accesses and that are recorded. */
    private static final int MOST_AT_ONCE = 256;
    /**
     * How elements are accessed: they are written; the end may be beyond that of the array; the end is the result of
     * the call, and all are accessed if it is 0, or those up to it (all if it is negative).
     */
    private static final int WRITE = 1, CLIPS = 2, IF_ZERO = 4, UP_TO = 8;
    /** Longer arrays get no cells because of such calls alone. */
    private static final int MOST_FOR_ALL = 1 << 12;

    private Accesses() {}

    /** A field was read. {@code object} is the value, if it is one. */
    @ForceInline
    static void read(boolean isStatic, Object of, long value, Object object, int site) {
        long location = Sites.location(site);
        if ((int) location == Cells.NOTHING) {
            return;
        }
        ThreadState self = ThreadState.own();
        if ((location & Cells.KIND & ~Cells.STATIC) == Cells.PLAIN && self != null
            && (AccessFilter.fastRead(self, of, Cells.r(location), Cells.d(location), site)
                || isCovered(self, isStatic, of, location, site))) {
            return;
        }
        slow(isStatic, of, location, value, object, site, false);
    }

    /** A field is about to be written. */
    @ForceInline
    static void write(boolean isStatic, Object of, long value, int site) {
        long location = Sites.location(site);
        if ((int) location == Cells.NOTHING) {
            return;
        }
        ThreadState self = ThreadState.own();
        // A write through null throws in the program; the hook records nothing of it.
        if ((location & Cells.KIND & ~Cells.STATIC) == Cells.PLAIN && self != null && (isStatic || of != null)
            && AccessFilter.fastWrite(self, of, Cells.w(location), Cells.d(location), site)) {
            return;
        }
        slow(isStatic, of, location, value, null, site, true);
    }

    private static void slow(
        boolean isStatic, Object of, long location, long value, Object object, int site, boolean isWrite) {
        ThreadState self = ThreadState.ready();
        if (self == null) {
            return;
        }
        self.enter();
        try {
            if (of == null && !isStatic) {
                return;
            }
            if (location == Cells.UNKNOWN) {
                location = isStatic ? Sites.resolveStatic(site) : Sites.resolve(of, site);
            }
            int kind = (int) location & Cells.KIND & ~Cells.STATIC;
            if (kind == Cells.UNKNOWN && isWrite) {
                self.pending = site;
                self.pendingValue = value;
            }
            if (kind == Cells.NOTHING || kind == Cells.UNKNOWN) {
                return;
            }
            long w = Cells.w(location), r = Cells.r(location), d = Cells.d(location);
            if (object != null) {
                Shadow.noteReached(self, object);
            }
            if (kind == Cells.PLAIN) {
                boolean isDeferred = isWrite
                    ? AccessFilter.deferWrite(self, of, w, r, d, site)
                    : AccessFilter.deferRead(self, of, w, r, d, site);
                if (isDeferred) {
                    return;
                }
                long address = address(of, location, self, site);
                if (isWrite) {
                    AccessFilter.recordWrite(self, of, w, r, d, address, address, 0, of, site);
                } else {
                    AccessFilter.recordRead(self, of, w, r, d, address, address, 0, of, site);
                }
                return;
            }
            boolean isVolatile = kind == Cells.VOLATILE;
            int record = isVolatile
                ? isWrite ? Record.STORE : Record.LOAD
                : isWrite ? Record.WATCHED_WRITE : Record.WATCHED_READ;
            if (isWrite) {
                VariableLock.lock(self, of, d);
            }
            AccessFilter.recordValue(self, of, w, r, address(of, location, self, site), record, Sites.encoding(site),
                value, site);
            if (!isWrite) {
                VariableLock.unlock(self);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    /** A field that may be volatile is about to be read. */
    @ForceInline
    static void reading(boolean isStatic, Object of, int site) {
        long location = Sites.location(site);
        int kind = (int) location & Cells.KIND & ~Cells.STATIC;
        if (kind != Cells.PLAIN && kind != Cells.NOTHING && (isStatic || of != null)) {
            slowReading(isStatic, of, location, site);
        }
    }

    private static void slowReading(boolean isStatic, Object of, long location, int site) {
        ThreadState self = ThreadState.ready();
        if (self == null) {
            return;
        }
        self.enter();
        try {
            if (location == Cells.UNKNOWN) {
                location = isStatic ? Sites.resolveStatic(site) : Sites.resolve(of, site);
            }
            int kind = (int) location & Cells.KIND & ~Cells.STATIC;
            if (kind == Cells.VOLATILE || kind == Cells.WATCHED) {
                VariableLock.lock(self, of, Cells.d(location));
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    /** A field that may be volatile was written. */
    @ForceInline
    static void wrote(int site) {
        int kind = (int) Sites.location(site) & Cells.KIND & ~Cells.STATIC;
        if (kind == Cells.VOLATILE || kind == Cells.WATCHED || kind == Cells.UNKNOWN) {
            slowWrote(site);
        }
    }

    private static void slowWrote(int site) {
        ThreadState self = ThreadState.own();
        if (self == null) {
            return;
        }
        if (self.pending == site) {
            slow(true, null, Cells.UNKNOWN, self.pendingValue, null, site, true);
        }
        self.pending = 0;
        VariableLock.unlock(self);
    }

    /** Whether a read needs no record, as far as a look at the read cache can say so. */
    @ForceInline
    private static boolean isCovered(ThreadState self, boolean isStatic, Object of, long location, int site) {
        if (Memory.ALL) {
            return false;
        }
        if (isStatic) {
            return AccessFilter.isCovered(self, null, Cells.w(location), U.getLong(Cells.staticAddress(location)));
        }
        if (!(of instanceof Watched)) {
            return false;
        }
        Shadow shadow = ((Watched) of).foretrace$shadow;
        return shadow != null
            && AccessFilter.isCovered(self, of, Cells.w(location), shadow.address + 8 + 8L * Sites.field(site));
    }

    private static long address(Object of, long location, ThreadState self, int site) {
        return (location & Cells.STATIC) != 0
            ? U.getLong(Cells.staticAddress(location))
            : Shadows.of(of, self, site).address + 8 + 8L * Sites.field(site);
    }

    /** An element was read. */
    @ForceInline
    static void element(Object array, int index, int site) {
        if (Memory.NO_ACCESSES) {
            return;
        }
        ThreadState self = ThreadState.own();
        if (self != null) {
            int at = site & Shadows.CACHE_SIZE - 1;
            Shadow cached = self.shadowCache[at];
            if (cached != null && cached.get() == array) {
                long[] cells = cached.cells;
                if (cells != null) {
                    long cell = CELLS + 24L * (index >>> cached.shift());
                    if (AccessFilter.fastRead(self, cells, cell + 8, cell + 16, site)
                        || !Memory.ALL && AccessFilter.isCovered(self, cells, cell, cached.address + 8 + 8L * index)) {
                        return;
                    }
                }
            }
        }
        slowElement(array, index, site, false);
    }

    /** An element is about to be written. The index may be out of bounds: then the program throws. */
    @ForceInline
    static void store(Object array, int index, int site) {
        if (Memory.NO_ACCESSES) {
            return;
        }
        ThreadState self = ThreadState.own();
        if (self != null) {
            int at = site & Shadows.CACHE_SIZE - 1;
            Shadow cached = self.shadowCache[at];
            if (cached != null && cached.get() == array) {
                long[] cells = cached.cells;
                long number = 3L * (index >>> cached.shift());
                if (cells != null && index >= 0 && number < cells.length) {
                    long cell = CELLS + 8 * number;
                    if (AccessFilter.fastWrite(self, cells, cell, cell + 16, site)) {
                        return;
                    }
                }
            }
        }
        slowElement(array, index, site, true);
    }

    private static void slowElement(Object array, int index, int site, boolean isWrite) {
        ThreadState self = ThreadState.ready();
        if (array == null || self == null) {
            return;
        }
        self.enter();
        try {
            int length = java.lang.reflect.Array.getLength(array);
            if (index >= 0 && index < length) {
                element(self, array, length, index, site, isWrite);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    private static void element(ThreadState self, Object array, int length, int index, int site, boolean isWrite) {
        if (!isWrite && array instanceof Object[]) {
            Shadow.noteReached(self, ((Object[]) array)[index]);
        }
        Shadow shadow = Shadows.of(array, self, site);
        long[] cells = shadow.cells(length);
        long w = CELLS + 24L * (index >>> shadow.shift()), r = w + 8, d = w + 16;
        boolean isDeferred = isWrite
            ? AccessFilter.deferWrite(self, cells, w, r, d, site)
            : AccessFilter.deferRead(self, cells, w, r, d, site);
        if (isDeferred) {
            return;
        }
        long address = shadow.address + 8 + 8L * index, first = shadow.address + 8;
        if (isWrite) {
            AccessFilter.recordWrite(self, cells, w, r, d, address, first, shadow.shift(), array, site);
        } else {
            AccessFilter.recordRead(self, cells, w, r, d, address, first, shadow.shift(), array, site);
        }
    }

    /** Elements of an array are accessed at once, up to a limit. If there are more, only some of them are recorded. */
    static void elements(Object array, int from, int to, int how, int site) {
        ThreadState self = array == null ? null : ThreadState.ready();
        if (self == null) {
            return;
        }
        self.enter();
        try {
            if ((how & IF_ZERO) != 0) {
                to = to == 0 ? -1 : 0;
            } else if ((how & UP_TO) != 0) {
                to = to < 0 ? -1 : Math.min(to + 1, java.lang.reflect.Array.getLength(array));
            } else if (from < 0 && to < 0) {
                from = (java.lang.reflect.Array.getLength(array) - 1) / 2;
                to = from + 1;
            }
            boolean clips = (how & CLIPS) != 0 && array.getClass().isArray();
            int end = clips ? Math.min(to, java.lang.reflect.Array.getLength(array)) : to;
            if (!clips || to >= 0) {
                elements(self, array, from, end, (how & WRITE) != 0, site);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    /** Elements of an array are accessed at once, inside a hook that has begun. */
    static void elements(ThreadState self, Object array, int from, int to, boolean isWrite, int site) {
        if (Memory.NO_ACCESSES || array == null || !array.getClass().isArray()) {
            return;
        }
        int length = java.lang.reflect.Array.getLength(array), end = to < 0 ? length : to;
        // The call throws.
        if (from < 0 || end > length || from > end) {
            return;
        }
        int step = (end - from) / MOST_AT_ONCE + 1;
        if (step == 1 || length <= MOST_FOR_ALL || Shadows.existing(array) != null) {
            for (int index = from; index < end; index += step) {
                element(self, array, length, index, site, isWrite);
            }
        }
        if (step > 1) {
            self.held.markInside(self);
        }
    }

    /** An element of a list. The shadow is that of some elements, and has cells for them. */
    static void listElement(ThreadState self, Shadow some, int index, boolean isWrite, int site) {
        if (Memory.NO_ACCESSES) {
            return;
        }
        long[] cells = some.cells(Shadow.SOME_ELEMENTS);
        long w = CELLS + 24L * index, r = w + 8, d = w + 16, address = some.address + 8 + 8L * index;
        boolean isDeferred = isWrite
            ? AccessFilter.deferWrite(self, cells, w, r, d, site)
            : AccessFilter.deferRead(self, cells, w, r, d, site);
        if (isDeferred) {
            return;
        }
        if (isWrite) {
            AccessFilter.recordWrite(self, cells, w, r, d, address, address, 0, null, site);
        } else {
            AccessFilter.recordRead(self, cells, w, r, d, address, address, 0, null, site);
        }
    }

    /** An access of an object as a whole, for collections whose parts are not watched. */
    static void whole(ThreadState self, Shadow of, boolean isWrite, int site) {
        if (Memory.NO_ACCESSES) {
            return;
        }
        long[] cells = of.cells(1);
        long w = CELLS, r = w + 8, d = w + 16;
        boolean isDeferred = isWrite
            ? AccessFilter.deferWrite(self, cells, w, r, d, site)
            : AccessFilter.deferRead(self, cells, w, r, d, site);
        if (isDeferred) {
            return;
        }
        if (isWrite) {
            AccessFilter.recordWrite(self, cells, w, r, d, of.address, of.address, 0, null, site);
        } else {
            AccessFilter.recordRead(self, cells, w, r, d, of.address, of.address, 0, null, site);
        }
    }
}

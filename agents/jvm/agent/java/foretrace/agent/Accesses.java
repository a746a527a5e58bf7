package foretrace.agent;

import static foretrace.agent.Memory.U;

import jdk.internal.vm.annotation.ForceInline;

/** Accesses of fields, static fields and elements, from the hooks to the cells. */
final class Accesses {
    /** The memory order of volatile accesses, and their size. */
    private static final int SEQUENTIAL = 0, EIGHT_BYTES = 3 << 4;
    /** The value is not known. */
    static final int UNKNOWN = 0x80;
    private static final long CELLS = jdk.internal.misc.Unsafe.ARRAY_LONG_BASE_OFFSET;

    private Accesses() {}

    /** A field was read. */
    @ForceInline
    static void read(boolean isStatic, Object of, long value, int aux, int site) {
        long known = Sites.known(site);
        if ((int) known == Cells.NOTHING) {
            return;
        }
        Buffer b = Buffer.own();
        if ((known & Cells.WHAT & ~Cells.STATIC) == Cells.PLAIN && b != null
            && Cells.quickRead(b, of, Cells.r(known), Cells.d(known), site)) {
            return;
        }
        slow(isStatic, of, known, value, aux, site, false);
    }

    /** A field is about to be written. */
    @ForceInline
    static void write(boolean isStatic, Object of, long value, int aux, int site) {
        long known = Sites.known(site);
        if ((int) known == Cells.NOTHING) {
            return;
        }
        Buffer b = Buffer.own();
        // The program is told that there is no object when it writes.
        if ((known & Cells.WHAT & ~Cells.STATIC) == Cells.PLAIN && b != null && (isStatic || of != null)
            && Cells.quickWrite(b, of, Cells.w(known), Cells.d(known), site)) {
            return;
        }
        slow(isStatic, of, known, value, aux, site, true);
    }

    private static void slow(
        boolean isStatic, Object of, long known, long value, int aux, int site, boolean isWrite) {
        Buffer b = Buffer.attached();
        if (b == null || b.busy || b.isOff()) {
            return;
        }
        b.busy = true;
        try {
            if (of == null && !isStatic) {
                return;
            }
            if (known == Cells.UNKNOWN) {
                known = isStatic ? Sites.ofStatic(site) : Sites.of(of, site);
            }
            int what = (int) known & Cells.WHAT & ~Cells.STATIC;
            if (what == Cells.NOTHING) {
                return;
            }
            long w = Cells.w(known), r = Cells.r(known), d = Cells.d(known);
            if (what == Cells.PLAIN) {
                if (isWrite ? Cells.keepWrite(b, of, w, r, d, site) : Cells.keepRead(b, of, w, r, d, site)) {
                    return;
                }
                long address = address(of, known, b, site);
                if (isWrite) {
                    Cells.tellWrite(b, of, w, r, d, address, 0, site);
                } else {
                    Cells.tellRead(b, of, w, r, d, address, 0, site);
                }
                return;
            }
            boolean isVolatile = what == Cells.VOLATILE;
            int kind = isVolatile ? isWrite ? Buffer.STORE : Buffer.LOAD : isWrite ? Buffer.WATCHED_WRITE : Buffer.WATCHED_READ;
            int of8 = isVolatile ? EIGHT_BYTES | SEQUENTIAL | aux : 3 | aux;
            Cells.tellValue(b, of, w, r, address(of, known, b, site), kind, of8, value, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.busy = false;
        }
    }

    private static long address(Object of, long known, Buffer b, int site) {
        return (known & Cells.STATIC) != 0
            ? U.getLong((known >>> Cells.OFFSET_SHIFT) + 24)
            : Shadow.of(of, b, site).address + 8 + 8L * Sites.field(site);
    }

    /** An element was read. */
    @ForceInline
    static void element(Object array, int index, int site) {
        Buffer b = Buffer.own();
        if (b != null) {
            int at = site & Shadow.NEAR - 1;
            Shadow near = b.shadows[at];
            if (near != null && b.near[at] == array) {
                long[] cells = near.cells;
                if (cells != null) {
                    long cell = CELLS + 24L * (index >>> near.shift());
                    if (Cells.quickRead(b, cells, cell + 8, cell + 16, site)) {
                        return;
                    }
                }
            }
        }
        slowElement(array, index, site, false);
    }

    /** An element is about to be written, if there is one. */
    @ForceInline
    static void store(Object array, int index, int site) {
        Buffer b = Buffer.own();
        if (b != null) {
            int at = site & Shadow.NEAR - 1;
            Shadow near = b.shadows[at];
            if (near != null && b.near[at] == array) {
                long[] cells = near.cells;
                int number = 3 * (index >>> near.shift());
                if (cells != null && index >= 0 && number < cells.length) {
                    long cell = CELLS + 8L * number;
                    if (Cells.quickWrite(b, cells, cell, cell + 16, site)) {
                        return;
                    }
                }
            }
        }
        slowElement(array, index, site, true);
    }

    private static void slowElement(Object array, int index, int site, boolean isWrite) {
        Buffer b = Buffer.attached();
        if (array == null || b == null || b.busy || b.isOff()) {
            return;
        }
        b.busy = true;
        try {
            int length = java.lang.reflect.Array.getLength(array);
            if (index < 0 || index >= length) {
                return;
            }
            Shadow shadow = Shadow.of(array, b, site);
            long[] cells = shadow.cells(length);
            long w = CELLS + 24L * (index >>> shadow.shift()), r = w + 8, d = w + 16;
            if (isWrite ? Cells.keepWrite(b, cells, w, r, d, site) : Cells.keepRead(b, cells, w, r, d, site)) {
                return;
            }
            long address = shadow.address + 8 + 8L * index;
            if (isWrite) {
                Cells.tellWrite(b, cells, w, r, d, address, shadow.shift(), site);
            } else {
                Cells.tellRead(b, cells, w, r, d, address, shadow.shift(), site);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.busy = false;
        }
    }
}

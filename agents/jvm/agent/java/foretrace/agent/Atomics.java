package foretrace.agent;

import static foretrace.agent.Memory.U;

/**
 * Atomic accesses by calls: of objects that are a variable ({@code AtomicInteger}), of fields through an updater or a
 * {@code VarHandle}, and of elements.
 */
final class Atomics {
    /** In a record: the value is a number. */
    private static final int NUMBER = 1 << 4;

    private Atomics() {}

    /** An atomic access is about to be made: takes the lock of its variable. */
    static void enter(ThreadState self, long effect, Call call, int site) {
        if (Effect.isAtomic(effect)) {
            Cell cell = self.atomicCell;
            if (find(self, effect, call, cell, site)) {
                AccessFilter.share(self, cell.of, cell.w, cell.r, cell.d, cell.address, cell.first, cell.shift, null);
                VariableLock.lock(self, cell.of, cell.d);
                cell.of = null;
            } else if (Effect.target(effect) == Effect.VARIABLE && RawMemory.is(call.argument)) {
                RawMemory.before(self, effect, call, site);
            }
        }
    }

    /** Records an atomic access: a store before it is made, all others after it. */
    static void record(ThreadState self, long effect, Call call, int site) {
        Cell cell = self.atomicCell;
        if (!find(self, effect, call, cell, site)) {
            if (Effect.target(effect) == Effect.VARIABLE && RawMemory.is(call.argument)) {
                RawMemory.after(self, effect, call, site);
            }
            return;
        }
        // A compare-and-set that failed is a load.
        boolean isDone = call.applies(effect);
        int effectKind = Effect.kind(effect);
        boolean isLoad = effectKind == Effect.LOAD || !isDone;
        int kind = effectKind == Effect.STORE ? Record.STORE : isLoad ? Record.LOAD : Record.RMW;
        int aux = Effect.order(effect) | (isDone && call.hasValue(effect) ? cell.encoding : 0);
        AccessFilter.recordValue(self, cell.of, cell.w, cell.r, cell.address, kind, aux, call.valueOf(effect), site);
        cell.of = null;
    }

    /** Finds the cell of the variable that the call accesses. Returns whether there is one. */
    private static boolean find(ThreadState self, long effect, Call call, Cell cell, int site) {
        if (call.of == null) {
            return false;
        }
        Shadow shadow = Shadows.of(call.of, self, site);
        if (Effect.target(effect) == Effect.RECEIVER) {
            return cell.element(shadow, 0, 1, shadow.address, NUMBER);
        }
        Object object = call.argument;
        if (call.index >= 0 && Effect.target(effect) == Effect.OBJECT) {
            return cell.element(shadow, call.index, shadow.parts, shadow.address + 8, NUMBER);
        }
        if (call.index >= 0 && object != null && object.getClass().isArray()) {
            int length = java.lang.reflect.Array.getLength(object);
            Shadow array = Shadows.of(object, self, site + 1);
            boolean isThere = call.index < length && cell.element(array, call.index, length, array.address + 8, NUMBER);
            return isThere;
        }
        FieldHandle variable = shadow.whole().variable;
        if (variable == null) {
            return false;
        }
        boolean isStatic = (variable.location & Cells.STATIC) != 0;
        // The call throws if the object is of another class.
        if (!isStatic && !variable.isOf(object)) {
            return false;
        }
        cell.of = isStatic ? null : object;
        cell.w = Cells.w(variable.location);
        cell.r = Cells.r(variable.location);
        cell.d = Cells.d(variable.location);
        cell.shift = 0;
        cell.first = 0;
        cell.encoding = variable.encoding;
        cell.address = isStatic
            ? U.getLong(Cells.staticAddress(variable.location))
            : Shadows.of(object, self, site + 1).address + 8 + 8L * variable.number;
        return true;
    }

    /** The place of a variable's cell. */
    static final class Cell {
        Object of;
        long w, r, d, address, first;
        int shift, encoding;

        boolean element(Shadow shadow, int index, int count, long first, int encoding) {
            if (index < 0 || index >= count) {
                return false;
            }
            of = shadow.cells(count);
            shift = shadow.shift();
            w = Memory.LONGS + 24L * (index >>> shift);
            r = w + 8;
            d = w + 16;
            address = first + 8L * index;
            this.first = first;
            this.encoding = encoding;
            return true;
        }
    }
}

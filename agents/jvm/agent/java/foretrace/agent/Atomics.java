package foretrace.agent;

import static foretrace.agent.Memory.U;

/** Atomic accesses by calls: objects that are a variable, fields that an updater or a VarHandle stands for, elements. */
final class Atomics {
    /** Values are numbers, in records. */
    private static final int NUMBER = 1 << 4;

    private Atomics() {}

    static boolean isAtomic(long told) {
        return Told.word(told) >= Told.LOAD && Told.word(told) <= Told.RMW;
    }

    /** An atomic access comes: the thread tries to be alone with the variable. */
    static void enter(Buffer b, long told, Call call, int site) {
        if (isAtomic(told)) {
            Cell cell = b.cell;
            if (find(b, told, call, cell, site)) {
                Cells.share(b, cell.of, cell.w, cell.r, cell.d, cell.address, cell.first, cell.shift, null);
                Alone.lock(b, cell.of, cell.d);
                cell.of = null;
            } else if (Told.of(told) == Told.VARIABLE && Raw.is(call.argument)) {
                Raw.before(b, told, call, site);
            }
        }
    }

    /** It was made; or, a store, will be. */
    static void tell(Buffer b, long told, Call call, int site) {
        Cell cell = b.cell;
        if (!find(b, told, call, cell, site)) {
            if (Told.of(told) == Told.VARIABLE && Raw.is(call.argument)) {
                Raw.after(b, told, call, site);
            }
            return;
        }
        // What was no store has loaded something.
        boolean isDone = call.isTold(told);
        int word = Told.word(told);
        int kind = word == Told.STORE ? Buffer.STORE : word == Told.LOAD || !isDone ? Buffer.LOAD : Buffer.RMW;
        int aux = Told.order(told) | (isDone && call.hasValue(told) ? cell.encoding : 0);
        Cells.tellValue(b, cell.of, cell.w, cell.r, cell.address, kind, aux, call.valueOf(told), site);
        cell.of = null;
    }

    /** Finds the cell of the variable that is meant. */
    private static boolean find(Buffer b, long told, Call call, Cell cell, int site) {
        if (call.of == null) {
            return false;
        }
        Shadow shadow = Shadows.of(call.of, b, site);
        if (Told.of(told) == Told.RECEIVER) {
            return cell.element(shadow, 0, 1, shadow.address, NUMBER);
        }
        Object object = call.argument;
        if (call.index >= 0 && Told.of(told) == Told.OBJECT) {
            return cell.element(shadow, call.index, shadow.parts, shadow.address + 8, NUMBER);
        }
        if (call.index >= 0 && object != null && object.getClass().isArray()) {
            int length = java.lang.reflect.Array.getLength(object);
            Shadow array = Shadows.of(object, b, site + 1);
            boolean isThere = call.index < length && cell.element(array, call.index, length, array.address + 8, NUMBER);
            return isThere;
        }
        Variable variable = shadow.whole().variable;
        if (variable == null) {
            return false;
        }
        boolean isStatic = (variable.known & Cells.STATIC) != 0;
        // A call with another object throws.
        if (!isStatic && !variable.isOf(object)) {
            return false;
        }
        cell.of = isStatic ? null : object;
        cell.w = Cells.w(variable.known);
        cell.r = Cells.r(variable.known);
        cell.d = Cells.d(variable.known);
        cell.shift = 0;
        cell.first = 0;
        cell.encoding = variable.encoding;
        cell.address = isStatic ? U.getLong(cell.w + 24) : Shadows.of(object, b, site + 1).address + 8 + 8L * variable.number;
        return true;
    }

    /** Where the cell of a variable is. */
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

package foretrace.agent;

import java.util.concurrent.locks.Condition;

/** What each word of the table (agents/jvm/weave/src/hooks/concurrent.table) tells of a call. */
final class Words {
    /** What a semaphore is, in records. */
    private static final int SEMAPHORE = 5;
    /** More permits than this at once are not told. */
    private static final long MOST_PERMITS = 1 << 16;

    private Words() {}

    /** What is told of one object, its entry, or its back. */
    static void simple(
        Buffer b, long told, Shadow shadow, Object of, Object argument, Object returned, boolean isSorted, int site) {
        Shadow whole = shadow.whole();
        if (Told.of(told) == Told.BACK) {
            if (Told.word(told) == Told.POST ? !Queues.isBounded(of) : !Queues.isFull(of)) {
                return;
            }
            whole = whole.back();
        }
        switch (Told.word(told)) {
            case Told.ACQ:
                Locks.locked(b, whole, Buffer.ACQUIRE, site);
                break;
            case Told.TACQ:
                Locks.locked(b, whole, Buffer.TRY_ACQUIRE, site);
                break;
            case Told.REL:
                Locks.unlocked(b, whole, site);
                break;
            case Told.RACQ:
            case Told.RTACQ:
                Locks.readLocked(b, whole, site);
                break;
            case Told.RREL:
                Locks.readUnlocked(b, whole, site);
                break;
            case Told.READ:
                Accesses.whole(b, whole, false, site);
                break;
            case Told.WRITE:
                Accesses.whole(b, whole, true, site);
                break;
            case Told.LOOK:
                if (whole != shadow && whole.cells != null) {
                    Accesses.whole(b, whole, false, site);
                }
                break;
            default:
                Calls.entry(b, told, shadow, whole, argument, returned, isSorted, site);
                break;
        }
    }

    /** What may need all of a call to be told. */
    static void tell(Buffer b, long told, Call call, int site) {
        int word = Told.word(told);
        if (Atomics.isAtomic(told)) {
            Atomics.tell(b, told, call, site);
            return;
        }
        if (word == Told.FENCE) {
            fence(b, Told.order(told), site);
            return;
        }
        Object object = call.object(told);
        if (object == null) {
            return;
        }
        if (word == Told.CHANGE) {
            change(b, object, site);
            return;
        }
        Shadow shadow = Shadows.of(object, b, site);
        Shadow whole = shadow.whole();
        switch (word) {
            case Told.UNLOCK:
            case Told.TO_OPTIMISTIC:
            case Told.TO_READ:
            case Told.TO_WRITE:
                Stamps.tell(b, told, whole, call, site);
                break;
            case Told.OPTIMISTIC:
                b.optimistic(true);
                break;
            case Told.VALIDATED:
                b.optimistic(false);
                break;
            case Told.CONDITION:
                shadow.lock = Shadows.of(call.of, b, site + 1).whole();
                break;
            case Told.WAIT:
                if (shadow.lock == null && object instanceof Condition) {
                    // It was made in code that is not watched.
                    shadow.lock = b.held.ownerOf((Condition) object);
                }
                b.waits = shadow.lock == null ? 0 : Locks.waits(b, shadow, shadow.lock, false, site);
                break;
            case Told.WOKEN:
                if (b.waits > 0) {
                    Locks.woken(b, shadow, shadow.lock, b.waits, false, Locks.TIMED, site);
                    b.waits = 0;
                }
                break;
            case Told.NOTIFY:
                Locks.tell(b, shadow, Buffer.NOTIFY, Monitors.CONDITION, site);
                break;
            case Told.NOTIFY_ALL:
                Locks.tell(b, shadow, Buffer.NOTIFY_ALL, Monitors.CONDITION, site);
                break;
            case Told.PERMITS:
                Semaphores.seen(b, shadow, object, SEMAPHORE, site);
                break;
            case Told.UP:
            case Told.DOWN:
                long count = Semaphores.count(told, call, object);
                for (long i = Math.min(count, MOST_PERMITS); i > 0; i--) {
                    Semaphores.permit(b, shadow, word == Told.UP ? Buffer.UP : Buffer.DOWN, SEMAPHORE, site);
                }
                break;
            case Told.JOIN:
                if (object instanceof Thread && (!(call.returned instanceof Thread.State) || call.returned == Thread.State.TERMINATED)) {
                    Threads.joined(b, (Thread) object, site);
                }
                break;
            case Told.VIEW:
                if (call.of != null) {
                    shadow.standsFor(Shadows.of(call.of, b, site + 1).whole());
                }
                break;
            case Told.FIELD:
                if (call.returned != null && call.argument instanceof Class && call.value instanceof String) {
                    Shadows.of(call.returned, b, site + 1).variable = Variable.of((Class<?>) call.argument, (String) call.value);
                }
                break;
            case Told.CURRENT:
                // It is over.
                break;
            default:
                boolean isSorted = object instanceof java.util.SortedMap || object instanceof java.util.SortedSet;
                simple(b, told, shadow, object, call.argument, call.returned, isSorted, site);
                break;
        }
    }

    /** The elements of a collection that does not synchronise become others by its iterator. (Who sets another value there changes only that one: two threads may do so at once.) */
    private static void change(Buffer b, Object by, int site) {
        Shadow known = Shadows.known(by, b, site);
        Shadow whole = known == null ? null : known.whole();
        if (whole != null && whole.get() != by && whole.cells != null) {
            Accesses.whole(b, whole, false, site);
            Accesses.whole(b, whole, true, site);
        }
    }

    private static void fence(Buffer b, int order, int site) {
        if (b.room()) {
            b.epoch++;
            int place = b.place(site);
            b.put2(Buffer.head(Buffer.FENCE, order, 0), b.now(0), place);
        }
    }
}

package foretrace.agent;

import jdk.internal.vm.annotation.ForceInline;

/** Calls that synchronise, as the table has it (agents/jvm/weave/src/hooks/concurrent.table). */
final class Calls {
    /** What a semaphore is, in records. */
    private static final int SEMAPHORE = 5;
    /** More permits than this are not told one by one. */
    private static final long MOST_PERMITS = 1 << 10;

    /** What all have in common. */
    static final Object COMMON = new Object();

    private Calls() {}

    // What is known of a site is constant when it is compiled, so that little is left of all this: if it is compiled into the place of the call.

    @ForceInline
    static void before(Object of, Object argument, int index, long number, Object value, boolean isNumber, int site) {
        Object receiver = of == null ? argument : of;
        Told first = Told.first(site);
        if (first != null && first.isOf(receiver)) {
            before(first, of, argument, index, number, value, isNumber, site);
        } else {
            otherBefore(receiver, of, argument, index, number, value, isNumber, site);
        }
    }

    private static void otherBefore(
        Object receiver, Object of, Object argument, int index, long number, Object value, boolean isNumber, int site) {
        before(Told.at(site, receiver), of, argument, index, number, value, isNumber, site);
    }

    @ForceInline
    private static void before(
        Told told, Object of, Object argument, int index, long number, Object value, boolean isNumber, int site) {
        if (told.isWrapper() && Wrapped.before(told, of, argument, index, number, value, isNumber, site)) {
            return;
        }
        if (told.isUnseen()) {
            Hooks.unseen();
        }
        if (told.before.length == 0 && !told.isAtomic() || told.isBackBefore() && !Queues.mayBeFull(of)) {
            return;
        }
        Buffer b = Buffer.ready();
        if (b == null) {
            return;
        }
        if (told.isSimple()) {
            simple(b, told, told.before, of, argument, 0, null, site);
        } else {
            allBefore(b, told, of, argument, index, number, value, isNumber, site);
        }
        if (told.after.length == 0) {
            over(b);
        }
    }

    /** A call is over: what a function does that it was made from is told of the whole. */
    @ForceInline
    static void over(Buffer b) {
        b.currentEntry = Entries.WHOLE;
    }

    private static void allBefore(
        Buffer b, Told told, Object of, Object argument, int index, long number, Object value, boolean isNumber, int site) {
        b.enter();
        Call call = b.call;
        try {
            call.set(of, argument, index, number, value, isNumber);
            for (long one : told.after) {
                Atomics.enter(b, one, call, site);
            }
            for (long one : told.before) {
                Atomics.enter(b, one, call, site);
                // Of these, only that they will come.
                if (Told.word(one) != Told.RMW) {
                    tell(b, one, call, site);
                }
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            call.clear();
            b.exit();
        }
    }

    @ForceInline
    static void after(
        long result, Object returned, boolean isResult, Object of, Object argument, int index, long number, Object value, boolean isNumber,
        int site) {
        Object receiver = of == null ? argument : of;
        Told first = Told.first(site);
        if (first != null && first.isOf(receiver)) {
            after(first, result, returned, isResult, of, argument, index, number, value, isNumber, site);
        } else {
            otherAfter(receiver, result, returned, isResult, of, argument, index, number, value, isNumber, site);
        }
    }

    private static void otherAfter(
        Object receiver, long result, Object returned, boolean isResult, Object of, Object argument, int index, long number, Object value,
        boolean isNumber, int site) {
        after(Told.at(site, receiver), result, returned, isResult, of, argument, index, number, value, isNumber, site);
    }

    @ForceInline
    private static void after(
        Told told, long result, Object returned, boolean isResult, Object of, Object argument, int index, long number, Object value,
        boolean isNumber, int site) {
        if (told.isWrapper()
            && Wrapped.after(told, result, returned, isResult, of, argument, index, number, value, isNumber, site)) {
            return;
        }
        if (told.isBackAfter() && !Queues.mayBeFull(of)) {
            return;
        }
        if (told.after.length == 0 && !told.isAtomic() && !(returned instanceof Watched)) {
            return;
        }
        Buffer b = Buffer.ready();
        if (b == null) {
            return;
        }
        if (told.isSameEntry() && b.currentEntry != Entries.WHOLE && b.current.get() == of) {
            sameEntry(b, told, result, returned, site);
        } else if (told.isSimple()) {
            simple(b, told, told.after, of, argument, result, returned, site);
        } else {
            allAfter(b, told, result, returned, isResult, of, argument, index, number, value, isNumber, site);
        }
        over(b);
    }

    /** A call threw something. What a function did that it called is there for others, too. */
    static void threw(Object of) {
        Buffer b = Buffer.ready();
        if (b == null) {
            return;
        }
        b.enter();
        try {
            Cells.unlock(b);
            over(b);
            Shadow shadow = of == null ? null : Shadow.known(of);
            if (shadow != null && shadow.whole().stamps != null) {
                Entries.post(b, shadow.whole(), Entries.WHOLE, 0);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }

    private static void allAfter(
        Buffer b, Told told, long result, Object returned, boolean isResult, Object of, Object argument, int index, long number, Object value,
        boolean isNumber, int site) {
        b.enter();
        Call call = b.call;
        try {
            call.set(of, argument, index, number, value, isNumber);
            call.returns(result, returned, isResult);
            for (long one : told.after) {
                if (Atomics.isAtomic(one) || call.isTold(one)) {
                    tell(b, one, call, site);
                }
            }
            if (returned != null) {
                Shadow.seen(b, returned);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            Cells.unlock(b);
            call.clear();
            b.exit();
        }
    }

    /** Awaits the entry that something was told of before the call: which one that is, is known. */
    @ForceInline
    private static void sameEntry(Buffer b, Told told, long result, Object returned, int site) {
        b.enter();
        try {
            if (Told.isTold(told.after[0], result, returned)) {
                Entries.await(b, b.current.whole(), b.currentEntry, site);
            }
            if (returned != null) {
                Shadow.seen(b, returned);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }

    /** Most of what is told. (To keep the call in a {@link Call} costs more than all else.) */
    @ForceInline
    private static void simple(
        Buffer b, Told told, long[] all, Object of, Object argument, long result, Object returned, int site) {
        b.enter();
        try {
            if (all.length == 1) {
                simple(b, told, all[0], of, argument, result, returned, site);
            } else {
                for (long one : all) {
                    simple(b, told, one, of, argument, result, returned, site);
                }
            }
            if (returned != null) {
                Shadow.seen(b, returned);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }

    @ForceInline
    private static void simple(
        Buffer b, Told told, long one, Object of, Object argument, long result, Object returned, int site) {
        if (of == null || !Told.isTold(one, result, returned)) {
            return;
        }
        Shadow shadow = Shadow.of(of, b, site);
        int word = Told.word(one);
        if ((word == Told.POST || word == Told.AWAIT) && Told.of(one) != Told.BACK) {
            entry(b, one, shadow, shadow.whole(), argument, returned, told.isSorted(), site);
        } else {
            simple(b, one, shadow, of, argument, returned, told.isSorted(), site);
        }
    }

    /** A post or an await of an entry, or of the whole. */
    @ForceInline
    private static void entry(
        Buffer b, long told, Shadow of, Shadow whole, Object argument, Object returned, boolean isSorted, int site) {
        int entry = Told.entry(told, argument, returned, isSorted);
        // The program's own collections have no addresses for entries.
        entry = entry < whole.parts ? entry : Entries.WHOLE;
        if (Told.word(told) == Told.POST) {
            Entries.post(b, whole, entry, site);
        } else {
            Entries.await(b, whole, entry, site);
        }
        if (b.current != of) {
            b.current = of;
        }
        b.currentEntry = Told.isOfMany(told) ? Entries.FILLED : entry;
    }

    /** The thread comes after others who may have put in what it is about to put into another collection, as a whole: who finds it there comes after these, too. */
    static void filled(Buffer b, int site) {
        if (b.currentEntry == Entries.FILLED) {
            Entries.post(b, b.current.whole(), Entries.WHOLE, site);
        }
    }

    private static void simple(
        Buffer b, long told, Shadow shadow, Object of, Object argument, Object returned, boolean isSorted, int site) {
        Shadow whole = shadow.whole();
        if (Told.of(told) == Told.BACK) {
            if (!Queues.isFull(of, whole)) {
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
                entry(b, told, shadow, whole, argument, returned, isSorted, site);
                break;
        }
    }

    private static void tell(Buffer b, long told, Call call, int site) {
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
        Shadow shadow = Shadow.of(object, b, site);
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
                shadow.lock = Shadow.of(call.of, b, site + 1).whole();
                break;
            case Told.WAIT:
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
                    shadow.standsFor(Shadow.of(call.of, b, site + 1).whole());
                }
                break;
            case Told.FIELD:
                if (call.returned != null && call.argument instanceof Class && call.value instanceof String) {
                    Shadow.of(call.returned, b, site + 1).variable = Variable.of((Class<?>) call.argument, (String) call.value);
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
        Shadow known = Shadow.known(by, b, site);
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

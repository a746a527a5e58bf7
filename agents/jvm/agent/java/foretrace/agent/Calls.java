package foretrace.agent;

import jdk.internal.vm.annotation.ForceInline;

/** Calls that synchronise, as the table has it (agents/jvm/weave/src/hooks/concurrent.table). */
final class Calls {
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
        // What must be made first may have no room. The call has to be made all the same.
        try {
            before(Told.at(site, receiver), of, argument, index, number, value, isNumber, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        }
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
        if (told.before.length == 0 && !told.isAtomic() || told.isBackBefore() && !Queues.isBounded(of)) {
            return;
        }
        Buffer b = Buffer.ready();
        if (b == null) {
            return;
        }
        if (told.isSimple()) {
            simple(b, told, told.before, false, of, argument, 0, null, site);
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
                    Words.tell(b, one, call, site);
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
        try {
            after(Told.at(site, receiver), result, returned, isResult, of, argument, index, number, value, isNumber, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        }
    }

    @ForceInline
    private static void after(
        Told told, long result, Object returned, boolean isResult, Object of, Object argument, int index, long number, Object value,
        boolean isNumber, int site) {
        if (told.isWrapper()
            && Wrapped.after(told, result, returned, isResult, of, argument, index, number, value, isNumber, site)) {
            return;
        }
        if (told.isBackAfter() && !Queues.isFull(of)) {
            return;
        }
        if (told.after.length == 0 && !told.isAtomic() && !(returned instanceof Watched)) {
            return;
        }
        Buffer b = Buffer.ready();
        if (b == null) {
            return;
        }
        // Which entry that is was found before the call.
        boolean isSame = told.isSameEntry() && b.currentEntry != Entries.WHOLE && b.current.get() == of;
        if (isSame || told.isSimple()) {
            simple(b, told, told.after, isSame, of, argument, result, returned, site);
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
            Alone.unlock(b);
            over(b);
            Shadow shadow = of == null ? null : Shadows.known(of);
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
                    Words.tell(b, one, call, site);
                }
            }
            if (returned != null) {
                Shadow.seen(b, returned);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            Alone.unlock(b);
            call.clear();
            b.exit();
        }
    }

    /** Most of what is told. (To keep the call in a {@link Call} costs more than all else.) */
    @ForceInline
    private static void simple(
        Buffer b, Told told, long[] all, boolean isSame, Object of, Object argument, long result, Object returned, int site) {
        b.enter();
        try {
            if (isSame) {
                if (Told.isTold(all[0], result, returned)) {
                    Entries.await(b, b.current.whole(), b.currentEntry, site);
                }
            } else if (all.length == 1) {
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
        Shadow shadow = Shadows.of(of, b, site);
        int word = Told.word(one);
        if ((word == Told.POST || word == Told.AWAIT) && Told.of(one) != Told.BACK) {
            entry(b, one, shadow, shadow.whole(), argument, returned, told.isSorted(), site);
        } else {
            Words.simple(b, one, shadow, of, argument, returned, told.isSorted(), site);
        }
    }

    /** A post or an await of an entry, or of the whole. */
    @ForceInline
    static void entry(
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
}

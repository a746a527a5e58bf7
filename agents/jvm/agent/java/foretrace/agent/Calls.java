package foretrace.agent;

import jdk.internal.vm.annotation.ForceInline;

/**
 * The hooks around calls that synchronise (agents/jvm/weave/src/hooks/concurrent.table says which, and what they do).
 *
 * The parameters are those of {@link Call}. They are passed one by one, because an object would cost more than all
 * else here: most calls have only simple effects. What the site's {@link CallEffects} say is constant to the
 * compiler, so little is left of these methods once they are inlined into the call's bridge method. That needs {@code
 * @ForceInline}.
 */
final class Calls {
    /** The target {@code @!}, which all objects share. */
    static final Object COMMON = new Object();

    private Calls() {}


    @ForceInline
    static void before(Object of, Object argument, int index, long number, Object value, boolean isNumber, int site) {
        Object receiver = of == null ? argument : of;
        CallEffects first = CallEffects.first(site);
        if (first != null && first.isOf(receiver)) {
            before(first, of, argument, index, number, value, isNumber, site);
        } else {
            otherBefore(receiver, of, argument, index, number, value, isNumber, site);
        }
    }

    private static void otherBefore(
        Object receiver, Object of, Object argument, int index, long number, Object value, boolean isNumber, int site) {
        // Making what is not known yet may fail for lack of memory. The program's call must be made all the same.
        try {
            before(CallEffects.at(site, receiver), of, argument, index, number, value, isNumber, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        }
    }

    @ForceInline
    private static void before(
        CallEffects effects, Object of, Object argument, int index, long number, Object value, boolean isNumber,
        int site) {
        if (effects.isWrapper()
            && WrappedCollections.before(effects, of, argument, index, number, value, isNumber, site)) {
            return;
        }
        if (effects.isUnseen()) {
            Hooks.unseen();
        }
        if (effects.isGuarded()) {
            // A static method calls its argument: `String.join` iterates over it without the lock.
            GuardedCollections.calls(of == null ? argument : of, site);
        }
        if (effects.isBlocking()) {
            enterCall(of);
        }
        if (effects.before.length == 0 && !effects.isAtomic()
            || effects.isBackBefore() && !BoundedQueues.isBounded(of)) {
            return;
        }
        ThreadState self = ThreadState.ready();
        if (self == null) {
            return;
        }
        if (effects.isSimple()) {
            simple(self, effects, effects.before, false, of, argument, 0, null, site);
        } else {
            allBefore(self, effects, of, argument, index, number, value, isNumber, site);
        }
        if (effects.after.length == 0) {
            over(self);
        }
    }

    @ForceInline
    private static void enterCall(Object of) {
        ThreadState self = ThreadState.ready();
        if (self != null) {
            self.enterCall(of);
        }
    }

    @ForceInline
    private static void leaveCall() {
        ThreadState self = ThreadState.own();
        if (self != null) {
            self.leaveCall();
        }
    }

    /**
     * A call is over: what is posted from now on, maybe by the function that made the call, is posted to the whole.
     */
    @ForceInline
    static void over(ThreadState self) {
        self.currentEntry = EntrySync.WHOLE;
    }

    private static void allBefore(
        ThreadState self, CallEffects effects, Object of, Object argument, int index, long number, Object value,
        boolean isNumber, int site) {
        self.enter();
        Call call = self.call;
        try {
            call.set(of, argument, index, number, value, isNumber);
            for (long one : effects.after) {
                Atomics.enter(self, one, call, site);
            }
            for (long one : effects.before) {
                Atomics.enter(self, one, call, site);
                // An {@code rmw} before the call only announces the access.
                if (Effect.kind(one) != Effect.RMW) {
                    EffectRecorder.record(self, one, call, site);
                }
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            call.clear();
            self.exit();
        }
    }

    @ForceInline
    static void after(
        long result, Object returned, boolean isResult, Object of, Object argument, int index, long number,
        Object value, boolean isNumber, int site) {
        Object receiver = of == null ? argument : of;
        CallEffects first = CallEffects.first(site);
        if (first != null && first.isOf(receiver)) {
            after(first, result, returned, isResult, of, argument, index, number, value, isNumber, site);
        } else {
            otherAfter(receiver, result, returned, isResult, of, argument, index, number, value, isNumber, site);
        }
    }

    private static void otherAfter(
        Object receiver, long result, Object returned, boolean isResult, Object of, Object argument, int index,
        long number, Object value, boolean isNumber, int site) {
        try {
            after(CallEffects.at(site, receiver), result, returned, isResult, of, argument, index, number, value,
                isNumber, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        }
    }

    @ForceInline
    private static void after(
        CallEffects effects, long result, Object returned, boolean isResult, Object of, Object argument, int index,
        long number, Object value, boolean isNumber, int site) {
        effectsAfter(effects, result, returned, isResult, of, argument, index, number, value, isNumber, site);
        if (effects.isBlocking()) {
            leaveCall();
        }
    }

    @ForceInline
    private static void effectsAfter(
        CallEffects effects, long result, Object returned, boolean isResult, Object of, Object argument, int index,
        long number, Object value, boolean isNumber, int site) {
        if (effects.isWrapper()
            && WrappedCollections.after(effects, result, returned, isResult, of, argument, index, number, value,
                isNumber, site)) {
            return;
        }
        if (effects.isGuarded() || effects.isWrapper()) {
            GuardedCollections.returned();
        }
        if (effects.isBackAfter() && !BoundedQueues.isFull(of)) {
            return;
        }
        if (effects.after.length == 0 && !effects.isAtomic() && !(returned instanceof Watched)) {
            return;
        }
        ThreadState self = ThreadState.ready();
        if (self == null) {
            return;
        }
        if (!isResult && self.isInBarrier && self.barrier.get() == of) {
            // The call threw: the barrier is broken, and the thread leaves no phase.
            self.barrier = null;
            self.isInBarrier = false;
        }
        // The entry was found before the call.
        boolean isSame = effects.isSameEntry() && self.currentEntry != EntrySync.WHOLE && self.current.get() == of;
        if (isSame || effects.isSimple()) {
            simple(self, effects, effects.after, isSame, of, argument, result, returned, site);
        } else {
            allAfter(self, effects, result, returned, isResult, of, argument, index, number, value, isNumber, site);
        }
        over(self);
    }

    /**
     * A call threw. What a function of the program did inside the call may be seen by others, too. (Null: the call may
     * have waited, and that is over.)
     */
    static void threw(Object of) {
        ThreadState self = ThreadState.ready();
        if (self == null) {
            return;
        }
        self.leaveCall();
        self.enter();
        try {
            VariableLock.unlock(self);
            over(self);
            Shadow shadow = of == null ? null : Shadows.existing(of);
            if (shadow != null && shadow.whole().postTimes != null) {
                EntrySync.post(self, shadow.whole(), EntrySync.WHOLE, 0);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    private static void allAfter(
        ThreadState self, CallEffects effects, long result, Object returned, boolean isResult, Object of,
        Object argument, int index, long number, Object value, boolean isNumber, int site) {
        self.enter();
        Call call = self.call;
        try {
            call.set(of, argument, index, number, value, isNumber);
            call.returns(result, returned, isResult);
            for (long one : effects.after) {
                if (Effect.isAtomic(one) || call.applies(one)) {
                    EffectRecorder.record(self, one, call, site);
                }
            }
            if (returned != null) {
                Shadow.noteReached(self, returned);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            VariableLock.unlock(self);
            call.clear();
            self.exit();
        }
    }

    /** Records effects of the receiver or its entries, without a {@link Call}. */
    @ForceInline
    private static void simple(
        ThreadState self, CallEffects effects, long[] all, boolean isSame, Object of, Object argument, long result,
        Object returned, int site) {
        self.enter();
        try {
            if (isSame) {
                if (Effect.applies(all[0], result, returned)) {
                    EntrySync.await(self, self.current.whole(), self.currentEntry, site);
                }
            } else if (all.length == 1) {
                simple(self, effects, all[0], of, argument, result, returned, site);
            } else {
                for (long one : all) {
                    simple(self, effects, one, of, argument, result, returned, site);
                }
            }
            if (returned != null) {
                Shadow.noteReached(self, returned);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    @ForceInline
    private static void simple(
        ThreadState self, CallEffects effects, long one, Object of, Object argument, long result, Object returned,
        int site) {
        if (of == null || !Effect.applies(one, result, returned)) {
            return;
        }
        int kind = Effect.kind(one);
        if (kind == Effect.LOOK) {
            PlainCollections.look(self, of, site);
            return;
        }
        Shadow shadow = Shadows.of(of, self, site);
        if ((kind == Effect.POST || kind == Effect.AWAIT) && Effect.target(one) != Effect.BACK) {
            entry(self, one, shadow, shadow.whole(), argument, returned, effects.isSorted(), site);
        } else {
            EffectRecorder.recordSimple(self, one, shadow, of, argument, returned, effects.isSorted(), site);
        }
    }

    /** A post or an await of an entry, or of the whole. */
    @ForceInline
    static void entry(
        ThreadState self, long effect, Shadow of, Shadow whole, Object argument, Object returned, boolean isSorted,
        int site) {
        int entry = Effect.entry(effect, argument, returned, isSorted);
        // Collections of the program's own have no addresses for entries.
        entry = entry < whole.parts ? entry : EntrySync.WHOLE;
        if (Effect.kind(effect) == Effect.POST) {
            EntrySync.post(self, whole, entry, site);
        } else {
            EntrySync.await(self, whole, entry, site);
        }
        if (self.current != of) {
            self.current = of;
        }
        self.currentEntry = Effect.isOfMany(effect) ? EntrySync.FILLED : entry;
    }

    /**
     *
     * While all of another collection is put into one: the thread has awaited the threads that put the elements
     * there, so a thread that finds them here must come after those, too.
     */
    static void filled(ThreadState self, int site) {
        if (self.currentEntry == EntrySync.FILLED) {
            EntrySync.post(self, self.current.whole(), EntrySync.WHOLE, site);
        }
    }
}

package foretrace.agent;

import java.util.concurrent.FutureTask;
import jdk.internal.vm.annotation.ForceInline;

/** Effects inside classes of the JDK (agents/jvm/weave/src/hooks/inside.table). */
final class Inside {
    /** A stream or writer of the program's is below one of the JDK. Most programs have none, and print a lot. */
    private static volatile boolean isBelow;

    private Inside() {}

    /**
     * Records the effects of a site on an object (null: {@link Calls#COMMON}), with the value that the condition asks
     * for, or with the object that {@code of} is a view of.
     */
    @ForceInline
    static void record(Object of, long number, Object value, int site) {
        CallEffects first = CallEffects.first(site);
        if (first != null && first.isOnlyOfThis()) {
            ofThis(first.before[0], of, value, site);
        } else {
            any(of, number, value, site);
        }
    }

    /** A post or an await of the object that the program has called, inside that call. */
    @ForceInline
    private static void ofThis(long effect, Object of, Object value, int site) {
        ThreadState self = ThreadState.own();
        Shadow current = self == null ? null : self.current;
        if (current == null || current.get() != of || self.currentEntry == EntrySync.FILLED) {
            any(of, 0, value, site);
            return;
        }
        if (!self.isReady()) {
            return;
        }
        self.enter();
        try {
            if (Effect.kind(effect) == Effect.POST) {
                EntrySync.post(self, current.whole(), self.currentEntry, site);
            } else {
                EntrySync.awaitInside(self, current.whole(), self.currentEntry, site);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    private static void any(Object of, long number, Object value, int site) {
        if (value == null && !isBelow && of instanceof java.io.Flushable) {
            return;
        }
        // The program ends in a thread that is not to be watched for this.
        if (of == null && LastWaits.isExit(site)) {
            LastWaits.look();
            return;
        }
        ThreadState self = ThreadState.ready();
        if (self == null) {
            return;
        }
        self.enter();
        try {
            CallEffects effects = CallEffects.at(site, null);
            if (effects.isBlocking()) {
                self.enterCall(of);
            }
            for (long one : effects.before) {
                Object object = Effect.target(one) == Effect.ALL ? Calls.COMMON : of;
                if (object == null || !Effect.applies(one, number, value)) {
                    continue;
                }
                if (Effect.target(one) == Effect.EACH) {
                    for (Object each : (Iterable<?>) object) {
                        one(self, one, each, value, site);
                    }
                } else {
                    one(self, one, object, value, site);
                }
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    private static void one(ThreadState self, long effect, Object of, Object value, int site) {
        int kind = Effect.kind(effect);
        if (kind == Effect.ENDED) {
            Threads.ended(self);
            return;
        }
        if (kind == Effect.REQUEST) {
            LockRequests.parked(self, of);
            return;
        }
        if (kind == Effect.TASK) {
            Grants.begins(self, of);
            return;
        }
        if (kind == Effect.OUTSIDE) {
            Grants.interrupted(self, of, site);
            return;
        }
        if (kind == Effect.PASSES) {
            self.leaveCall();
            return;
        }
        // Maps that only the JDK knows get no shadow, and what has no shadow has no posts to await.
        boolean isMade = Effect.target(effect) != Effect.THIS && (kind == Effect.POST || kind == Effect.VIEW);
        boolean needsNone = kind == Effect.PART || kind == Effect.CURRENT;
        Shadow shadow = needsNone ? null : isMade ? Shadows.of(of, self, site) : Shadows.existing(of, self, site);
        boolean isCurrent = Effect.target(effect) == Effect.THIS && shadow != null && self.current == shadow;
        int entry = isCurrent && self.currentEntry != EntrySync.FILLED ? self.currentEntry : EntrySync.WHOLE;
        switch (kind) {
            case Effect.POST:
                if (shadow != null) {
                    if (of instanceof FutureTask && Effect.target(effect) == Effect.OBJECT) {
                        Grants.seen(self, shadow.whole(), of, site);
                    }
                    EntrySync.post(self, shadow.whole(), entry, site);
                }
                break;
            case Effect.AWAIT:
                if (shadow != null) {
                    EntrySync.awaitInside(self, shadow.whole(), entry, site);
                    Calls.filled(self, site);
                }
                Shadow.noteReached(self, of);
                break;
            case Effect.VIEW:
                shadow.setViewOf(Shadows.of(value, self, site + 1));
                break;
            case Effect.PART:
                // An object of the program's own is known to it, even if nothing was recorded of it yet.
                boolean isPrograms = value != null && value.getClass().getClassLoader() != null;
                Shadow whole = value == null
                    ? self.current
                    : isPrograms ? Shadows.of(value, self, site + 1) : Shadows.existing(value, self, site + 1);
                if (whole != null) {
                    Shadows.of(of, self, site).setViewOf(whole.whole());
                    isBelow |= of instanceof java.io.Flushable;
                }
                break;
            case Effect.CURRENT:
                self.current = Shadows.existing(of, self, site);
                self.currentEntry = EntrySync.WHOLE;
                break;
            default:
                break;
        }
    }
}

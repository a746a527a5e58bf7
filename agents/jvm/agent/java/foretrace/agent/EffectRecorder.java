package foretrace.agent;

import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;

/** Records what each {@link Effect} kind means. */
final class EffectRecorder {
    /** The object class of semaphores in records. */
    static final int SEMAPHORE = 5;
    /** Of a call with more permits than this, the rest is not recorded. */
    private static final long MOST_PERMITS = 1 << 16;

    private EffectRecorder() {}

    /** Records an effect of an object, its entry, or its back. */
    static void recordSimple(
        ThreadState self, long effect, Shadow shadow, Object of, Object argument, Object returned, boolean isSorted,
        int site) {
        Shadow whole = shadow.whole();
        if (Effect.target(effect) == Effect.BACK) {
            if (Effect.kind(effect) == Effect.POST ? !BoundedQueues.isBounded(of) : !BoundedQueues.isFull(of)) {
                return;
            }
            whole = whole.back();
        }
        switch (Effect.kind(effect)) {
            case Effect.ACQ:
                Locks.locked(self, whole, Record.ACQUIRE, site);
                break;
            case Effect.TACQ:
                Locks.locked(self, whole, Record.TRY_ACQUIRE, site);
                break;
            case Effect.REL:
                Locks.unlocking(self, whole, site);
                break;
            case Effect.RACQ:
            case Effect.RTACQ:
                Locks.readLocked(self, whole, site);
                break;
            case Effect.RREL:
                Locks.readUnlocking(self, whole, site);
                break;
            case Effect.READ:
                Accesses.whole(self, whole, false, site);
                break;
            case Effect.WRITE:
                Accesses.whole(self, whole, true, site);
                break;
            default:
                Calls.entry(self, effect, shadow, whole, argument, returned, isSorted, site);
                break;
        }
    }

    /** Records an effect that may need all of the call. */
    static void record(ThreadState self, long effect, Call call, int site) {
        int kind = Effect.kind(effect);
        if (Effect.isAtomic(effect)) {
            Atomics.record(self, effect, call, site);
            return;
        }
        if (kind == Effect.FENCE) {
            fence(self, Effect.order(effect), site);
            return;
        }
        Object object = call.object(effect);
        if (object == null) {
            return;
        }
        if (kind == Effect.CHANGE) {
            PlainCollections.change(self, object, site);
            return;
        }
        if (kind == Effect.LOOK) {
            PlainCollections.look(self, object, site);
            return;
        }
        if (kind == Effect.ELEMENT_READS || kind == Effect.FIRST_READ) {
            PlainCollections.elements(self, object, kind == Effect.FIRST_READ, site);
            return;
        }
        // Of an argument, only a collection that does not synchronise is read.
        if (kind == Effect.READ && Effect.target(effect) == Effect.OBJECT && call.of != null) {
            PlainCollections.read(self, object, site);
            return;
        }
        Shadow shadow = Shadows.of(object, self, site);
        Shadow whole = shadow.whole();
        if (Effect.isOfIndex(effect)) {
            PlainCollections.element(self, object, shadow, call.number, kind == Effect.WRITE, site);
            return;
        }
        switch (kind) {
            case Effect.UNLOCK:
            case Effect.TO_OPTIMISTIC:
            case Effect.TO_READ:
            case Effect.TO_WRITE:
                StampedLocks.record(self, effect, whole, call, site);
                break;
            case Effect.OPTIMISTIC:
                self.optimistic(true);
                break;
            case Effect.VALIDATED:
                self.optimistic(false);
                break;
            case Effect.CONDITION:
                shadow.lock = Shadows.of(call.of, self, site + 1).whole();
                break;
            case Effect.WAIT:
                if (shadow.lock == null && object instanceof Condition) {
                    // The condition was made in code that is not watched.
                    shadow.lock = self.held.ownerOf((Condition) object);
                }
                self.waitDepth = shadow.lock == null ? 0 : Locks.waits(self, shadow, shadow.lock, false, site);
                break;
            case Effect.WOKEN:
                if (self.waitDepth > 0) {
                    Locks.woken(self, shadow, shadow.lock, self.waitDepth, false, Locks.TIMED, site);
                    self.waitDepth = 0;
                }
                break;
            case Effect.NOTIFY:
                Locks.record(self, shadow, Record.NOTIFY, Monitors.CONDITION, site);
                break;
            case Effect.NOTIFY_ALL:
                Locks.record(self, shadow, Record.NOTIFY_ALL, Monitors.CONDITION, site);
                break;
            case Effect.PERMITS:
                if (object instanceof Semaphore) {
                    Semaphores.seen(self, shadow, object, SEMAPHORE, site);
                } else {
                    Grants.seen(self, whole, object, site);
                }
                break;
            case Effect.OUTSIDE:
                int objectClass = object instanceof Semaphore ? SEMAPHORE : EntrySync.classOf(whole);
                Grants.fromOutside(self, shadow, object, objectClass, site);
                break;
            case Effect.UP:
            case Effect.DOWN:
                long count = Semaphores.count(effect, call, object);
                boolean waited = count == 1 && self.isWaitingFor(object);
                int record = kind == Effect.UP ? Record.UP : waited ? Record.DOWN_WAITED : Record.DOWN;
                for (long i = Math.min(count, MOST_PERMITS); i > 0; i--) {
                    Semaphores.permit(self, shadow, record, SEMAPHORE, site);
                }
                break;
            case Effect.JOIN:
                if (object instanceof Thread
                    && (!(call.returned instanceof Thread.State) || call.returned == Thread.State.TERMINATED)) {
                    Threads.joined(self, (Thread) object, site);
                }
                break;
            case Effect.VIEW:
                if (call.of != null) {
                    Object viewed = PlainCollections.innermost(call.of, true);
                    shadow.setViewOf(Shadows.of(viewed == null ? call.of : viewed, self, site + 1).whole());
                }
                break;
            case Effect.FIELD:
                if (call.returned != null && call.argument instanceof Class && call.value instanceof String) {
                    Shadows.of(call.returned, self, site + 1).variable =
                        FieldHandle.of((Class<?>) call.argument, (String) call.value);
                }
                break;
            case Effect.CURRENT:
                // The end of a call that fills a collection: {@link Calls#over} does the rest.
                break;
            default:
                boolean isSorted = object instanceof java.util.SortedMap || object instanceof java.util.SortedSet;
                recordSimple(self, effect, shadow, object, call.argument, call.returned, isSorted, site);
                break;
        }
    }

    private static void fence(ThreadState self, int order, int site) {
        if (self.room()) {
            self.syncFreeRegion++;
            int context = self.context(site);
            self.put2(Record.head(Record.FENCE, order, 0), self.now(0), context);
        }
    }
}

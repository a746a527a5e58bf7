package foretrace.agent;

import static foretrace.agent.Memory.U;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Records what threads wait for when the program begins to end, without a time limit. Until then a call that may wait
 * only leaves in its {@link ThreadState} that the thread is in it.
 *
 * The thread that ends the program looks at all others. It writes what it sees into a slot of its own, with the sync
 * index of the thread that it has looked at: if that thread goes on and writes another record, the observer drops what
 * was seen. A thread may also go on without a record. Only waits for locks and for the ends of threads become an
 * observed deadlock, and only if all threads concerned wait for each other. To let one of them go on, another one must
 * have gone on before, and must have recorded a release or its end: so none of them went on.
 *
 * If the program ends itself ({@code System.exit}, or its last thread has ended), a thread that waits may just have
 * nothing to do. Then only waits are recorded that may be part of a deadlock.
 */
final class LastWaits {
    private static final int NOTHING = 0, SLOT_BITS = 16;
    /** Bits of a thread's state: it waits without a time limit, on a monitor or parked; it waits to enter a monitor. */
    private static final int WAITING = 0x10, BLOCKED = 0x400;
    private static final AtomicBoolean IS_LOOKING = new AtomicBoolean();
    private static final long OWNER = offset(AbstractOwnableSynchronizer.class, "exclusiveOwnerThread"),
        SYNC = offset(ReentrantLock.class, "sync"), READ_WRITE_SYNC = offset(ReentrantReadWriteLock.class, "sync");
    /** The slot for what is seen; its state is no thread's. */
    private static ThreadState writer;
    /** A signal ends the program: the user, or a time limit. */
    private static boolean isSignalled;

    private final Map<Integer, ThreadState> byNumber = new HashMap<>();
    /** Locks that threads hold, by the objects that waiting threads name as the reason. */
    private final Map<Object, Shadow> byBlocker = new IdentityHashMap<>();

    private LastWaits() {}

    private static long offset(Class<?> of, String name) {
        try {
            return U.objectFieldOffset(of, name);
        } catch (InternalError unknown) {
            return -1;
        }
    }

    /** Whether a site inside the JDK is where the program begins to end. */
    static boolean isExit(int site) {
        try {
            long[] effects = CallEffects.at(site, null).before;
            return effects.length == 1 && Effect.kind(effects[0]) == Effect.EXITS;
        } catch (Throwable failed) {
            Native.failed(failed);
            return false;
        }
    }

    /** The program begins to end. Whatever happens here, it must not wait for another thread that looks. */
    static void look() {
        ThreadState own = ThreadState.own();
        if (own != null) {
            own.isExiting = true;
        }
        if (!IS_LOOKING.compareAndSet(false, true)) {
            return;
        }
        boolean isReady = own != null && own.isReady();
        if (isReady) {
            own.enter();
        }
        try {
            String name = Thread.currentThread().getName();
            isSignalled |= name.startsWith("SIG") && name.endsWith(" handler");
            writer = writer == null ? Threads.spare() : writer;
            if (writer != null) {
                new LastWaits().lookAtAll();
                Remaining.record(writer);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            if (isReady) {
                own.exit();
            }
            IS_LOOKING.set(false);
        }
    }

    private void lookAtAll() {
        ThreadState[] states = ThreadTable.all();
        List<Shadow> held = new ArrayList<>();
        for (ThreadState state : states) {
            if (state != null) {
                byNumber.put(state.number, state);
                state.held.addTo(held);
            }
        }
        for (Shadow lock : held) {
            Object blocker = blockerOf(lock.get());
            if (blocker != null) {
                byBlocker.put(blocker, lock);
            }
        }
        for (ThreadState state : states) {
            Thread thread = state == null ? null : state.thread;
            if (thread != null && thread != Thread.currentThread()) {
                lookAt(state, thread);
            }
        }
    }

    /** The object that threads name as the reason when they park for a lock. */
    private static Object blockerOf(Object lock) {
        if (lock instanceof ReentrantLock) {
            return SYNC < 0 ? null : Memory.reference(lock, SYNC);
        }
        if (lock instanceof ReentrantReadWriteLock) {
            return READ_WRITE_SYNC < 0 ? null : Memory.reference(lock, READ_WRITE_SYNC);
        }
        return lock instanceof StampedLock ? lock : null;
    }

    private void lookAt(ThreadState state, Thread thread) {
        long at = state.syncIndex;
        long head = wait(state, thread);
        if (head == NOTHING || head == state.seenWait && at == state.seenWaitAt) {
            return;
        }
        // The thread is stopped for a moment to walk its stack. If all is as before then, that is where it waits.
        int context = Native.callContextOf(thread);
        if (wait(state, thread) == head && state.syncIndex == at && writer.room()) {
            writer.put3(head, writer.now(state.time), context, state.slot | at << SLOT_BITS);
            state.seenWait = head;
            state.seenWaitAt = at;
        }
    }

    /** The first word of a record of the wait; {@link #NOTHING} if it is not known, or has a record already. */
    private long wait(ThreadState state, Thread thread) {
        int now = Native.stateOf(thread);
        if ((now & BLOCKED) != 0) {
            Object monitor = Native.monitorOf(thread);
            Shadow lock = monitor == null ? null : Shadows.existing(monitor);
            return lock == null || lock.holder == 0 || lock.holder == state.number ? NOTHING : request(state, lock);
        }
        // A wait on a condition has a record of its own.
        if ((now & WAITING) == 0 || state.waitDepth > 0) {
            return NOTHING;
        }
        Object blocker = LockSupport.getBlocker(thread);
        Shadow lock = blocker == null ? null : byBlocker.get(blocker);
        if (lock != null && LockRequests.isOf(thread, blocker, lock)) {
            return isHeldAsRecorded(lock, blocker) ? request(state, lock) : NOTHING;
        }
        if (state.mayWait) {
            Object of = state.waitsFor;
            return of instanceof Thread ? join((Thread) of) : object(of == null ? thread : of);
        }
        // Calls that the JDK makes: to join a thread, and futures, which wait for themselves.
        Object of = blocker == null ? Native.monitorOf(thread) : blocker;
        if (of instanceof Thread) {
            return Native.isJoining(thread) ? join((Thread) of) : NOTHING;
        }
        return of instanceof Future ? object(of) : NOTHING;
    }

    /** Whether the thread that holds a lock is the one that has recorded it, if it is known. */
    private boolean isHeldAsRecorded(Shadow lock, Object blocker) {
        if (OWNER < 0 || !(blocker instanceof AbstractOwnableSynchronizer)) {
            return true;
        }
        Object owner = Memory.reference(blocker, OWNER);
        ThreadState holder = byNumber.get(lock.holder);
        return owner instanceof Thread ? ((Thread) owner).foretrace$state == holder : lock.holder == 0;
    }

    private long request(ThreadState state, Shadow lock) {
        if (LockRequests.isRecorded(state, lock) || !isSignalled && !isStill(byNumber.get(lock.holder))) {
            return NOTHING;
        }
        return Record.head(Record.SEEN_WAITING, Monitors.MUTEX, lock.address);
    }

    /** Whether a thread has ended, or waits without a time limit. */
    private static boolean isStill(ThreadState state) {
        Thread thread = state == null ? null : state.thread;
        return thread == null ? state != null && state.isFinished : isWaiting(thread);
    }

    private static boolean isWaiting(Thread thread) {
        return (Native.stateOf(thread) & (BLOCKED | WAITING)) != 0;
    }

    private static long join(Thread thread) {
        ThreadState other = (ThreadState) thread.foretrace$state;
        if (other == null || other == ThreadState.NONE || !isSignalled && !isWaiting(thread)) {
            return NOTHING;
        }
        return Record.head(Record.SEEN_WAITING, 0, other.slot | (long) other.generation << SLOT_BITS);
    }

    private static long object(Object of) {
        if (!isSignalled) {
            return NOTHING;
        }
        Shadow shadow = Shadows.of(of, writer, 0).whole();
        int objectClass = of instanceof Semaphore ? EffectRecorder.SEMAPHORE : EntrySync.classOf(shadow);
        return Record.head(Record.SEEN_WAITING, objectClass, shadow.address);
    }
}

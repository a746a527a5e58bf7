package foretrace.agent;

import static foretrace.agent.Memory.U;

import jdk.internal.vm.annotation.ForceInline;

/** What is told of locks and of all else that threads meet at. Who calls has the lock, or the hook is where its time is right. */
final class Locks {
    private Locks() {}

    /** A lock was taken. */
    @ForceInline
    static void taken(Buffer b, Shadow lock, int kind, int site) {
        if (lock.holder == b) {
            lock.count++;
            return;
        }
        lock.holder = b;
        lock.count = 1;
        b.epoch++;
        tell(b, lock, kind, Monitors.MUTEX, site);
    }

    /** A lock is about to be given back. */
    @ForceInline
    static void given(Buffer b, Shadow lock, int kind, int site) {
        if (lock.holder != b || --lock.count > 0) {
            return;
        }
        lock.holder = null;
        tell(b, lock, kind, Monitors.MUTEX, site);
    }

    /** A record of an object: later than the last one of it. */
    @ForceInline
    static void tell(Buffer b, Shadow of, int kind, int sort, int site) {
        if (b.room()) {
            long now = b.now(of.stamp);
            of.stamp = now;
            b.put2(Buffer.head(kind, sort, of.address), now, Buffer.place(site));
        }
    }

    /** The same where threads may come at once: nobody's time is lost. */
    static void tellShared(Buffer b, Shadow of, int kind, int sort, int site) {
        synchronized (of) {
            tell(b, of, kind, sort, site);
        }
    }

    /** A thread is about to wait on a condition: it gives the lock back. How often it had it. */
    static int waits(Buffer b, Shadow condition, Shadow lock, int site) {
        if (lock.holder != b) {
            return 0;
        }
        int count = lock.count;
        lock.holder = null;
        lock.count = 0;
        if (b.room()) {
            long now = b.now(lock.stamp);
            lock.stamp = now;
            b.put3(Buffer.head(Buffer.WAIT, Monitors.CONDITION, condition.address), now, Buffer.place(site), lock.address);
        }
        return count;
    }

    /** It goes on, and has the lock again. */
    static void woken(Buffer b, Shadow condition, Shadow lock, int count, long reason, int site) {
        lock.holder = b;
        lock.count = count;
        b.epoch++;
        if (b.room()) {
            long now = b.now(lock.stamp);
            lock.stamp = now;
            long third = lock.address | reason;
            b.put3(Buffer.head(Buffer.WOKEN, Monitors.CONDITION, condition.address), now, Buffer.place(site), third);
        }
    }
}

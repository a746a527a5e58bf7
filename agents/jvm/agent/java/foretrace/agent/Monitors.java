package foretrace.agent;

/**
 * Monitors: taken, given back, waited for. Only the outermost of nested ones are told. Whoever has the monitor may change what is known of it; the one who takes it next
 * has a later time.
 */
final class Monitors {
    /** What the objects are. */
    static final int MUTEX = 1, CONDITION = 4;

    private Monitors() {}

    static void entered(Object of, int site) {
        Buffer b = Buffer.ready();
        if (b == null) {
            return;
        }
        b.enter();
        try {
            Locks.taken(b, Shadows.of(of, b, site), Buffer.ACQUIRE, site);
            Calls.filled(b, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }

    static void leaving(Object of, int site) {
        Buffer b = Buffer.own();
        if (of == null || b == null || !b.isReady()) {
            return;
        }
        b.enter();
        try {
            Locks.given(b, Shadows.of(of, b, site), Buffer.RELEASE, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }

    static void enteredMethod(Object of, int site) {
        Buffer b = Buffer.ready();
        if (b == null) {
            return;
        }
        b.enter();
        try {
            Shadow shadow = Shadows.of(of, b, site);
            if (b.depth == b.entered.length) {
                b.entered = java.util.Arrays.copyOf(b.entered, b.depth * 2);
            }
            // Most often it is the same as the last time.
            if (b.entered[b.depth] != shadow) {
                b.entered[b.depth] = shadow;
            }
            b.depth++;
            Locks.taken(b, shadow, Buffer.ACQUIRE, site);
            Calls.filled(b, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }

    static void leavingMethod(int site) {
        Buffer b = Buffer.own();
        if (b == null || !b.isReady() || b.depth == 0) {
            return;
        }
        Shadow shadow = b.entered[--b.depth];
        b.enter();
        try {
            Locks.given(b, shadow, Buffer.RELEASE, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }

    static void wait(Object of, boolean hasTime, long milliseconds, int nanoseconds, int site) throws InterruptedException {
        Buffer b = Buffer.ready();
        boolean isTimed = milliseconds > 0 || nanoseconds > 0, isShort = isTimed && milliseconds < Locks.LONG;
        // Without the monitor it throws.
        int count = b == null || of == null || !Thread.holdsLock(of) ? 0 : waits(b, of, isShort, site);
        boolean isInterrupted = true;
        try {
            if (!hasTime) {
                of.wait();
            } else if (nanoseconds == 0) {
                of.wait(milliseconds);
            } else {
                of.wait(milliseconds, nanoseconds);
            }
            isInterrupted = false;
        } finally {
            if (count > 0) {
                woken(b, of, count, isShort, isInterrupted ? Locks.SPURIOUS : isTimed ? Locks.TIMED : Locks.NOTIFIED, site);
            }
        }
    }

    private static int waits(Buffer b, Object of, boolean isShort, int site) {
        b.enter();
        try {
            Shadow shadow = Shadows.of(of, b, site);
            return Locks.waits(b, shadow, shadow, isShort, site);
        } catch (Throwable failed) {
            Native.failed(failed);
            return 0;
        } finally {
            b.exit();
        }
    }

    private static void woken(Buffer b, Object of, int count, boolean isShort, long reason, int site) {
        b.enter();
        try {
            Shadow shadow = Shadows.of(of, b, site);
            Locks.woken(b, shadow, shadow, count, isShort, reason, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }

    static void notified(Object of, int kind, int site) {
        Buffer b = Buffer.ready();
        if (b == null || of == null) {
            return;
        }
        b.enter();
        try {
            Shadow shadow = Shadows.of(of, b, site);
            if (shadow.holder == b.mark) {
                Locks.tell(b, shadow, kind, CONDITION, site);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }
}

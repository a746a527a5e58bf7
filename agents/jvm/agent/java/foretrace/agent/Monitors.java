package foretrace.agent;

/**
 * Monitors: acquired, released, waited on. The thread that holds a monitor may change its shadow, and the next one
 * gets a later timestamp.
 */
final class Monitors {
    /** Object classes in records. */
    static final int MUTEX = 1, CONDITION = 4;

    private Monitors() {}

    static void entered(Object of, int site) {
        ThreadState self = ThreadState.ready();
        if (self == null) {
            return;
        }
        self.enter();
        try {
            Locks.acquired(self, Shadows.monitor(of, self, site), Record.ACQUIRE, site);
            Calls.filled(self, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    static void leaving(Object of, int site) {
        ThreadState self = ThreadState.own();
        if (of == null || self == null || !self.isReady()) {
            return;
        }
        self.enter();
        try {
            Locks.releasing(self, Shadows.monitor(of, self, site), Record.RELEASE, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    static void enteredMethod(Object of, int site) {
        ThreadState self = ThreadState.ready();
        if (self == null) {
            return;
        }
        self.enter();
        try {
            Shadow shadow = Shadows.monitor(of, self, site);
            if (self.methodDepth == self.methodMonitors.length) {
                self.methodMonitors = java.util.Arrays.copyOf(self.methodMonitors, self.methodDepth * 2);
            }
            // Most often it is the monitor of the last time: the store is spared.
            if (self.methodMonitors[self.methodDepth] != shadow) {
                self.methodMonitors[self.methodDepth] = shadow;
            }
            self.methodDepth++;
            Locks.acquired(self, shadow, Record.ACQUIRE, site);
            Calls.filled(self, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    static void leavingMethod(int site) {
        ThreadState self = ThreadState.own();
        if (self == null || !self.isReady() || self.methodDepth == 0) {
            return;
        }
        Shadow shadow = self.methodMonitors[--self.methodDepth];
        self.enter();
        try {
            Locks.releasing(self, shadow, Record.RELEASE, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    static void wait(Object of, boolean hasTime, long milliseconds, int nanoseconds, int site)
        throws InterruptedException {
        ThreadState self = ThreadState.ready();
        boolean isTimed = milliseconds > 0 || nanoseconds > 0, isShort = isTimed && milliseconds < Locks.LONG;
        // A thread that does not hold the monitor gets an exception.
        int count = self == null || of == null || !Thread.holdsLock(of) ? 0 : waits(self, of, isShort, site);
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
                long reason = isInterrupted ? Locks.SPURIOUS : isTimed ? Locks.TIMED : Locks.NOTIFIED;
                woken(self, of, count, isShort, reason, site);
            }
        }
    }

    private static int waits(ThreadState self, Object of, boolean isShort, int site) {
        self.enter();
        try {
            Shadow shadow = Shadows.monitor(of, self, site);
            return Locks.waits(self, shadow, shadow, isShort, site);
        } catch (Throwable failed) {
            Native.failed(failed);
            return 0;
        } finally {
            self.exit();
        }
    }

    private static void woken(ThreadState self, Object of, int count, boolean isShort, long reason, int site) {
        self.enter();
        try {
            Shadow shadow = Shadows.monitor(of, self, site);
            Locks.woken(self, shadow, shadow, count, isShort, reason, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    static void notified(Object of, int kind, int site) {
        ThreadState self = ThreadState.ready();
        if (self == null || of == null) {
            return;
        }
        self.enter();
        try {
            Shadow shadow = Shadows.monitor(of, self, site);
            if (shadow.holder == self.number) {
                Locks.record(self, shadow, kind, CONDITION, site);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }
}

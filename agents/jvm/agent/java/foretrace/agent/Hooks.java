package foretrace.agent;

import jdk.internal.vm.annotation.ForceInline;

/**
 * The methods that woven classes call (agents/jvm/weave/src/hooks/mod.rs lists where). They throw nothing but what
 * the program's own call throws.
 */
public final class Hooks {
    private Hooks() {}

    // Values that are objects are not recorded: an object may be read before it has an address.

    @ForceInline
    public static void read(Object of, int value, int site) {
        Accesses.read(false, of, value, null, site);
    }

    @ForceInline
    public static void read(Object of, long value, int site) {
        Accesses.read(false, of, value, null, site);
    }

    @ForceInline
    public static void read(Object of, float value, int site) {
        Accesses.read(false, of, Double.doubleToRawLongBits(value), null, site);
    }

    @ForceInline
    public static void read(Object of, double value, int site) {
        Accesses.read(false, of, Double.doubleToRawLongBits(value), null, site);
    }

    @ForceInline
    public static void read(Object of, Object value, int site) {
        Accesses.read(false, of, 0, value, site);
    }

    @ForceInline
    public static void read(int value, int site) {
        Accesses.read(true, null, value, null, site);
    }

    @ForceInline
    public static void read(long value, int site) {
        Accesses.read(true, null, value, null, site);
    }

    @ForceInline
    public static void read(float value, int site) {
        Accesses.read(true, null, Double.doubleToRawLongBits(value), null, site);
    }

    @ForceInline
    public static void read(double value, int site) {
        Accesses.read(true, null, Double.doubleToRawLongBits(value), null, site);
    }

    @ForceInline
    public static void read(Object value, int site) {
        Accesses.read(true, null, 0, value, site);
    }

    @ForceInline
    public static void write(Object of, int value, int site) {
        Accesses.write(false, of, value, site);
    }

    @ForceInline
    public static void write(Object of, long value, int site) {
        Accesses.write(false, of, value, site);
    }

    @ForceInline
    public static void write(Object of, float value, int site) {
        Accesses.write(false, of, Double.doubleToRawLongBits(value), site);
    }

    @ForceInline
    public static void write(Object of, double value, int site) {
        Accesses.write(false, of, Double.doubleToRawLongBits(value), site);
    }

    @ForceInline
    public static void write(Object of, Object value, int site) {
        Accesses.write(false, of, 0, site);
    }

    @ForceInline
    public static void write(int value, int site) {
        Accesses.write(true, null, value, site);
    }

    @ForceInline
    public static void write(long value, int site) {
        Accesses.write(true, null, value, site);
    }

    @ForceInline
    public static void write(float value, int site) {
        Accesses.write(true, null, Double.doubleToRawLongBits(value), site);
    }

    @ForceInline
    public static void write(double value, int site) {
        Accesses.write(true, null, Double.doubleToRawLongBits(value), site);
    }

    @ForceInline
    public static void write(Object value, int site) {
        Accesses.write(true, null, 0, site);
    }

    @ForceInline
    public static void reading(Object of, int site) {
        Accesses.reading(false, of, site);
    }

    @ForceInline
    public static void reading(int site) {
        Accesses.reading(true, null, site);
    }

    @ForceInline
    public static void wrote(int site) {
        Accesses.wrote(site);
    }

    @ForceInline
    public static void element(Object array, int index, int site) {
        Accesses.element(array, index, site);
    }

    @ForceInline
    public static void store(Object array, int index, int site) {
        Accesses.store(array, index, site);
    }

    public static void entered(Object of, int site) {
        Monitors.entered(of, site);
    }

    public static void leaving(Object of, int site) {
        Monitors.leaving(of, site);
    }

    public static void enteredMethod(Object of, int site) {
        Monitors.enteredMethod(of, site);
    }

    public static void leavingMethod(int site) {
        Monitors.leavingMethod(site);
    }

    public static void wait(Object of, int site) throws InterruptedException {
        Monitors.wait(of, false, 0, 0, site);
    }

    public static void wait(Object of, long milliseconds, int site) throws InterruptedException {
        Monitors.wait(of, true, milliseconds, 0, site);
    }

    public static void wait(Object of, long milliseconds, int nanoseconds, int site) throws InterruptedException {
        Monitors.wait(of, true, milliseconds, nanoseconds, site);
    }

    public static void notify(Object of, int site) {
        Monitors.notified(of, Record.NOTIFY, site);
        of.notify();
    }

    public static void notifyAll(Object of, int site) {
        Monitors.notified(of, Record.NOTIFY_ALL, site);
        of.notifyAll();
    }

    @ForceInline
    public static void before(Object of, int site) {
        Calls.before(of, null, -1, 0, null, false, site);
    }

    @ForceInline
    public static void before(Object of, Object argument, int index, long value, int site) {
        Calls.before(of, argument, index, value, null, true, site);
    }

    @ForceInline
    public static void before(Object of, Object argument, int index, Object value, int site) {
        Calls.before(of, argument, index, 0, value, false, site);
    }

    @ForceInline
    public static void after(Object of, int site) {
        Calls.after(0, null, false, of, null, -1, 0, null, false, site);
    }

    @ForceInline
    public static void after(long result, Object of, int site) {
        Calls.after(result, null, true, of, null, -1, 0, null, false, site);
    }

    @ForceInline
    public static void after(Object result, Object of, int site) {
        Calls.after(0, result, false, of, null, -1, 0, null, false, site);
    }

    @ForceInline
    public static void after(long result, Object of, Object argument, int index, long value, int site) {
        Calls.after(result, null, true, of, argument, index, value, null, true, site);
    }

    @ForceInline
    public static void after(long result, Object of, Object argument, int index, Object value, int site) {
        Calls.after(result, null, true, of, argument, index, 0, value, false, site);
    }

    @ForceInline
    public static void after(Object result, Object of, Object argument, int index, long value, int site) {
        Calls.after(0, result, false, of, argument, index, value, null, true, site);
    }

    @ForceInline
    public static void after(Object result, Object of, Object argument, int index, Object value, int site) {
        Calls.after(0, result, false, of, argument, index, 0, value, false, site);
    }

    public static void threw(Object of) {
        Calls.threw(of);
    }

    @ForceInline
    public static void inside(Object of, int site) {
        Inside.record(of, 0, null, site);
    }

    @ForceInline
    public static void inside(Object of, long value, int site) {
        Inside.record(of, value, null, site);
    }

    @ForceInline
    public static void inside(Object of, Object value, int site) {
        Inside.record(of, 0, value, site);
    }

    public static void guarded(Object of, Object argument, int index, int site) {
        GuardedCollections.accessed(of, argument, index, site);
    }

    @ForceInline
    public static void unseen() {
        ThreadState self = ThreadState.own();
        if (self != null && self.held.isUnmarked()) {
            self.held.mark(self);
        }
    }

    public static void elements(Object array, int from, int to, int how, int site) {
        Accesses.elements(array, from, to, how, site);
    }

    public static void copied(Object collection, int site) {
        ThreadState self = collection == null ? null : ThreadState.ready();
        if (self == null) {
            return;
        }
        self.enter();
        try {
            PlainCollections.copied(self, collection, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    public static void internal(String name, Object value, int site) {
        SpecEvents.internal(name, value, site);
    }

    public static void begin(String name, int site) {
        SpecEvents.block(Record.BEGIN, name, site);
    }

    public static void end(String name, int site) {
        SpecEvents.block(Record.LEAVE, name, site);
    }

    public static void argument(Object value, int site) {
        SpecEvents.argument(value, 0, 0, EventValues.OBJECT, site);
    }

    public static void argument(long value, int site) {
        SpecEvents.argument(null, value, 0, EventValues.NUMBER, site);
    }

    public static void argument(double value, int site) {
        SpecEvents.argument(null, 0, value, EventValues.REAL, site);
    }

    public static void event(String name, String plan, int site) {
        SpecEvents.event(name, plan, false, site);
    }

    public static void eventThrown(String name, String plan, int site) {
        SpecEvents.event(name, plan, true, site);
    }

    public static void initialising() {
        ThreadState self = ThreadState.own();
        if (self == null) {
            ThreadState.ready();
            self = ThreadState.own();
        }
        if (self != null) {
            self.initialise(1);
        }
    }

    public static void initialised() {
        ThreadState self = ThreadState.own();
        if (self != null) {
            self.initialise(-1);
        }
    }

    @ForceInline
    public static void made(Object object, int site) {
        if (object instanceof Watched && ((Watched) object).foretrace$shadow == null) {
            Shadows.made(object, site);
        } else if (object instanceof Watched || Shadows.isLock(object)) {
            madeWithShadow(object, site);
        }
    }

    @ForceInline
    public static void kept(Object owner, Object value, int site) {
        // A write through null throws in the program.
        if (owner != null) {
            Kept.put(owner, value, site);
        }
    }

    @ForceInline
    public static void kept(Object value, int site) {
        Kept.put(null, value, site);
    }

    private static void madeWithShadow(Object object, int site) {
        ThreadState self = ThreadState.ready();
        if (self == null) {
            return;
        }
        self.enter();
        try {
            Shadows.made(object, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    public static void cloned(Object copy) {
        try {
            if (copy != null) {
                Sites.clear(copy);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        }
    }

    public static void starting(Thread thread) {
        Threads.starting(thread);
    }

    /** The current thread ends. The library calls this. */
    static void ending() {
        Threads.ending();
    }

    /** The current thread waits for a monitor. The library calls this. */
    static void contended(Object of) {
        LockRequests.contended(of);
    }

    /** Initialises a class of the agent's. The library calls this. */
    static void initialise(Object of) {
        Memory.U.ensureClassInitialized((Class<?>) of);
    }

    /** Loads what hooks need, before any hook needs it. The library calls this. */
    static void ready() {
        ThreadState self = ThreadState.attached();
        Object lock = new Object();
        Shadows.of(lock, self, 0);
        hide();
    }

    /**
     * Hides the agent's fields from reflection: a program that copies all fields of an object must not copy its
     * identity.
     */
    private static void hide() {
        hide(Watched.class, java.util.Set.of("foretrace$shadow", "foretrace$born", "foretrace$seen"));
        hide(Thread.class, java.util.Set.of("foretrace$state"));
    }

    private static void hide(Class<?> of, java.util.Set<String> names) {
        try {
            for (java.lang.reflect.Method method : jdk.internal.reflect.Reflection.class.getMethods()) {
                if (method.getName().equals("registerFieldsToFilter")) {
                    boolean isOld = method.getParameterTypes()[1] == String[].class;
                    method.invoke(null, of, isOld ? names.toArray(new String[0]) : names);
                }
            }
        } catch (Throwable unknown) {
            // Then reflection shows them.
        }
    }
}

package foretrace.agent;

/** Prints every call to standard error: the hook, the number of the site, the value. */
public final class Hooks {
    private static void print(String what, int site, Object value) {
        System.err.println(what + " " + site + " " + value);
    }

    public static void read(Object o, int v, int site) { print("read", site, v); }
    public static void read(Object o, long v, int site) { print("read", site, v); }
    public static void read(Object o, float v, int site) { print("read", site, v); }
    public static void read(Object o, double v, int site) { print("read", site, v); }
    public static void read(Object o, Object v, int site) { print("read", site, v instanceof String ? v : v != null); }
    public static void write(Object o, int v, int site) { print("write", site, v); }
    public static void write(Object o, long v, int site) { print("write", site, v); }
    public static void write(Object o, float v, int site) { print("write", site, v); }
    public static void write(Object o, double v, int site) { print("write", site, v); }
    public static void write(Object o, Object v, int site) {
        print("write", site, v instanceof String ? v : v != null);
    }
    public static void read(int v, int site) { print("read", site, v); }
    public static void read(long v, int site) { print("read", site, v); }
    public static void read(float v, int site) { print("read", site, v); }
    public static void read(double v, int site) { print("read", site, v); }
    public static void read(Object v, int site) { print("read", site, v instanceof String ? v : v != null); }
    public static void write(int v, int site) { print("write", site, v); }
    public static void write(long v, int site) { print("write", site, v); }
    public static void write(float v, int site) { print("write", site, v); }
    public static void write(double v, int site) { print("write", site, v); }
    public static void write(Object v, int site) { print("write", site, v instanceof String ? v : v != null); }
    public static void element(Object a, int i, int site) { print("element", site, a.getClass().getSimpleName() + i); }
    public static void store(Object a, int i, int site) { print("store", site, a.getClass().getSimpleName() + i); }
    public static void reading(Object o, int site) { print("reading", site, o != null); }
    public static void reading(int site) { print("reading", site, ""); }
    public static void wrote(int site) { print("wrote", site, ""); }
    public static void initialising() { }
    public static void initialised() { }
    public static void unseen() { }
    public static void guarded(Object o, Object argument, int index, int site) { }
    public static void threw(Object of) { System.err.println("threw"); }
    public static void made(Object o, int site) { }
    public static void kept(Object owner, Object o, int site) { }
    public static void kept(Object o, int site) { }
    public static void cloned(Object o) { }
    public static void elements(Object array, int from, int to, int how, int site) { }
    public static void copied(Object o, int site) { }
    public static void entered(Object o, int site) { print("entered", site, Thread.holdsLock(o)); }
    public static void leaving(Object o, int site) { print("leaving", site, Thread.holdsLock(o)); }
    public static void enteredMethod(Object o, int site) { print("entered method", site, Thread.holdsLock(o)); }
    public static void leavingMethod(int site) { print("leaving method", site, ""); }

    private static String of(Object o) { return o == null ? "" : o.getClass().getSimpleName() + " "; }
    private static Object plain(Object v) { return v instanceof String || v instanceof Class ? v : v != null; }
    private static String of(Object o, Object argument, int index) {
        return of(o) + "of " + plain(argument) + " " + index;
    }

    public static void before(Object o, int site) { print("before", site, of(o)); }
    public static void after(Object o, int site) { print("after", site, of(o)); }
    public static void after(long result, Object o, int site) { print("after", site, of(o) + result); }
    public static void after(Object result, Object o, int site) { print("after", site, of(o) + plain(result)); }
    public static void before(Object o, Object argument, int index, long value, int site) {
        print("before", site, of(o, argument, index) + " value " + value);
    }
    public static void before(Object o, Object argument, int index, Object value, int site) {
        print("before", site, of(o, argument, index) + " value " + plain(value));
    }
    public static void after(long result, Object o, Object argument, int index, long value, int site) {
        print("after", site, of(o, argument, index) + " value " + value + " " + result);
    }
    public static void after(long result, Object o, Object argument, int index, Object value, int site) {
        print("after", site, of(o, argument, index) + " value " + plain(value) + " " + result);
    }
    public static void after(Object result, Object o, Object argument, int index, long value, int site) {
        print("after", site, of(o, argument, index) + " value " + value + " " + plain(result));
    }
    public static void after(Object result, Object o, Object argument, int index, Object value, int site) {
        print("after", site, of(o, argument, index) + " value " + plain(value) + " " + plain(result));
    }

    public static void wait(Object o, int site) throws InterruptedException { print("wait", site, ""); o.wait(); }
    public static void wait(Object o, long ms, int site) throws InterruptedException {
        print("wait", site, ms);
        o.wait(ms);
    }
    public static void wait(Object o, long ms, int ns, int site) throws InterruptedException {
        print("wait", site, ms + " " + ns);
        o.wait(ms, ns);
    }
    public static void notify(Object o, int site) { print("notify", site, ""); o.notify(); }
    public static void notifyAll(Object o, int site) { print("notifyAll", site, ""); o.notifyAll(); }
}

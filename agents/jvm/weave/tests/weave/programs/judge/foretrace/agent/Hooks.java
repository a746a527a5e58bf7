package foretrace.agent;

/**
 * Passes effects of the tables, and accesses of static ints, to the {@link Judge}; other hooks do nothing. So do all of
 * them until there is a judge, and while it works.
 */
public final class Hooks {
    static Judge judge;

    public static void read(Object o, int v, int site) { }
    public static void read(Object o, long v, int site) { }
    public static void read(Object o, float v, int site) { }
    public static void read(Object o, double v, int site) { }
    public static void read(Object o, Object v, int site) { }
    public static void read(int v, int site) { if (judge != null) judge.access(false, site); }
    public static void read(long v, int site) {  }
    public static void read(float v, int site) {  }
    public static void read(double v, int site) {  }
    public static void read(Object v, int site) {  }
    public static void write(Object o, int v, int site) { }
    public static void write(Object o, long v, int site) { }
    public static void write(Object o, float v, int site) { }
    public static void write(Object o, double v, int site) { }
    public static void write(Object o, Object v, int site) { }
    public static void write(int v, int site) { if (judge != null) judge.access(true, site); }
    public static void write(long v, int site) {  }
    public static void write(float v, int site) {  }
    public static void write(double v, int site) {  }
    public static void write(Object v, int site) {  }
    public static void element(Object a, int i, int site) { }
    public static void store(Object a, int i, int site) { }
    public static void entered(Object o, int site) { if (judge != null) judge.monitor(o, true); }
    public static void leaving(Object o, int site) { if (judge != null) judge.monitor(o, false); }
    public static void enteredMethod(Object o, int site) { if (judge != null) judge.enteredMethod(o); }
    public static void leavingMethod(int site) { if (judge != null) judge.leavingMethod(); }
    public static void reading(Object o, int site) { }
    public static void reading(int site) { }
    public static void wrote(int site) { }
    public static void initialising() { }
    public static void initialised() { }
    public static void unseen() { }
    public static void guarded(Object o, Object argument, int index, int site) { }
    public static void threw(Object of) { }
    public static void made(Object o, int site) { }
    public static void kept(Object owner, Object o, int site) { }
    public static void kept(Object o, int site) { }
    public static void cloned(Object o) { }
    public static void elements(Object array, int from, int to, int how, int site) { }
    public static void copied(Object o, int site) { }
    public static void wait(Object o, int site) throws InterruptedException { o.wait(); }
    public static void wait(Object o, long ms, int site) throws InterruptedException { o.wait(ms); }
    public static void wait(Object o, long ms, int ns, int site) throws InterruptedException { o.wait(ms, ns); }
    public static void notify(Object o, int site) { o.notify(); }
    public static void notifyAll(Object o, int site) { o.notifyAll(); }

    private static void call(
        boolean isBefore, Object result, Object o, Object argument, int index, Object value, int site) {
        if (judge != null)
            judge.call(isBefore, result, o, argument, index, value, site);
    }

    public static void before(Object o, int site) { call(true, null, o, null, -1, 0L, site); }
    public static void after(Object o, int site) { call(false, null, o, null, -1, 0L, site); }
    public static void after(long result, Object o, int site) { call(false, result, o, null, -1, 0L, site); }
    public static void after(Object result, Object o, int site) { call(false, result, o, null, -1, 0L, site); }
    public static void before(Object o, Object argument, int index, long value, int site) {
        call(true, null, o, argument, index, value, site);
    }
    public static void after(long result, Object o, Object argument, int index, long value, int site) {
        call(false, result, o, argument, index, value, site);
    }
    public static void after(Object result, Object o, Object argument, int index, long value, int site) {
        call(false, result, o, argument, index, value, site);
    }
    public static void before(Object o, Object argument, int index, Object value, int site) {
        call(true, null, o, argument, index, value, site);
    }
    public static void after(long result, Object o, Object argument, int index, Object value, int site) {
        call(false, result, o, argument, index, value, site);
    }
    public static void after(Object result, Object o, Object argument, int index, Object value, int site) {
        call(false, result, o, argument, index, value, site);
    }

    public static void inside(Object o, int site) { if (judge != null) judge.inside(o, null, site); }
    public static void inside(Object o, long value, int site) { if (judge != null) judge.inside(o, value, site); }
    public static void inside(Object o, Object value, int site) { if (judge != null) judge.inside(o, value, site); }
}

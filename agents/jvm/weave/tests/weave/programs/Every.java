// One of everything that has a hook.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.StampedLock;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.IntSupplier;

public class Every {
    static int si;
    static long sj;
    static Object sl;
    boolean z;
    byte b;
    char c;
    short s;
    int i;
    long j;
    float f;
    double d;
    String l;
    final int[] ints = new int[2];

    Every(int start) {
        i = start;
    }

    synchronized int locked(int by) {
        if (by < 0)
            throw new IllegalArgumentException("no");
        i += by;
        return i;
    }

    static synchronized long lockedStatic() {
        return ++sj;
    }

    static int branches(int n) {
        int sum = 0;
        loop:
        for (int k = 0; k < n; k++) {
            switch (k) {
                case 0: si = k; break;
                case 1: sum += si; continue;
                case 2: break loop;
                default: sum -= 1;
            }
            switch (k * 1000) {
                case 0: sum += 10; break;
                case 100000: sum += 20; break;
            }
        }
        return sum;
    }

    static void arrays() {
        boolean[] zs = { true };
        byte[] bs = { 1 };
        char[] cs = { 'c' };
        short[] ss = { 2 };
        int[] is = { 3 };
        long[] js = { 4 };
        float[] fs = { 5 };
        double[] ds = { 6 };
        Object[] ls = { "x" };
        bs[0] += cs[0] + ss[0] + is[0];
        js[0] += (long) (fs[0] + ds[0]);
        if (zs[0])
            sl = ls[0];
    }

    static void waits(Object o) throws InterruptedException {
        synchronized (o) {
            o.wait(1);
            o.wait(1, 1);
            o.notify();
            o.notifyAll();
        }
    }

    interface Door {
        default void lock() { si++; }

        static int through(Lock l) {
            l.lock();
            l.unlock();
            return 1;
        }
    }

    static int concurrent() throws InterruptedException {
        ReentrantLock r = new ReentrantLock();
        Lock l = r;
        r.lock();
        boolean twice = l.tryLock() && l.tryLock(1, TimeUnit.SECONDS);
        for (int k = 0; k < 3; k++)
            l.unlock();
        CountDownLatch latch = new CountDownLatch(1);
        boolean early = latch.await(1, TimeUnit.MILLISECONDS);
        latch.countDown();
        latch.await();
        Semaphore s = new Semaphore(3);
        s.acquire(2);
        boolean none = s.tryAcquire(2, 1L, TimeUnit.MILLISECONDS);
        s.release();
        new Door() { }.lock();
        return (twice ? 1 : 0) + (early ? 2 : 0) + (none ? 4 : 0) + 8 * Door.through(l);
    }

    volatile String named;

    static long atomics() {
        AtomicInteger i = new AtomicInteger();
        i.set(1);
        boolean swapped = i.compareAndSet(1, 2) && !i.compareAndSet(1, 3);
        AtomicLongArray a = new AtomicLongArray(2);
        long added = a.getAndAdd(1, 5L);
        AtomicReference<String> r = new AtomicReference<>("r");
        String was = r.getAndSet("s");
        AtomicReferenceFieldUpdater<Every, String> u =
            AtomicReferenceFieldUpdater.newUpdater(Every.class, String.class, "named");
        boolean named = u.compareAndSet(new Every(1), null, "n");
        return i.getAndIncrement() + added + was.length() + (swapped ? 10 : 0) + (named ? 20 : 0);
    }

    static double handles() throws ReflectiveOperationException {
        VarHandle d = MethodHandles.lookup().findVarHandle(Every.class, "d", double.class);
        VarHandle si = MethodHandles.lookup().findStaticVarHandle(Every.class, "si", int.class);
        VarHandle fs = MethodHandles.arrayElementVarHandle(float[].class);
        Every e = new Every(1);
        d.setRelease(e, 2.5);
        si.getAndAdd(4);
        float[] floats = { 1, 2 };
        boolean swapped = fs.compareAndSet(floats, 1, 2f, 3f);
        VarHandle.fullFence();
        return (double) d.getAcquire(e) + (int) si.getVolatile() + (swapped ? (float) fs.getOpaque(floats, 1) : 0);
    }

    static int collections() throws InterruptedException {
        BlockingQueue<String> q = new LinkedBlockingQueue<>();
        q.put("q");
        Map<String, Integer> m = new ConcurrentHashMap<>();
        m.put("k", 1);
        m.merge("k", 2, Integer::sum);
        Iterator<String> keys = m.keySet().iterator();
        return q.take().length() + m.get("k") + keys.next().length() + List.of(1, 2).get(1);
    }

    static int threads() throws InterruptedException {
        StampedLock s = new StampedLock();
        long stamp = s.tryConvertToReadLock(s.writeLock());
        s.unlock(stamp);
        Lock l = new ReentrantLock();
        Condition c = l.newCondition();
        Thread.currentThread().interrupt();
        l.lock();
        try {
            c.await();
        } catch (InterruptedException e) {
            sl = null;
        }
        l.unlock();
        Thread t = new Thread(() -> { });
        t.start();
        t.join();
        LockSupport.unpark(Thread.currentThread());
        LockSupport.park("here");
        return t.isAlive() || Thread.interrupted() ? 1 : 2;
    }

    static int references() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        Runnable down = latch::countDown;
        down.run();
        Lock l = new ReentrantLock();
        Runnable[] both = { l::lock, l::unlock };
        both[0].run();
        both[1].run();
        Function<AtomicInteger, Integer> next = AtomicInteger::incrementAndGet;
        BiFunction<Map<String, Long>, String, Long> get = Map::get;
        LinkedBlockingQueue<String> q = new LinkedBlockingQueue<>(List.of("a"));
        Callable<String> take = q::take;
        BooleanSupplier interrupted = Thread::interrupted;
        return next.apply(new AtomicInteger(4)) + get.apply(Map.of("k", 5L), "k").intValue() + take.call().length()
            + (interrupted.getAsBoolean() ? 1 : 0);
    }

    class Inner {
        final int q = i + 1;
    }

    public static void main(String[] args) throws Exception {
        Every e = new Every(7);
        e.z = true;
        e.b = 1;
        e.c = 'c';
        e.s = 2;
        e.j = 3L;
        e.f = 4f;
        e.d = 5d;
        e.l = "l";
        double sum = (e.z ? 1 : 0) + e.b + e.c + e.s + e.j + e.f + e.d + e.l.length();
        e.ints[1] = e.locked(1);
        try {
            e.locked(-1);
        } catch (IllegalArgumentException x) {
            sum += x.getMessage().length();
        }
        IntSupplier of = () -> e.i + si;
        waits(new Object());
        sum += concurrent() + atomics() + handles() + collections() + threads() + references() + throwing();
        arrays();
        System.out.println(sum + " " + branches(9) + " " + lockedStatic() + " " + e.new Inner().q + " " + of.getAsInt()
            + " " + sl + " " + e.ints[1]);
    }

    static int throwing() {
        try {
            return new AtomicInteger().updateAndGet(v -> 1 / v);
        } catch (ArithmeticException e) {
            return 1;
        }
    }
}

//! What watching must not do to a program, and must not say of it where it does not see all.

use crate::common::{Folder, java};
use serde_json::Value;
use std::process::Command;

/// Goes as deep as an interpreter does with HotSpot's stacks, in methods that have been compiled meanwhile.
const DEEP: &str = r#"
public class Deep {
    int count;

    synchronized int down(int left) {
        count++;
        return left == 0 ? 0 : 1 + down(left - 1);
    }

    public static void main(String[] args) throws Exception {
        Runnable often = () -> {
            for (int i = 0; i < 20; i++) {
                new Deep().down(7000);
            }
        };
        Thread other = new Thread(often);
        other.start();
        other.join();
        often.run();
        System.out.println("up again");
    }
}
"#;

/// All accesses of the count are under the monitor. Where the stack ends hooks fail, too.
const OVERFLOWN: &str = r#"
public class Overflown {
    static final Object monitor = new Object();
    static int count, overflown;

    static void down() {
        synchronized (monitor) {
            down();
        }
    }

    static void again() {
        synchronized (monitor) {
            count++;
        }
    }

    static void deep() {
        try {
            down();
        } catch (StackOverflowError expected) {
            overflown++;
        }
        again();
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 3; i++) {
            Thread deep = new Thread(null, Overflown::deep, "deep", 1 << 18), other = new Thread(Overflown::again);
            deep.start();
            other.start();
            deep.join();
            other.join();
        }
        System.out.println(overflown + " times, " + count);
    }
}
"#;

/// Who comes to a variable that another thread is at, and may be for ever, waits once at most.
const PATIENT: &str = r#"
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

public class Patient {
    static final int COUNT = 16;
    static final AtomicInteger one = new AtomicInteger();
    static final AtomicInteger[] several = new AtomicInteger[COUNT];
    static final CountDownLatch come = new CountDownLatch(COUNT + 1), over = new CountDownLatch(1);

    static int stays(int value) {
        come.countDown();
        try {
            over.await();
        } catch (InterruptedException e) {
            return -1;
        }
        return value + 1;
    }

    static void throwsSomething(AtomicInteger of) {
        try {
            of.updateAndGet(value -> 1 / value);
        } catch (ArithmeticException e) {
            stays(0);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[COUNT + 1];
        for (int i = 0; i < COUNT; i++) {
            AtomicInteger of = several[i] = new AtomicInteger();
            threads[i] = new Thread(() -> throwsSomething(of));
        }
        threads[COUNT] = new Thread(() -> one.updateAndGet(Patient::stays));
        for (Thread thread : threads) {
            thread.start();
        }
        come.await();
        long begin = System.nanoTime();
        for (AtomicInteger of : several) {
            one.get();
            of.get();
        }
        long milliseconds = (System.nanoTime() - begin) / 1_000_000;
        over.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(one.get() + (milliseconds < 2000 ? " soon" : " after " + milliseconds + " ms"));
    }
}
"#;

/// A loader is still being asked whether its classes find the hooks when another thread loads a class by it.
const LOADING: &str = r#"
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public class Loading extends ClassLoader {
    static {
        registerAsParallelCapable();
    }

    final AtomicInteger asked = new AtomicInteger();
    final CountDownLatch isAsked = new CountDownLatch(1), isLoaded = new CountDownLatch(1);

    public static class First implements Runnable {
        static int x;

        public void run() {
            x++;
        }
    }

    public static class Second implements Runnable {
        static int x;

        public void run() {
            x++;
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        try {
            if (name.startsWith("foretrace.") && asked.getAndIncrement() == 0) {
                isAsked.countDown();
                isLoaded.await(9, TimeUnit.SECONDS);
            }
            if (!name.startsWith("Loading$")) {
                return super.loadClass(name, resolve);
            }
            byte[] file = Files.readAllBytes(Path.of(name + ".class"));
            return defineClass(name, file, 0, file.length);
        } catch (IOException | InterruptedException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    static void race(Class<?> of) throws Exception {
        Runnable part = (Runnable) of.getDeclaredConstructor().newInstance();
        Thread one = new Thread(part), other = new Thread(part);
        one.start();
        other.start();
        one.join();
        other.join();
    }

    public static void main(String[] args) throws Exception {
        Loading loader = new Loading();
        Class<?>[] first = new Class<?>[1];
        Thread asks = new Thread(() -> {
            try {
                first[0] = loader.loadClass("Loading$First");
            } catch (ClassNotFoundException e) {
                e.printStackTrace();
            }
        });
        asks.start();
        loader.isAsked.await(9, TimeUnit.SECONDS);
        Class<?> second = loader.loadClass("Loading$Second");
        loader.isLoaded.countDown();
        asks.join();
        race(first[0]);
        race(second);
        System.out.println("loaded");
    }
}
"#;

/// Classes that call methods of the tables, of class loaders that are no longer needed.
const LEAVING: &str = r#"
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.locks.ReentrantLock;

public class Leaving extends ClassLoader {
    public static class Locking extends ReentrantLock implements Runnable {
        public void run() {
            lock();
            unlock();
        }
    }

    public static class Updating implements Runnable {
        static final AtomicIntegerFieldUpdater<Updating> COUNT =
            AtomicIntegerFieldUpdater.newUpdater(Updating.class, "count");
        volatile int count;

        public void run() {
            COUNT.incrementAndGet(this);
        }
    }

    static WeakReference<Leaving> used(String name) throws Exception {
        Leaving loader = new Leaving();
        try (InputStream in = Leaving.class.getResourceAsStream(name + ".class")) {
            byte[] file = in.readAllBytes();
            Class<?> of = loader.defineClass(name, file, 0, file.length);
            Runnable made = (Runnable) of.getDeclaredConstructor().newInstance();
            // Who calls stays: what it knows of the callee must not keep it.
            made.run();
            if (made instanceof ReentrantLock) {
                ((ReentrantLock) made).lock();
                ((ReentrantLock) made).unlock();
            }
        }
        return new WeakReference<>(loader);
    }

    static String isGone(WeakReference<Leaving> loader) throws InterruptedException {
        for (int i = 0; i < 100 && loader.get() != null; i++) {
            System.gc();
            Thread.sleep(20);
        }
        return loader.get() == null ? "gone" : "kept";
    }

    public static void main(String[] args) throws Exception {
        WeakReference<Leaving> locking = used("Leaving$Locking"), updating = used("Leaving$Updating");
        System.out.println(isGone(locking) + " " + isGone(updating));
    }
}
"#;

/// A lock is given back, by a call that was never made before, where there is no room for anything.
const FILLED: &str = r#"
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

public class Filled {
    static final ReentrantLock lock = new ReentrantLock();
    static List<byte[]> all;

    static void fill() {
        lock.lock();
        try {
            all = new ArrayList<>(1 << 20);
            for (int size = 1 << 20; size > 0; ) {
                try {
                    all.add(new byte[size]);
                } catch (OutOfMemoryError full) {
                    size /= 2;
                }
            }
            for (;;) {
                all.add(new byte[0]);
            }
        } finally {
            lock.unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        try {
            fill();
        } catch (OutOfMemoryError expected) {
            all = null;
        }
        System.out.print(lock.isLocked() ? "kept, " : "given back, ");
        System.out.flush();
        Thread other = new Thread(() -> {
            lock.lock();
            lock.unlock();
        });
        other.setDaemon(true);
        other.start();
        other.join(5000);
        System.out.println(other.isAlive() ? "waits" : "over");
    }
}
"#;

/// Two threads, one after the other, give a lock back that they have taken in code that is not watched, and one waits
/// on a condition that was made there.
const UNSEEN: &str = r#"
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class Unseen {
    static final ReentrantLock lock = new ReentrantLock(), other = new ReentrantLock();
    static int count;
    static boolean isReady;

    static class Taker {
        static final Condition ready = other.newCondition();

        static void take() {
            lock.lock();
        }
    }

    static void count() {
        Taker.take();
        count++;
        lock.unlock();
    }

    static void await() {
        other.lock();
        try {
            while (!isReady) {
                Taker.ready.await();
            }
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        } finally {
            other.unlock();
        }
    }

    public static void main(String[] args) throws Exception {
        Thread counts = new Thread(Unseen::count), awaits = new Thread(Unseen::await);
        counts.start();
        counts.join();
        count();
        awaits.start();
        for (boolean isWaiting = false; !isWaiting; Thread.yield()) {
            other.lock();
            isWaiting = other.hasWaiters(Taker.ready);
            isReady = isWaiting;
            if (isWaiting) {
                Taker.ready.signal();
            }
            other.unlock();
        }
        awaits.join();
        System.out.println(count + " and " + isReady);
    }
}
"#;

#[test]
fn recursions_get_as_deep_as_ever() {
    assert_eq!(said("Deep", DEEP, &[], &[]).0, "up again\n");
}

#[test]
fn nobody_waits_twice_for_the_same() {
    assert_eq!(said("Patient", PATIENT, &[], &[]).0, "1 soon\n");
}

#[test]
fn a_loader_that_is_being_asked_loads_other_classes() {
    let (said, objects) = said("Loading", LOADING, &[], &[]);
    assert_eq!((&said[..], objects), ("loaded\n", vec!["Loading$First.x".to_owned(), "Loading$Second.x".to_owned()]));
}

#[test]
fn without_room_on_the_stack_nothing_is_sure() {
    let (said, objects) = said("Overflown", OVERFLOWN, &[], &[]);
    assert_eq!((&said[..], objects), ("3 times, 6\n", vec![]));
}

#[test]
fn class_loaders_are_not_kept() {
    assert_eq!(said("Leaving", LEAVING, &[], &[]).0, "gone gone\n");
}

#[test]
fn who_gives_back_what_was_taken_unseen_is_not_wrong() {
    let (said, objects) = said("Unseen", UNSEEN, &["--exclude", "Unseen$Taker"], &[]);
    assert_eq!((&said[..], objects), ("2 and true\n", vec![]));
}

#[test]
fn without_room_in_the_heap_calls_are_made() {
    assert_eq!(said("Filled", FILLED, &[], &["-Xmx16m"]).0, "given back, over\n");
}

/// Watches a program (`options` of `run`, and of the virtual machine). What it says, and the objects of its findings
/// that are no warnings.
fn said(name: &str, source: &str, options: &[&str], machine: &[&str]) -> (String, Vec<String>) {
    let folder = Folder::new();
    let file = format!("{name}.java");
    folder.write(&file, source);
    let done = Command::new("javac").args(["--release", "11", &file]).current_dir(folder.path("")).status();
    assert!(done.expect("a JDK is needed: ./test installs it").success());
    let java = java();
    let begin = ["run", "--detect", "hb", "--json", "found.json"];
    let ran = folder.run(&[&begin, options, &["--", &java], machine, &["-cp", ".", name]].concat());
    let json: Value = serde_json::from_slice(&folder.read("found.json")).expect(&ran.stderr);
    let mut objects: Vec<String> = json["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|finding| finding["status"] != "warning")
        .filter_map(|finding| finding["objects"][0].as_str().map(str::to_owned))
        .collect();
    objects.sort();
    (ran.stdout, objects)
}

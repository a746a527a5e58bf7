//! Ways to start a virtual machine: its own findings, output and exit code come through all of them.

use crate::common::Folder;
use crate::corpus::java;
use serde_json::Value;
use std::process::{Command, Stdio};

const MAIN: &str = r#"
public class Main {
    static int shared;

    public static void main(String[] args) throws Exception {
        Thread other = new Thread(() -> shared++);
        other.start();
        shared++;
        other.join();
        System.out.println(String.join(" ", args) + " p=" + System.getProperty("p") + " q=" + System.getProperty("q"));
        System.exit(7);
    }
}
"#;

const STARTER: &str = r#"
public class Starter {
    public static void main(String[] args) throws Exception {
        String java = System.getProperty("java.home") + "/bin/java";
        System.exit(new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "Main").inheritIO().start().waitFor());
    }
}
"#;

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

/// A name that has to be quoted.
const SPACED: &str = "a folder with spaces";

struct Ways {
    folder: Folder,
    java: String,
}

impl Ways {
    fn new() -> Ways {
        let folder = Folder::new();
        std::fs::create_dir(folder.path(SPACED)).expect("writable");
        for (name, text) in [("Main", MAIN), ("Starter", STARTER)] {
            folder.write(&format!("{SPACED}/{name}.java"), text);
        }
        folder.write("manifest", "Main-Class: Main\n");
        folder.write("options", format!("-Dp=file\n-cp\n\"{SPACED}\"\nMain\nhere\n"));
        let jar = format!("{SPACED}/the program.jar");
        for (tool, args) in [
            (
                "javac",
                &["--release", "11", "-d", SPACED, &format!("{SPACED}/Main.java"), &format!("{SPACED}/Starter.java")][..],
            ),
            ("jar", &["cfm", &jar, "manifest", "-C", SPACED, "Main.class"]),
        ] {
            let done = Command::new(tool).args(args).current_dir(folder.path("")).output();
            let done = done.expect("a JDK is needed: ./test installs it");
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        }
        Ways { folder, java: java() }
    }

    /// Runs a command as it is and watched, with variables set before. What it says.
    fn run(&self, variables: &[(&str, &str)], command: &[&str]) -> String {
        let mut plain = Command::new(command[0]);
        plain.args(&command[1..]).current_dir(self.folder.path("")).envs(variables.iter().copied());
        let plain = plain.stdin(Stdio::null()).output().expect("it runs");
        assert_eq!(plain.status.code(), Some(7), "{command:?}: {}", String::from_utf8_lossy(&plain.stderr));
        let mut watched = self.folder.command(&[&["run", "--json", "found.json", "--"], command].concat());
        let watched = watched.envs(variables.iter().copied()).stdin(Stdio::null()).output().expect("foretrace runs");
        let (out, error) = (String::from_utf8_lossy(&watched.stdout), String::from_utf8_lossy(&watched.stderr));
        assert_eq!((watched.status.code(), &watched.stdout), (Some(1), &plain.stdout), "{command:?}: {error}");
        let json: Value = serde_json::from_slice(&self.folder.read("found.json")).expect("JSON");
        let findings = json["findings"].as_array().expect("findings");
        assert_eq!(findings.len(), 1, "{command:?}: {error}");
        assert!(findings[0]["kind"] == "race" && findings[0]["objects"][0] == "Main.shared", "{command:?}: {error}");
        assert_eq!(json["processes"][0]["exit"], 7, "{command:?}: {error}");
        out.trim().to_owned()
    }
}

#[test]
fn by_its_command_line() {
    let ways = Ways::new();
    let java = ways.java.as_str();
    assert_eq!(ways.run(&[], &[java, "-cp", SPACED, "Main", "a", "b"]), "a b p=null q=null");
    assert_eq!(ways.run(&[], &[java, "@options"]), "here p=file q=null");
    assert_eq!(ways.run(&[], &[java, "-Dq=1", "-jar", &format!("{SPACED}/the program.jar")]), "p=null q=1");
    // Only a JDK has a compiler.
    assert_eq!(ways.run(&[], &["java", &format!("{SPACED}/Main.java"), "a"]), "a p=null q=null");
}

#[test]
fn below_something_else() {
    let ways = Ways::new();
    let script = format!("'{}' -cp '{SPACED}' Main; exit $?", ways.java);
    assert_eq!(ways.run(&[], &["sh", "-c", &script]), "p=null q=null");
    assert_eq!(ways.run(&[], &[&ways.java, "-cp", SPACED, "Starter"]), "p=null q=null");
    // No loader can name a library in such a folder: another is taken.
    let cache = ways.folder.path("a cache");
    let cache = [("XDG_CACHE_HOME", cache.to_str().expect("UTF-8"))];
    assert_eq!(ways.run(&cache, &["sh", "-c", &script]), "p=null q=null");
    assert_eq!(ways.run(&cache, &[&ways.java, "-cp", SPACED, "Starter"]), "p=null q=null");
}

#[test]
fn with_options_of_the_user() {
    let ways = Ways::new();
    let script = format!("'{}' -cp '{SPACED}' Main; exit $?", ways.java);
    let options = [("JAVA_TOOL_OPTIONS", "\"-Dp=a b\""), ("JDK_JAVA_OPTIONS", "-Dq=2")];
    assert_eq!(ways.run(&options, &[&ways.java, "-cp", SPACED, "Main"]), "p=a b q=2");
    assert_eq!(ways.run(&options, &["sh", "-c", &script]), "p=a b q=2");
    assert_eq!(ways.run(&options, &[&ways.java, "-cp", SPACED, "Starter"]), "p=a b q=2");
}

#[test]
fn recursions_get_as_deep_as_ever() {
    assert_eq!(said("Deep", DEEP).0, "up again\n");
}

#[test]
fn nobody_waits_twice_for_the_same() {
    assert_eq!(said("Patient", PATIENT).0, "1 soon\n");
}

#[test]
fn a_loader_that_is_being_asked_loads_other_classes() {
    let (said, objects) = said("Loading", LOADING);
    assert_eq!((&said[..], objects), ("loaded\n", vec!["Loading$First.x".to_owned(), "Loading$Second.x".to_owned()]));
}

#[test]
fn without_room_on_the_stack_nothing_is_sure() {
    let (said, objects) = said("Overflown", OVERFLOWN);
    assert_eq!((&said[..], objects), ("3 times, 6\n", vec![]));
}

/// Watches a program. What it says, and the objects of its findings that are no warnings.
fn said(name: &str, source: &str) -> (String, Vec<String>) {
    let folder = Folder::new();
    let file = format!("{name}.java");
    folder.write(&file, source);
    let done = Command::new("javac").args(["--release", "11", &file]).current_dir(folder.path("")).status();
    assert!(done.expect("a JDK is needed: ./test installs it").success());
    let ran = folder.run(&["run", "--detect", "hb", "--json", "found.json", "--", &java(), "-cp", ".", name]);
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

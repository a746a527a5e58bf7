//! What is recorded of an access: its stack is the true one or says that it is guessed, and loops that wait are short.

use crate::common::{Folder, java};
use serde_json::Value;
use std::process::Command;

/// Compiles and watches a program; the report, and its JSON.
fn reported(source: &str) -> (String, Value) {
    let work = Folder::new();
    work.write("Main.java", source);
    let mut javac = Command::new("javac");
    javac.args(["--release", "11", "-g", "-d", "classes", "Main.java"]);
    let compiled = javac.current_dir(work.path("")).output().expect("a JDK is needed: ./test installs it");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = work.run_within(120, &["run", "--json", "found.json", "--", &java(), "-cp", "classes", "Main"]);
    (ran.stderr, serde_json::from_slice(&work.read("found.json")).expect("JSON"))
}

fn watched(source: &str) -> Value {
    reported(source).1
}

/// Locks are called by the fields that lead to them, however they got there.
#[test]
fn locks_are_called_by_their_fields() {
    let (text, json) = reported(
        "import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

public class Main {
    static class Desk {
        final Object papers = new Object();
        final ReentrantLock drawer;

        Desk(ReentrantLock drawer) {
            this.drawer = drawer;
        }
    }

    static final Object door = new Object();
    static final Desk desk = new Desk(new ReentrantLock());

    static void both(Object first, Object second) {
        synchronized (first) {
            synchronized (second) {
                desk.drawer.lock();
                desk.drawer.unlock();
            }
        }
    }

    static void other() {
        desk.drawer.lock();
        synchronized (desk.papers) {
            synchronized (door) {
                Thread.yield();
            }
        }
        desk.drawer.unlock();
    }

    public static void main(String[] args) throws Exception {
        Thread one = new Thread(() -> both(desk.papers, door));
        Thread two = new Thread(Main::other);
        one.start();
        // A look that orders nothing.
        for (boolean isThere = true; isThere; Thread.sleep(1)) {
            Thread[] all = new Thread[100];
            Thread.enumerate(all);
            isThere = Arrays.asList(all).contains(one);
        }
        two.start();
        one.join();
        two.join();
    }
}
",
    );
    let findings = json["findings"].as_array().expect("findings");
    let of_locks = findings.iter().flat_map(|one| one["origins"].as_array()).flatten().filter(|of| of["of"] == "lock");
    let mut called: Vec<(&str, Option<&str>)> =
        of_locks.filter_map(|of| Some((of["name"].as_str()?.split('@').next()?, of["called"].as_str()))).collect();
    called.sort_unstable();
    called.dedup();
    let object = "java.lang.Object";
    let wanted = [
        (object, Some("Main.desk.papers")),
        (object, Some("Main.door")),
        ("java.util.concurrent.locks.ReentrantLock", Some("Main.desk.drawer")),
    ];
    assert_eq!(called, wanted, "{json}");
    let headline = text.lines().find(|line| line.starts_with("predicted deadlock")).unwrap_or_else(|| panic!("{text}"));
    assert!(headline.contains("Main.desk.papers (java.lang.Object@"), "{headline}");
    // All that a reader sees has these names, and the facts of the JSON have those of the trace.
    let parts = ["  holding Main.de", " holds Main.d", "acq(Main.door)", "Main.desk.papers taken at "];
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("acq(java.lang.Object@"), "{text}");
    let deadlock = findings.iter().find(|one| one["kind"] == "deadlock").expect("a deadlock");
    let locks: Vec<&str> = deadlock["objects"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert!(locks.iter().all(|lock| lock.starts_with("java.")), "{deadlock}");
    let called: Vec<&str> = locks.iter().filter_map(|&lock| deadlock["called"][lock].as_str()).collect();
    assert_eq!(called.len(), 2, "{deadlock}");
}

/// The last write comes by another way than those before it, and is recorded only when the other thread reads.
#[test]
fn a_guessed_stack_says_so() {
    let json = watched(
        "public class Main {
    static int x;

    static void write() {
        x++;
    }

    static void often() {
        write();
    }

    static void once() {
        write();
    }

    public static void main(String[] args) throws Exception {
        Thread reader = new Thread(() -> {
            try {
                Thread.sleep(200);
            } catch (InterruptedException e) {
                return;
            }
            System.out.println(x > 0 ? \"written\" : \"not yet\");
        });
        reader.start();
        for (int i = 0; i < 50; i++) {
            often();
        }
        once();
        reader.join();
    }
}
",
    );
    let findings = json["findings"].as_array().expect("findings");
    let is_race = |one: &&Value| one["kind"] == "race" && one["status"] != "warning";
    let race = findings.iter().find(is_race).unwrap_or_else(|| panic!("{json}"));
    let stacks = race["stacks"].as_array().expect("stacks").iter().filter_map(Value::as_array);
    let stacks = stacks.map(|stack| stack.iter().filter_map(Value::as_str).collect::<Vec<_>>());
    for stack in stacks.filter(|stack| stack.iter().any(|frame| frame.starts_with("Main.often"))) {
        assert!(stack.last().is_some_and(|last| last.starts_with("(guessed")), "{stack:?}");
    }
}

/// A loop that looks at two variables until both have changed.
#[test]
fn loops_that_wait_are_short() {
    let json = watched(
        "import java.util.concurrent.atomic.AtomicInteger;

public class Main {
    static volatile boolean first;
    static final AtomicInteger second = new AtomicInteger();

    public static void main(String[] args) throws Exception {
        Thread setter = new Thread(() -> {
            try {
                Thread.sleep(300);
            } catch (InterruptedException e) {
                return;
            }
            first = true;
            second.set(1);
        });
        setter.start();
        while (!(first | second.get() == 1)) {
            Thread.onSpinWait();
        }
        while (second.get() == 0) {
            Thread.onSpinWait();
        }
        setter.join();
    }
}
",
    );
    assert_eq!(json["findings"], serde_json::json!([]), "{json}");
    assert!(json["trace"]["events"].as_u64().expect("a number") < 100, "{}", json["trace"]);
}

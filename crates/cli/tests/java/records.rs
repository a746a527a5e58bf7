//! What is recorded of an access: its stack is the true one or says that it is guessed, and loops that wait are short.

use crate::common::{Folder, java};
use serde_json::Value;
use std::process::Command;

/// Compiles and watches a program; the JSON of the report.
fn watched(source: &str) -> Value {
    let work = Folder::new();
    work.write("Main.java", source);
    let mut javac = Command::new("javac");
    javac.args(["--release", "11", "-g", "-d", "classes", "Main.java"]);
    let compiled = javac.current_dir(work.path("")).output().expect("a JDK is needed: ./test installs it");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    work.run_within(120, &["run", "--json", "found.json", "--", &java(), "-cp", "classes", "Main"]);
    serde_json::from_slice(&work.read("found.json")).expect("JSON")
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

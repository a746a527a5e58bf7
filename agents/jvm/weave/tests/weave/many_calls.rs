//! A class with more calls than can have bridge methods of their own, a method that is too large for all hooks, and
//! names that are taken already: each call has its own site.

use crate::{classes, compiled, tool};
use std::collections::BTreeSet;
use std::fmt::Write;
use weave::{SiteKind, weave};

/// Calls in each of the methods.
const CALLS: usize = 200;
/// Accesses in a method that is too large with their hooks.
const ACCESSES: usize = 4000;

fn source() -> String {
    let mut text = String::from(
        "import java.util.concurrent.atomic.AtomicInteger;\nimport java.util.concurrent.locks.ReentrantLock;\n\
         public class Many {\n  static int sum;\n  static final AtomicInteger all = new AtomicInteger();\n  \
         static final ReentrantLock lock = new ReentrantLock();\n  \
         static final java.util.concurrent.locks.Condition changed = lock.newCondition();\n\
         private static int foretrace$0(Object one) { return 1; }\n  \
         private static void foretrace$to7() { all.addAndGet(foretrace$0(all)); }\n",
    );
    for method in 0..3 {
        writeln!(text, "  static void method{method}() throws InterruptedException {{").expect("a string");
        // This method is woven with all hooks first, and then with fewer.
        let accesses = if method == 0 { ACCESSES } else { 0 };
        (0..accesses).for_each(|_| text.push_str("    sum += 1;\n"));
        for call in 0..CALLS {
            text.push_str(match call % 4 {
                1 if call % 8 == 5 => "    changed.awaitNanos(1);\n",
                1 if call % 16 == 1 => "    all.updateAndGet(value -> value + 1);\n",
                0 => "    lock.lock();\n",
                1 => "    all.incrementAndGet();\n",
                2 => "    lock.unlock();\n",
                _ => "    ((Runnable) all::incrementAndGet).run();\n",
            });
        }
        text.push_str("  }\n");
    }
    text.push_str(
        "  public static void main(String[] args) throws InterruptedException {\n    \
         method0(); method1(); method2(); foretrace$to7();\n",
    );
    text.push_str("    System.out.println(all + \" \" + sum + \" \" + lock.isLocked());\n  }\n}\n");
    text
}

#[test]
fn each_call_has_its_hooks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    compiled(folder.path());
    std::fs::write(folder.path().join("Many.java"), source()).expect("writable");
    tool("javac", &["--release", "11", "-g", "-d", "many", "Many.java"], folder.path());
    let path = classes(&folder.path().join("many")).pop().expect("a class");
    let woven = weave(&std::fs::read(path).expect("readable"), 0, &()).expect("a class");
    assert_eq!(woven.skipped.len(), 1, "{:?}", woven.skipped);
    std::fs::create_dir(folder.path().join("woven")).expect("writable");
    std::fs::write(folder.path().join("woven/Many.class"), woven.file.expect("hooks")).expect("writable");
    let plain = tool("java", &["-cp", "many", "Many"], folder.path());
    let ran = tool("java", &["-Xverify:all", "-Xbootclasspath/a:hooks", "-cp", "woven", "Many"], folder.path());
    assert_eq!(String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&plain.stdout));
    let calls = woven.sites.iter().enumerate().filter(|(_, site)| matches!(site.kind, SiteKind::Call(_)));
    let calls: BTreeSet<usize> = calls.map(|(number, _)| number).collect();
    assert!(calls.len() >= 3 * CALLS, "{}", calls.len());
    let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
    let effect: BTreeSet<usize> = stderr
        .lines()
        .filter(|line| line.starts_with("before") || line.starts_with("after"))
        .filter_map(|line| line.split(' ').find_map(|word| word.parse().ok()))
        .collect();
    let missing: Vec<&usize> = calls.difference(&effect).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

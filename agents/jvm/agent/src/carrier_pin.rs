//! A test of the rule of `CarrierPin.java`: a thread that takes a monitor of the agent's stays on its carrier until
//! it has released it. It reads the sources of the agent's classes as text.

use std::path::Path;

/// Lines that take a monitor without what must be around them: `CarrierPin.begin()` and a `try` whose `finally` has
/// `CarrierPin.end()`.
fn unpinned(source: &str) -> Vec<&str> {
    let lines: Vec<&str> = source.lines().collect();
    let is_pinned = |at: usize| {
        let [Some(begin), Some(opened)] = [2, 1].map(|above| at.checked_sub(above)) else { return false };
        let space = &lines[opened][..lines[opened].len() - lines[opened].trim_start().len()];
        let closed = lines[at..].iter().position(|line| *line == format!("{space}}} finally {{"));
        lines[begin].trim() == "CarrierPin.begin();"
            && lines[opened].trim() == "try {"
            && closed
                .and_then(|closed| lines.get(at + closed + 1))
                .is_some_and(|line| line.trim() == "CarrierPin.end();")
    };
    let takes = |line: &str| {
        let code = line.trim_start();
        !code.starts_with("/*") && !code.starts_with('*') && !code.starts_with("//") && code.contains("synchronized ")
    };
    (0..lines.len()).filter(|&at| takes(lines[at]) && !is_pinned(at)).map(|at| lines[at]).collect()
}

#[test]
fn sources_are_understood() {
    let right = "/** A synchronized one. */\n  CarrierPin.begin();\n  try {\n    synchronized (this) {\n    }\n  \
                 } finally {\n    CarrierPin.end();\n  }";
    assert_eq!(unpinned(right), [""; 0]);
    assert_eq!(unpinned("synchronized (this) {\n}"), ["synchronized (this) {"]);
    assert_eq!(unpinned("\n\n  synchronized void wait() {"), ["  synchronized void wait() {"]);
    assert_eq!(unpinned(&right.replace("end", "begin")), ["    synchronized (this) {"]);
}

#[test]
fn threads_with_a_monitor_are_pinned() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("java/foretrace/agent");
    let mut count = 0;
    for file in std::fs::read_dir(folder).expect("readable") {
        let path = file.expect("readable").path();
        let source = std::fs::read_to_string(&path).expect("readable");
        assert_eq!(unpinned(&source), [""; 0], "{}", path.display());
        count += source.matches("CarrierPin.begin()").count();
    }
    assert!(count > 10, "{count}");
}

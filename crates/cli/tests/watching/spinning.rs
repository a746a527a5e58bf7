//! Threads that wait in loops of atomic accesses and try-locks.

use crate::common::Folder;

#[test]
fn what_a_waiting_thread_repeats_is_not_recorded() {
    let folder = Folder::new();
    folder.write("program.c", include_str!("programs/spinning.c"));
    folder.ok(&["cc", "-O1", "-pthread", "program.c", "-o", "program"]);
    for way in ["load", "loads", "exchange", "set", "try"] {
        let ran = folder.ok(&["record", "-o", "t.ftrace", "--", "./program", way]);
        let result = if way.starts_with("load") { "1" } else { "3" };
        assert_eq!(ran.stdout.trim(), result, "{way}");
        let events = folder.ok(&["show", "t.ftrace"]).stdout.lines().count();
        // The threads wait for 200 ms.
        assert!(events < 400, "{way}: {events} events");
        let checked = folder.run(&["check", "--detect", "all,-lockset", "t.ftrace"]);
        let said = format!("{}{}", checked.stdout, checked.stderr);
        assert!(said.contains("race on program.c:racy") && !said.contains("guarded"), "{way}: {said}");
        assert!(!said.contains("problem"), "{way}: {said}");
    }
}

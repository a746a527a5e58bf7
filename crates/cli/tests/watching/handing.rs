//! Timestamps that pass with mutexes: the order of the trace is a possible one.

use crate::common::Folder;
use std::path::Path;

/// A folder with one of the programs.
#[track_caller]
fn compiled(name: &str) -> Folder {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/watching/programs").join(name);
    let folder = Folder::new();
    folder.write("program.c", std::fs::read_to_string(source).expect("a program"));
    folder.ok(&["cc", "-O1", "-pthread", "program.c", "-o", "program"]);
    folder
}

#[test]
fn mutexes_are_held_by_one_at_a_time() {
    let folder = compiled("handed.c");
    for _ in 0..3 {
        let recorded = folder.ok(&["record", "-o", "t.ftrace", "--", "./program"]).stderr;
        assert!(!recorded.contains("too late") && !recorded.contains("no sense"), "{recorded}");
        let checked = folder.run(&["check", "--detect", "hb,misuse", "t.ftrace"]);
        let said = format!("{}{}", checked.stdout, checked.stderr);
        // `check` names every event that cannot be where it is. (The C library wakes some for no reason; those are
        // named, too.)
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("no findings"), "{said}");
        assert!(!said.contains("holds it") && !said.contains("does not hold"), "{said}");
    }
}

#[test]
fn a_mutex_is_not_later_than_the_one_before_it_in_its_place() {
    let folder = compiled("lives.c");
    let run = folder.run(&["run", "--", "./program"]);
    let said = format!("{}{}", run.stdout, run.stderr);
    // What orders the lifetimes is not seen: they are races.
    assert!(said.contains("race on program.c:mutexes") && !said.contains("race on program.c:turn"), "{said}");
    assert!(!said.contains("deadlock") && !said.contains("problem"), "{said}");
}

#[test]
fn who_was_woken_by_whom_is_not_mistaken() {
    let folder = compiled("woken.c");
    for _ in 0..3 {
        let run = folder.run(&["run", "--detect", "hb", "--", "./program"]);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains("race on program.c:x") && !said.contains("race on program.c:y"), "{said}");
    }
}

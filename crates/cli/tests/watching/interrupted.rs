//! Signals: a handler is a part of the thread that it interrupts, wherever that waits.

use crate::common::Folder;

/// Runs a program that is right, several times; nothing is found, and its trace is well-formed.
#[track_caller]
fn is_right(source: &str, output: &str) {
    let folder = Folder::new();
    folder.write("program.c", source);
    folder.ok(&["cc", "-O1", "-pthread", "program.c", "-o", "program", "-lrt"]);
    for recorded in [&[][..], &[], &["--record", "all"]] {
        let ran = folder.ok(&[&["run", "--detect", "all,-lockset"], recorded, &["--", "./program"]].concat());
        assert_eq!(ran.stdout, output, "{ran:?}");
        assert!(ran.stderr.contains("no findings") && !ran.stderr.contains("problem"), "{ran:?}");
    }
}

#[test]
fn a_handler_is_between_what_its_thread_does_before_and_after_a_wait() {
    is_right(include_str!("programs/interrupted.c"), "34 steps\n");
}

#[test]
fn who_sets_a_timer_comes_before_its_handler() {
    is_right(include_str!("programs/timers.c"), "27\n");
}

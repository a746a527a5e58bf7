//! Every way to make a process: the child does what it does without us, and is watched if it has its own memory.

use crate::common::{Folder, Ran};
use std::path::Path;
use std::sync::OnceLock;

/// The program, compiled once for all tests.
fn folder() -> &'static Folder {
    static FOLDER: OnceLock<Folder> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Folder::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/watching/programs/forking.c");
        folder.ok(&["cc", "-O1", "-pthread", source.to_str().expect("a path"), "-o", "forking"]);
        folder
    })
}

/// Records one way; returns what it did, and the number of events of each process, the program's first.
fn record(how: &str) -> (Ran, Vec<u64>) {
    let ran = folder().run(&["record", "-o", &format!("{how}.ftrace"), "--", "./forking", how]);
    let events = |line: &str| line.rsplit_once(": ")?.1.split_once(" events of process ")?.0.parse().ok();
    let counts = ran.stderr.lines().filter_map(events).collect();
    (ran, counts)
}

/// The child has threads, and is watched like its parent.
#[track_caller]
fn is_watched(how: &str) {
    let (ran, counts) = record(how);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "parent 2000, child 2000\n"), "{how}: {ran:?}");
    // Each of two threads locks and unlocks 1000 times; the parent does that twice.
    assert!(matches!(counts[..], [parent, child] if parent >= 8000 && child >= 4000), "{how}: {ran:?}");
    assert!(!ran.stderr.contains("incomplete") && !ran.stderr.contains("unwatched"), "{how}: {ran:?}");
}

/// The child shares its parent's memory, or is another program.
#[track_caller]
fn goes_well(how: &str) {
    let (ran, counts) = record(how);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "parent 2000, child 2000\n"), "{how}: {ran:?}");
    assert!(counts.first().is_some_and(|&parent| parent >= 8000), "{how}: {ran:?}");
    assert!(!ran.stderr.contains("unwatched"), "{how}: {ran:?}");
}

#[test]
fn fork() {
    is_watched("fork");
    is_watched("_Fork");
}

#[test]
fn fork_inside_the_c_library() {
    is_watched("forkpty");
    let (ran, counts) = record("daemon");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "2000 in another process: yes\n"), "{ran:?}");
    assert!(matches!(counts[..], [parent, child] if parent >= 4000 && child >= 4000), "{ran:?}");
    assert!(!ran.stderr.contains("killed"), "the first process ended by itself: {ran:?}");
}

#[test]
fn clone() {
    is_watched("clone");
    goes_well("clone-vfork");
}

#[test]
fn system_calls_through_the_c_library() {
    for how in ["syscall-fork", "syscall-clone", "syscall-clone3"] {
        is_watched(how);
    }
}

#[test]
fn system_calls_of_the_program_s_own() {
    for how in ["raw-fork", "raw-clone", "raw-clone3"] {
        is_watched(how);
    }
}

#[test]
fn children_that_only_start_another_program() {
    for how in ["vfork", "posix_spawn", "system", "popen", "wordexp"] {
        goes_well(how);
    }
}

/// Two tasks with one thread-local storage cannot be told apart: the agent says so, and the program goes on.
#[test]
fn a_clone_that_shares_everything() {
    let (ran, _) = record("clone-vm");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "parent 2000, child 2000\n"), "{ran:?}");
    assert!(ran.stderr.contains("the program has cloned itself with one memory for both"), "{ran:?}");
}

//! Hooks of reads that leave the cells: they record what the longer ways would.

use crate::common::Folder;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A folder with one of the programs.
#[track_caller]
fn compiled(name: &str) -> Folder {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/watching/programs").join(name);
    compiled_from(&std::fs::read_to_string(source).expect("a program"))
}

#[track_caller]
fn compiled_from(text: &str) -> Folder {
    let folder = Folder::new();
    folder.write("program.c", text);
    // Every run has the same addresses.
    folder.ok(&["cc", "-O1", "-no-pie", "-pthread", "program.c", "-o", "program"]);
    folder
}

/// The events of a run: thread, and what it did where.
#[track_caller]
fn recorded(folder: &Folder, arguments: &[&str]) -> Vec<(String, String)> {
    folder.ok(&[&["record", "-o", "t.ftrace", "--", "./program"], arguments].concat());
    let shown = folder.ok(&["show", "t.ftrace"]).stdout;
    let events = shown.lines().filter_map(|line| line.split_once('|'));
    events.map(|(thread, event)| (thread.into(), event.into())).collect()
}

#[test]
fn hooks_by_hand_record_what_those_in_rust_do() {
    let folder = compiled("reads.c");
    let threads = |arguments: &[&str]| {
        // The threads take turns, but the main thread, which waits for them, does not.
        let mut threads: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (thread, event) in recorded(&folder, arguments) {
            threads.entry(thread).or_default().push(event);
        }
        threads
    };
    let (by_hand, in_rust) = (threads(&[]), threads(&["passed"]));
    assert!(by_hand["T1"].len() > 1000 && by_hand["T2"].len() > 1000, "too little was recorded");
    assert_eq!(by_hand.keys().collect::<Vec<_>>(), in_rust.keys().collect::<Vec<_>>());
    for (thread, events) in &by_hand {
        let differ = events.iter().zip(&in_rust[thread]).position(|(a, b)| a != b);
        if let Some(at) = differ {
            panic!("{thread}, {at}: {} and {}", events[at], in_rust[thread][at]);
        }
        assert_eq!(events.len(), in_rust[thread].len(), "{thread}");
    }
}

#[test]
fn a_sweep_ends_where_its_memory_is_taken() {
    let (mut written, mut read) = (BTreeSet::new(), BTreeSet::new());
    for (thread, event) in recorded(&compiled("taken.c"), &[]) {
        let access = event.split('|').next().unwrap_or_default();
        if let Some(variable) = access.strip_prefix("w(") {
            assert_eq!(thread, "T2");
            written.insert(variable.to_owned());
        } else if let Some(variable) = access.strip_prefix("r(")
            && thread == "T1"
            && written.contains(variable)
        {
            read.insert(variable.to_owned());
        }
    }
    assert_eq!(written.len(), 32);
    assert_eq!(read, written, "reads after the writes are recorded");
}

#[test]
fn a_program_may_read_where_nothing_is() {
    let folder = compiled_from(
        r#"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
static sigjmp_buf before;
static void caught(int signal) { (void)signal; siglongjmp(before, 1); }
__attribute__((noinline)) static long read_8(volatile long *at) { return *at; }
__attribute__((noinline)) static int read_4(volatile int *at) { return *at; }
int main(void) {
    static const long addresses[] = {0, 8, -8, 0x4141414141414140, 0x7f0000000001, 1l << 46};
    volatile int count = 0;
    signal(SIGSEGV, caught);
    for (volatile unsigned i = 0; i < 12; i++) {
        void *at = (void *)addresses[i / 2];
        if (sigsetjmp(before, 1)) count++;
        else if (i % 2) read_8(at);
        else read_4(at);
    }
    printf("%d\n", count);
    return 0;
}
"#,
    );
    let ran = folder.ok(&["record", "-o", "t.ftrace", "--", "./program"]);
    assert_eq!(ran.stdout, "12\n", "{ran:?}");
}

/// Main goes through two tables again and again under a lock, so that only the newest accesses are kept. Then another
/// thread changes an element of each without the lock, after a look at one that was only read: both are races, whatever
/// was dropped.
#[test]
fn what_was_dropped_hides_no_race() {
    let program = |access: &str, look: &str| {
        format!(
            r#"
#include <pthread.h>
#include <sched.h>
#define UNSEEN __attribute__((no_sanitize_thread, noinline))
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int turn;
static volatile long first[512], second[512], sum;
UNSEEN static void await(int n) {{ while (turn < n) sched_yield(); }}
UNSEEN static void set(int n) {{ turn = n; }}
static void *other(void *none) {{
    await(1);
    {look};
    second[77] = 1;
    first[99] = 2;
    set(2);
    return none;
}}
__attribute__((noinline)) static void go_through(volatile long *table) {{
    for (int i = 0; i < 512; i++) {access};
}}
int main(void) {{
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    for (int round = 0; round < 20; round++) {{
        pthread_mutex_lock(&lock);
        go_through(first);
        go_through(second);
        pthread_mutex_unlock(&lock);
    }}
    set(1);
    await(2);
    return pthread_join(thread, 0);
}}
"#
        )
    };
    // Who sees what main wrote comes after that.
    for (access, look, pin) in [("(void)table[i]", "sum = second[511]", "rpin("), ("table[i] = i", "sum = 1", "pin(")] {
        let folder = compiled_from(&program(access, look));
        let events = recorded(&folder, &[]);
        for table in ["first[99]", "second[77]"] {
            let is_pinned = events.iter().any(|(_, event)| event.starts_with(&format!("{pin}program.c:{table},")));
            assert!(is_pinned, "{access}: {table} is not pinned");
        }
        let ran = folder.run(&["check", "--detect", "hb", "t.ftrace"]);
        for table in ["first[99]", "second[77]"] {
            assert!(
                ran.stdout.contains(&format!("race on program.c:{table}:")),
                "{access}: no race of {table}\n{}",
                ran.stdout
            );
        }
    }
}

/// In a word that another thread has written to, a thread writes one byte under a lock again and again, so that these
/// writes are dropped; then another byte without the lock, which races with what the other thread reads next. The
/// dropped writes come before that.
#[test]
fn what_was_dropped_before_a_conflict_does_not_hide_it() {
    let folder = compiled_from(
        r#"
#include <pthread.h>
#include <sched.h>
#define UNSEEN __attribute__((no_sanitize_thread, noinline))
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int turn;
static volatile char bytes[8] __attribute__((aligned(8)));
static volatile long sum;
UNSEEN static void await(int n) { while (turn < n) sched_yield(); }
UNSEEN static void set(int n) { turn = n; }
static void *other(void *none) {
    bytes[5] = 1;
    set(1);
    await(2);
    if (bytes[4]) set(3);
    return none;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    await(1);
    for (int i = 0; i < 40; i++) {
        pthread_mutex_lock(&lock);
        bytes[6] = i;
        sum += bytes[2];
        pthread_mutex_unlock(&lock);
    }
    bytes[4] = 1;
    set(2);
    pthread_join(thread, 0);
    return 0;
}
"#,
    );
    let ran = folder.run(&["run", "--", "./program"]);
    assert!(ran.stderr.contains("race on program.c:bytes[4]"), "{ran:?}");
}

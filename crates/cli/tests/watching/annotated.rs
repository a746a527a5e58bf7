//! What programs say of their own synchronisation, and what the C library does under locks that are not seen.

use crate::common::{Folder, Ran};

/// Compiles a program and runs it.
#[track_caller]
fn run(text: &str, options: &[&str]) -> Ran {
    let folder = Folder::new();
    folder.write("program.c", text);
    folder.ok(&["cc", "-O1", "-pthread", "program.c", "-o", "program"]);
    folder.run(&[&["run"], options, &["--", "./program"]].concat())
}

/// A spin lock of the program's own, which waits: what it does inside belongs to no other thread.
#[test]
fn an_annotated_mutex_has_no_handlers() {
    let text = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>
void __tsan_mutex_pre_lock(void *, unsigned); void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned); void __tsan_mutex_post_unlock(void *, unsigned);
static atomic_int lock;
static int guarded;
static void take(void) {
    __tsan_mutex_pre_lock(&lock, 0);
    while (atomic_exchange(&lock, 1)) sched_yield();
    __tsan_mutex_post_lock(&lock, 0, 0);
}
static void give(void) {
    __tsan_mutex_pre_unlock(&lock, 0);
    atomic_store(&lock, 0);
    __tsan_mutex_post_unlock(&lock, 0);
}
static void *work(void *u) { for (int i = 0; i < 100; i++) { take(); guarded++; give(); } return u; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return guarded == 200 ? 0 : 9;
}
"#;
    let ran = run(text, &["--detect", "hb,deadlock,misuse"]);
    assert!(ran.code == Some(0) && ran.stderr.contains(" 3 threads"), "{ran:?}");
}

/// Two threads write under a lock; with `before` and `after` around it.
fn under_lock(before: &str, after: &str) -> Ran {
    let text = r#"
#include <pthread.h>
void AnnotateIgnoreSyncBegin(const char *, int); void AnnotateIgnoreSyncEnd(const char *, int);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int guarded;
static void *work(void *u) {
    BEFORE
    pthread_mutex_lock(&lock);
    guarded++;
    pthread_mutex_unlock(&lock);
    AFTER
    return u;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;
    run(&text.replace("BEFORE", before).replace("AFTER", after), &["--detect", "hb,misuse"])
}

#[test]
fn synchronisation_that_is_ignored_orders_nothing() {
    let ran = under_lock("", "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = under_lock("AnnotateIgnoreSyncBegin(__FILE__, 1);", "AnnotateIgnoreSyncEnd(__FILE__, 2);");
    assert!(ran.code == Some(1) && ran.stderr.contains("observed race on program.c:guarded"), "{ran:?}");
    assert!(!ran.stderr.contains("misuse"), "{ran:?}");
}

#[test]
fn a_free_that_is_ignored_is_no_write() {
    let text = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
void AnnotateIgnoreWritesBegin(const char *, int); void AnnotateIgnoreWritesEnd(const char *, int);
static int *block;
static atomic_int done;
static void *work(void *u) {
    *block = 1;
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    return u;
}
int main(void) {
    pthread_t a;
    block = malloc(64);
    pthread_create(&a, 0, work, 0);
    while (!atomic_load_explicit(&done, memory_order_relaxed)) {}
    BEFORE
    free(block);
    AFTER
    pthread_join(a, 0);
    return 0;
}
"#;
    let ran = run(&text.replace("BEFORE", "").replace("AFTER", ""), &["--detect", "hb"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("observed race on block[0] (heap#"), "{ran:?}");
    let ignored = text
        .replace("BEFORE", "AnnotateIgnoreWritesBegin(__FILE__, 1);")
        .replace("AFTER", "AnnotateIgnoreWritesEnd(__FILE__, 2);");
    let ran = run(&ignored, &["--detect", "hb"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// Threads that have not run yet when `main` returns get a little time; those that wait for ever get none.
#[test]
fn young_threads_run_before_the_end() {
    let text = r#"
#include <pthread.h>
#include <unistd.h>
int shared;
static void *work(void *u) { WHAT; shared = 1; return u; }
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_detach(a);
    shared = 2;
    return 3;
}
"#;
    let late = text.replace("WHAT", "usleep(100000)");
    let ran = run(&late, &[]);
    assert!(ran.code == Some(1) && ran.stderr.contains("observed race on shared"), "{ran:?}");
    assert_eq!(run(&late, &["--exit-wait", "0"]).code, Some(3));
    let started = std::time::Instant::now();
    let ran = run(&text.replace("WHAT", "pause()"), &["--exit-wait", "20"]);
    assert!(ran.code == Some(3) && started.elapsed().as_secs() < 15, "{ran:?}");
}

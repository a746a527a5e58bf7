//! Programs that hang: `--timeout` ends them, and the report says which threads wait for what.

use crate::common::Folder;
use serde_json::Value;

/// What a program is found to wait for, as `status kind objects`, sorted.
fn waits(text: &str) -> Vec<String> {
    let folder = Folder::new();
    folder.write("program.c", text);
    folder.ok(&["cc", "-O1", "-pthread", "program.c", "-o", "program"]);
    let ran = folder.run(&["run", "--timeout", "1", "--json", "-", "--", "./program"]);
    assert!(ran.stderr.contains("ran longer than --timeout allows"), "{ran:?}");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let findings = json["findings"].as_array().expect("findings");
    let describe = |finding: &Value| {
        let objects = finding["objects"].as_array().expect("objects").iter().filter_map(Value::as_str);
        let mut objects: Vec<&str> = objects.collect();
        objects.sort_unstable();
        let text = |field: &str| finding[field].as_str().expect("text").to_owned();
        format!("{} {} {}", text("status"), text("kind"), objects.join(" "))
    };
    let mut waits: Vec<String> = findings.iter().map(describe).collect();
    waits.sort_unstable();
    waits
}

#[test]
fn two_mutexes_in_contradicting_orders() {
    let program = r"
#include <pthread.h>
#include <unistd.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *u) { pthread_mutex_lock(&a); usleep(50000); pthread_mutex_lock(&b); return u; }
static void *second(void *u) { pthread_mutex_lock(&b); usleep(50000); pthread_mutex_lock(&a); return u; }
int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, first, 0);
    pthread_create(&y, 0, second, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
";
    assert_eq!(waits(program), ["observed deadlock a b", "observed hang T1"]);
}

#[test]
fn a_semaphore_and_a_barrier_may_still_come() {
    let program = r"
#include <pthread.h>
#include <semaphore.h>
sem_t ready;
pthread_barrier_t both;
static void *first(void *u) { sem_wait(&ready); return u; }
static void *second(void *u) { pthread_barrier_wait(&both); return u; }
int main(void) {
    pthread_t x, y;
    sem_init(&ready, 0, 0);
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&x, 0, first, 0);
    pthread_create(&y, 0, second, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
";
    assert_eq!(waits(program), ["warning hang T1", "warning hang both", "warning hang ready"]);
}

/// A thread ends with a lock and no thread joins it: the thread that waits for the lock is stuck. What its handler, the
/// kernel or another thread gives back is no such lock.
#[test]
fn a_lock_whose_thread_has_ended_is_never_given_back() {
    let program = r"
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock, other = PTHREAD_MUTEX_INITIALIZER;
static void give_back(void *lock) { pthread_mutex_unlock(lock); }
static void *ends(void *u) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(give_back, &lock);
    if (!u) pthread_exit(0);
    pthread_cleanup_pop(0);
    return u;
}
static void *holds(void *u) { pthread_mutex_lock(&other); pause(); return u; }
int main(void) {
    pthread_t x;
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    ATTRIBUTES
    pthread_mutex_init(&lock, &a);
    pthread_create(&x, 0, holds, 0);
    pthread_create(&x, 0, ends, ARGUMENT);
    pthread_detach(x);
    usleep(200000);
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&other);
    return 0;
}
";
    let shared = "pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);";
    let robust = "pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);";
    let with = |attributes: &str, argument| {
        let waits = waits(&program.replace("ATTRIBUTES", attributes).replace("ARGUMENT", argument));
        waits.into_iter().filter(|wait| !wait.starts_with("warning race")).collect::<Vec<_>>()
    };
    let stuck = ["observed hang program.c:lock"];
    assert_eq!(with("", "&x"), stuck);
    assert_eq!(with(shared, "&x"), stuck);
    // The main thread goes on to a lock whose thread may still act.
    let waits = ["warning hang program.c:other"];
    assert_eq!(with(&format!("{shared}{robust}"), "&x"), waits);
    assert_eq!(with("", "0"), waits);
}

#[test]
fn a_thread_that_joins_its_parent() {
    let program = r"
#include <pthread.h>
static pthread_t parent;
static void *child(void *u) { pthread_join(parent, 0); return u; }
static void *first(void *u) {
    pthread_t x;
    parent = pthread_self();
    pthread_create(&x, 0, child, 0);
    pthread_join(x, 0);
    return u;
}
int main(void) {
    pthread_t x;
    pthread_create(&x, 0, first, 0);
    pthread_join(x, 0);
    return 0;
}
";
    assert_eq!(waits(program), ["observed deadlock T1 T2", "observed hang T1"]);
}

#[test]
fn a_program_that_ends_by_itself_leaves_idle_threads_behind() {
    let folder = Folder::new();
    folder.write(
        "program.c",
        r"
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static void *worker(void *u) { pthread_mutex_lock(&lock); for (;;) pthread_cond_wait(&work, &lock); return u; }
int main(void) { pthread_t x; pthread_create(&x, 0, worker, 0); usleep(50000); return 0; }
",
    );
    folder.ok(&["cc", "-O1", "-pthread", "program.c", "-o", "program"]);
    let ran = folder.run(&["run", "--detect", "hang", "--", "./program"]);
    assert!(ran.code == Some(0) && ran.stderr.contains("no findings"), "{ran:?}");
}

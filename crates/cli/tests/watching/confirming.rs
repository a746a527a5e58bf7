//! `foretrace confirm`: programs are driven towards what was predicted of them. What happens is confirmed, and nothing
//! else.

use crate::common::Folder;
use serde_json::Value;

/// Compiles a program and records it. The findings are in `found.json`.
fn recorded(text: &str) -> Folder {
    let folder = Folder::new();
    folder.write("program.c", text);
    folder.ok(&["cc", "-g", "-O1", "-pthread", "program.c", "-o", "program"]);
    let ran = folder.run(&["run", "-q", "--json", "found.json", "--", "./program"]);
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    folder
}

/// The findings of the file as `status confirm kind objects`, sorted.
fn findings(folder: &Folder) -> Vec<String> {
    let json: Value = serde_json::from_slice(&folder.read("found.json")).expect("JSON");
    let describe = |finding: &Value| {
        let objects = finding["objects"].as_array().expect("objects").iter().filter_map(Value::as_str);
        let mut objects: Vec<&str> = objects.collect();
        objects.sort_unstable();
        let text = |field: &str| finding[field].as_str().unwrap_or("-").to_owned();
        format!("{} {} {} {}", text("status"), text("confirm"), text("kind"), objects.join(" "))
    };
    let mut all: Vec<String> = json["findings"].as_array().expect("findings").iter().map(describe).collect();
    all.sort_unstable();
    all
}

/// The last write of the first thread races with the second thread, behind a lock that hides it.
const HIDDEN: &str = r"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int shared, count;
static void *first(void *u) {
    shared = 1;
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return u;
}
static void *second(void *u) {
    usleep(30000);
    pthread_mutex_lock(&lock);
    int seen = count;
    pthread_mutex_unlock(&lock);
    if (seen < 100) shared = 2;
    return u;
}
int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, first, 0);
    pthread_create(&y, 0, second, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
";

#[test]
fn a_race_that_the_trace_cannot_show_is_shown_by_a_run() {
    let folder = recorded(HIDDEN);
    // The second thread has read the counter, so no prediction is sound: it is a warning.
    assert_eq!(findings(&folder), ["warning - race shared"]);
    let ran = folder.run(&["confirm", "found.json", "--", "./program"]);
    assert_eq!(findings(&folder), ["confirmed confirmed race shared"], "{ran:?}");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("before w(shared) at first"), "{ran:?}");
    assert!(ran.stderr.contains("before w(shared) at second"), "{ran:?}");
    assert!(ran.stdout.contains("real run  confirmed"), "{ran:?}");
}

/// Two threads take two locks in contradicting orders, one after the other.
const INVERSION: &str = r"
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *x, pthread_mutex_t *y) {
    pthread_mutex_lock(x);
    pthread_mutex_lock(y);
    pthread_mutex_unlock(y);
    pthread_mutex_unlock(x);
}
static void *first(void *u) { both(&a, &b); return u; }
static void *second(void *u) { usleep(30000); both(&b, &a); return u; }
int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, first, 0);
    pthread_create(&y, 0, second, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
";

#[test]
fn a_predicted_deadlock_is_made_to_strike() {
    let folder = recorded(INVERSION);
    assert_eq!(findings(&folder), ["predicted - deadlock program.c:a program.c:b"]);
    // The program is the one that was recorded.
    let ran = folder.run(&["confirm", "found.json"]);
    assert_eq!(findings(&folder), ["confirmed confirmed deadlock program.c:a program.c:b"], "{ran:?}");
}

#[test]
fn run_confirms_what_it_has_found() {
    let folder = Folder::new();
    folder.write("program.c", INVERSION);
    folder.ok(&["cc", "-g", "-O1", "-pthread", "program.c", "-o", "program"]);
    let ran = folder.run(&["run", "--confirm", "--json", "found.json", "--", "./program"]);
    assert_eq!(findings(&folder), ["confirmed confirmed deadlock program.c:a program.c:b"], "{ran:?}");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("1 finding: 1 confirmed"), "{ran:?}");
}

/// What `lockset` warns of cannot happen: a flag that is polled orders the two writes.
const ORDERED: &str = r"
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int shared, ready;
static int is_ready(void) {
    pthread_mutex_lock(&lock);
    int seen = ready;
    pthread_mutex_unlock(&lock);
    return seen;
}
static void *first(void *u) {
    shared = 1;
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    return u;
}
static void *second(void *u) {
    while (!is_ready()) usleep(1000);
    shared = 2;
    return u;
}
int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, first, 0);
    pthread_create(&y, 0, second, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
";

#[test]
fn what_cannot_happen_is_never_confirmed() {
    let folder = recorded(ORDERED);
    assert_eq!(findings(&folder), ["warning - race shared"]);
    let ran = folder.run(&["confirm", "found.json"]);
    assert_eq!(findings(&folder), ["warning not-reproduced race shared"], "{ran:?}");
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// Locks in contradicting orders under a gate: the threads can never wait for each other.
#[test]
fn a_gate_keeps_a_deadlock_from_striking() {
    let gate = |call: &str| format!("pthread_mutex_lock(&gate); {call} pthread_mutex_unlock(&gate);");
    let gated = INVERSION
        .replace("static pthread_mutex_t a", "static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, a")
        .replace("both(&a, &b);", &gate("both(&a, &b);"))
        .replace("both(&b, &a);", &gate("both(&b, &a);"));
    let folder = recorded(&gated);
    let ran = folder.run(&["confirm", "found.json", "--tries", "2"]);
    let found = findings(&folder);
    assert!(found.iter().all(|finding| finding.starts_with("warning not-reproduced lock-order")), "{found:?} {ran:?}");
}

/// A thread is cancelled while it stands at its event. Then another one comes, which was to be kept apart from it.
const CANCELLED: &str = r"
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;
volatile long data;
static void *worker(void *u) {
    int old;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    for (int i = 0; i < 200; i++) {
        data++;
        for (volatile int k = 0; k < 100000; k++) {}
    }
    return u;
}
static void *second(void *u) {
    pthread_mutex_lock(&lock);
    while (!ready) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    data++;
    return u;
}
int main(void) {
    pthread_t x, y;
    pthread_create(&y, 0, second, 0);
    pthread_create(&x, 0, worker, 0);
    usleep(30000);
    pthread_cancel(x);
    pthread_join(x, 0);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(y, 0);
    return 0;
}
";

#[test]
fn a_thread_that_was_cancelled_at_its_event_meets_nobody() {
    let folder = recorded(CANCELLED);
    let ran = folder.run(&["confirm", "found.json"]);
    let found = findings(&folder);
    assert!(found.iter().all(|finding| !finding.starts_with("confirmed")), "{found:?} {ran:?}");
}

/// A copy by the C library is an access like another.
#[test]
fn a_race_of_a_copy_is_confirmed() {
    let text = HIDDEN
        .replace("int shared, count;", "#include <string.h>\nlong shared[8], from[8]; int count;")
        .replace("shared = 1;", "memcpy(shared, from, sizeof shared);")
        .replace("shared = 2;", "shared[2] = 2;");
    let folder = recorded(&text);
    let ran = folder.run(&["confirm", "found.json"]);
    let found = findings(&folder);
    assert!(found.len() == 1 && found[0].starts_with("confirmed confirmed race"), "{found:?} {ran:?}");
}

/// The program never ends, and no thread comes to the events: a signal ends the work, and the file is as it was.
#[test]
fn a_signal_ends_the_work() {
    let folder = recorded(INVERSION);
    folder.write("other.c", INVERSION.replace("int main(void) {", "int main(void) {\n    pause();"));
    folder.write("program.c", folder.read("other.c"));
    folder.ok(&["cc", "-g", "-O1", "-pthread", "program.c", "-o", "program"]);
    let before = folder.read("found.json");
    let command = folder.command(&["confirm", "found.json"]);
    let mut limited = std::process::Command::new("timeout");
    limited.args(["--preserve-status", "-s", "INT", "2"]).arg(command.get_program()).args(command.get_args());
    let started = std::time::Instant::now();
    let ran = limited.current_dir(folder.path(".")).output().expect("it runs");
    assert_eq!(ran.status.code(), Some(130), "{ran:?}");
    assert!(started.elapsed().as_secs() < 15, "{ran:?}");
    assert_eq!(findings(&folder), ["predicted - deadlock program.c:a program.c:b"]);
    let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).expect("JSON")["findings"].clone();
    assert_eq!(parsed(&before), parsed(&folder.read("found.json")));
}

#[test]
fn errors_say_what_is_wrong() {
    let folder = recorded(INVERSION);
    let refused = |args: &[&str], why: &str| {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(why), "{ran:?}");
    };
    refused(&["confirm", "nosuch.json"], "cannot read nosuch.json");
    refused(&["confirm", "program.c"], "not a foretrace report");
    refused(&["confirm", "found.json", "--only", "0123456789abcdef"], "no finding with the id 0123456789abcdef");
    refused(&["confirm", "found.json", "--", "./nosuch"], "there is no program ./nosuch");
    // Another program has other places.
    folder.write("other.c", "int main(void) { return 0; }\n");
    folder.ok(&["cc", "-g", "-pthread", "other.c", "-o", "other"]);
    let ran = folder.run(&["confirm", "found.json", "--", "./other"]);
    assert!(ran.stderr.contains("is not found in the program"), "{ran:?}");
    assert_eq!(findings(&folder), ["predicted - deadlock program.c:a program.c:b"]);
}

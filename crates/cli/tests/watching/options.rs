//! Options of `run`, and where it says what, on real programs.

use crate::common::{Folder, Ran};
use std::time::{Duration, Instant};

/// Two threads count without a lock.
const COUNTER: &str = r#"
#include <pthread.h>
#include <stdio.h>
int counter;
static void *work(void *unused) {
    for (int i = 0; i < 10; i++) counter++;
    return unused;
}
int main(void) {
    pthread_t a, b;
    puts("mine");
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// A folder with a program, compiled from its text.
#[track_caller]
fn compiled(text: &str) -> Folder {
    let folder = Folder::new();
    folder.write("program.c", text);
    folder.ok(&["cc", "-O1", "-pthread", "program.c", "-o", "program"]);
    folder
}

/// Runs the program of a folder.
fn run(folder: &Folder, options: &[&str]) -> Ran {
    folder.run(&[&["run"], options, &["--", "./program"]].concat())
}

#[test]
fn the_report_is_not_mixed_into_what_the_program_writes() {
    let folder = compiled(COUNTER);
    let ran = run(&folder, &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(ran.stdout, "mine\n", "{ran:?}");
    assert!(ran.stderr.contains("observed race on counter: work program.c:6"), "{ran:?}");
    let ran = run(&folder, &["--quiet"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(1), "mine\n", ""));
}

#[test]
fn the_result_has_standard_output_if_that_is_asked_for() {
    let ran = run(&compiled(COUNTER), &["--json", "-"]);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    assert_eq!(json["findings"][0]["objects"][0], "counter");
    assert_eq!(ran.stderr, "mine\n");
}

/// A mistake, and then nothing for a minute.
fn long_after(mistake: &str, before: &str) -> Folder {
    compiled(&format!(
        r#"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;
static void *work(void *unused) {{
    for (int i = 0; i < 10; i++) {{ pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }}
    {mistake}
    return unused;
}}
int main(void) {{
    pthread_t a, b;
    {before}
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    for (time_t end = time(0) + 60; time(0) < end;) sleep(1);
    return 0;
}}
"#
    ))
}

/// Runs the program of a folder, and expects that it is stopped.
#[track_caller]
fn halts(folder: &Folder, options: &[&str], expected: &str) {
    let started = Instant::now();
    let ran = run(folder, &[&["--halt-on-error"], options].concat());
    assert!(started.elapsed() < Duration::from_secs(40), "{ran:?}");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("./program: stopped at its first error, as --halt-on-error asks"), "{ran:?}");
    assert!(ran.stderr.contains(expected), "{ran:?}");
}

#[test]
fn a_race_halts_the_program() {
    halts(&long_after("counter++;", ""), &[], "observed race on counter: work program.c:11");
}

#[test]
fn a_misuse_halts_the_program() {
    let folder = long_after("pthread_mutex_unlock(&lock);", "");
    halts(&folder, &["--detect", "misuse"], "observed misuse of program.c:lock");
    // What no note of the agent tells, but the order of events.
    let folder = long_after("volatile int *p = malloc(64); p[8] = 1; free((void *)p); p[8];", "");
    halts(&folder, &["--detect", "misuse"], "observed misuse of heap#");
}

#[test]
fn a_violated_property_halts_the_program() {
    let folder = long_after("__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);", "");
    folder.write(
        "s.rvs",
        "spec s {\n  target c;\n  shared int counter = 0 at c counter;\n  property few past { counter < 2 }\n}\n",
    );
    halts(&folder, &["--spec", "s.rvs"], "few");
}

#[test]
fn a_program_that_will_not_end_is_killed() {
    halts(&long_after("counter++;", "signal(SIGTERM, SIG_IGN);"), &[], "observed race on counter");
}

#[test]
fn what_does_not_count_does_not_halt() {
    let folder = Folder::new();
    let text =
        COUNTER.replace("    return 0;", "    struct timespec s = {1, 0};\n    nanosleep(&s, 0);\n    return 7;");
    folder.write("program.c", text.replace("#include <stdio.h>", "#include <stdio.h>\n#include <time.h>"));
    folder.ok(&["cc", "-O1", "-pthread", "program.c", "-o", "program"]);
    folder.write("known", "race:work\n");
    let ran = run(&folder, &["--halt-on-error", "--suppress", "known"]);
    assert_eq!((ran.code, ran.stderr.contains("stopped")), (Some(7), false), "{ran:?}");
    let ran = run(&folder, &["--halt-on-error", "--detect", "deadlock"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("--halt-on-error stops at"), "{ran:?}");
}

#[test]
fn races_that_are_meant_do_not_count() {
    let text = COUNTER
        .replace(
            "int counter;",
            "int counter;\nvoid AnnotateBenignRaceSized(const char *, int, const volatile void *, long, const char *);",
        )
        .replace(
            "puts(\"mine\");",
            "AnnotateBenignRaceSized(__FILE__, __LINE__, &counter, sizeof counter, \"only a guess\");",
        );
    let ran = run(&compiled(&text), &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = run(&compiled(&text.replace("&counter, sizeof counter", "&a, sizeof a")), &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

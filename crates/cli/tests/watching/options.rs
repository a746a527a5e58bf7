//! Options of `run`, and where it says what, on real programs.

use crate::common::{Folder, Ran};

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

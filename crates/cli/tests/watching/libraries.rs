//! Suppressions that name a shared library, or a mutex, by what real programs do.

use crate::common::Folder;
use serde_json::Value;
use std::process::Command;

/// A library that keeps a line, by a function of the C library and by itself, and calls back.
const LIBRARY: &str = r#"
#include <string.h>
char line[64]; int lines;
void log_line(const char *text, unsigned long bytes) { memcpy(line, text, bytes); }
void log_count(void) { lines++; }
void log_each(void (*call)(void)) { for (volatile int i = 0; i < 1; i++) call(); }
"#;

const PROGRAM: &str = r#"
#include <pthread.h>
#include <unistd.h>
void log_line(const char *text, unsigned long bytes);
void log_count(void);
void log_each(void (*call)(void));
static int calls;
__attribute__((noinline)) void called(void) { calls++; }
static void *worker(void *unused) { WORK; return unused; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// What a race in the work of two threads becomes under a suppression: whether it is suppressed, and the JSON.
#[track_caller]
fn race(folder: &Folder, rule: &str) -> (bool, Value) {
    folder.write("rules", format!("{rule}\n"));
    let ran = folder.run(&["run", "--suppress", "rules", "--detect", "hb", "--json", "out.json", "--", "./a"]);
    let json: Value = serde_json::from_slice(&folder.read("out.json")).expect("JSON");
    let findings = json["findings"].as_array().expect("findings");
    let silent = findings.iter().filter(|one| one["suppressed"] == true).count();
    assert!(!findings.is_empty() && (silent == 0 || silent == findings.len()), "{rule}: {json} {ran:?}");
    assert_eq!(ran.code, Some(i32::from(silent == 0)), "{rule}: {ran:?}");
    (silent > 0, json)
}

#[track_caller]
fn built(work: &str, hooked: bool) -> Folder {
    let folder = Folder::new();
    folder.write("log.c", LIBRARY);
    folder.write("a.c", PROGRAM.replace("WORK", work));
    let library = ["-O1", "-g", "-fno-builtin-memcpy", "-shared", "-fPIC", "log.c", "-o", "liblog.so"];
    if hooked {
        folder.ok(&[&["cc"], &library[..]].concat());
    } else {
        let status = Command::new("gcc").args(library).current_dir(folder.path(".")).status();
        assert!(status.expect("it runs").success());
    }
    folder.ok(&["cc", "-O1", "-pthread", "a.c", "-o", "a", "-L.", "-llog", "-Wl,-rpath,$ORIGIN"]);
    folder
}

#[test]
fn a_library_with_symbols_is_suppressed_by_its_name() {
    for hooked in [false, true] {
        let folder = built("log_line(\"abc\", 4)", hooked);
        for (rule, expected) in [
            ("called_from_lib:liblog.so", true),
            ("called_from_lib:log", true),
            ("called_from_lib:^liblog.so$", true),
            ("called_from_lib:libother.so", false),
            ("race:liblog.so", true),
            ("race_top:liblog.so", true),
            ("race:libother.so", false),
        ] {
            let (silent, json) = race(&folder, rule);
            assert_eq!(silent, expected, "{rule}, hooks: {hooked}");
            let libraries = &json["findings"][0]["libraries"];
            assert_eq!((&libraries[0][0], &libraries[1][0]), (&"liblog.so".into(), &"liblog.so".into()), "{json}");
        }
    }
}

#[test]
fn a_library_that_calls_back_does_not_access() {
    for hooked in [false, true] {
        let folder = built("log_each(called)", hooked);
        assert!(!race(&folder, "called_from_lib:liblog.so").0, "hooks: {hooked}");
        assert!(!race(&folder, "race_top:liblog.so").0, "hooks: {hooked}");
        assert!(race(&folder, "race:liblog.so").0);
        assert!(race(&folder, "race_top:called").0);
    }
    // Its own accesses are seen only with hooks.
    let folder = built("log_count()", true);
    assert!(race(&folder, "called_from_lib:liblog.so").0);
}

#[test]
fn misuse_of_a_mutex_is_suppressed_by_its_functions_and_names() {
    let folder = Folder::new();
    folder.write(
        "a.c",
        "#include <pthread.h>
        pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
        static void *releases(void *unused) { pthread_mutex_unlock(&gate); return unused; }
        int main(void) { pthread_t a; pthread_mutex_lock(&gate); pthread_create(&a, 0, releases, 0);
        pthread_join(a, 0); return 0; }",
    );
    folder.ok(&["cc", "-O1", "-pthread", "a.c", "-o", "a"]);
    let run = |rule: &str| {
        folder.write("rules", format!("{rule}\n"));
        folder.run(&["run", "--suppress", "rules", "--detect", "misuse", "--", "./a"]).code
    };
    assert_eq!(run("mutex:releases"), Some(0));
    assert_eq!(run("mutex:gate"), Some(0));
    assert_eq!(run("mutex:other"), Some(1));
    assert_eq!(run("race:releases"), Some(1));
}

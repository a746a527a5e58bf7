//! When the agent fails, it detaches, says why, and the program goes on as without it. When nothing was watched, that
//! is no clean bill of health.

use crate::common::{Folder, Ran};
use std::path::Path;
use std::process::Command;

/// A folder with the program.
fn folder() -> Folder {
    let folder = Folder::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/watching/programs/failing.c");
    folder.ok(&["cc", "-O1", "-pthread", source.to_str().expect("a path"), "-o", "failing"]);
    folder
}

/// Runs the program with an agent that fails.
fn run(folder: &Folder, fail: &str) -> Ran {
    let mut command = folder.command(&["run", "--detect", "hb", "--", "./failing"]);
    command.env("FORETRACE_FAIL", fail).output().expect("foretrace runs").into()
}

/// The agent fails at many places, with and without locks held, at the beginning and in the middle.
#[test]
fn an_agent_that_fails_lets_the_program_go_on() {
    let folder = folder();
    let expected = run(&folder, "nowhere");
    assert!(expected.code == Some(7) && expected.stderr.contains("no findings"), "{expected:?}");
    for place in ["refill", "revoke", "begin", "end"] {
        for count in [1, 2, 3, 5, 8] {
            let ran = run(&folder, &format!("{place} {count}"));
            assert_eq!(ran.stdout, expected.stdout, "{place} {count}: {ran:?}");
            let (failed, named) =
                (ran.stderr.contains("a test wants this"), ran.stderr.contains("(./failing): the agent"));
            // There are 9 beginnings and 8 ends; nothing is known of how often regions are revoked.
            assert!(failed || place == "revoke" && count > 2, "{place} {count}: {ran:?}");
            assert!(!failed || named, "{place} {count}: {ran:?}");
            // If it failed before the first event, nothing was watched.
            let code = if ran.stderr.contains("nothing was watched") { 2 } else { 7 };
            assert_eq!(ran.code, Some(code), "{place} {count}: {ran:?}");
            assert!(code == 7 || !ran.stderr.contains("no findings"), "{place} {count}: {ran:?}");
        }
    }
}

/// Runs a shell command that uses `$FORETRACE`, and expects that nothing was watched for this reason.
#[track_caller]
fn refuses(folder: &Folder, script: &str, reason: &str) {
    let out = Command::new("sh")
        .args(["-c", script])
        .env("FORETRACE", env!("CARGO_BIN_EXE_foretrace"))
        .current_dir(folder.path(""))
        .output()
        .expect("sh runs");
    let ran = Ran::from(out);
    assert_eq!(ran.code, Some(2), "{script}: {ran:?}");
    assert!(ran.stderr.contains(reason), "{script}: {ran:?}");
    assert!(!ran.stderr.contains("no findings"), "{script}: {ran:?}");
}

#[test]
fn where_nothing_was_watched_the_reason_is_named() {
    let folder = folder();
    folder.write("plain.c", "#include <stdio.h>\nint main(void) { puts(\"done\"); return 0; }\n");
    let cc = |args: &[&str]| {
        let status = Command::new("cc").args(args).current_dir(folder.path("")).status();
        assert!(status.expect("cc runs").success());
    };
    cc(&["-static", "plain.c", "-o", "static"]);
    refuses(&folder, "$FORETRACE run -- ./static", "a fully static program cannot be watched");
    // The file of the process would be too long: the kernel would kill the program.
    refuses(&folder, "ulimit -f 2000; $FORETRACE run -- ./failing", "there is no room for what it writes");
    refuses(&folder, "ulimit -v 1000000; $FORETRACE run -- ./failing", "too little memory or address space");
    refuses(&folder, "TMPDIR=/nowhere $FORETRACE run -- ./failing", "No such file or directory");
    // Only the superuser can give a program another's rights.
    let set = "cp failing other && chown 65534 other && chmod u+s other";
    if Command::new("sh").args(["-c", set]).current_dir(folder.path("")).status().is_ok_and(|set| set.success()) {
        refuses(&folder, "$FORETRACE run -- ./other", "it has more rights than its user");
    }
    // So can only it make another /dev/shm, for itself alone.
    let small = "mount -t tmpfs -o size=1m none /dev/shm";
    if Command::new("unshare").args(["-m", "sh", "-c", small]).output().is_ok_and(|out| out.status.success()) {
        // The session is then in TMPDIR.
        let run = |then: &str| format!("unshare -m sh -c '{small}; {then} $FORETRACE run -- ./failing'");
        let ran = Command::new("sh")
            .args(["-c", &run("")])
            .env("FORETRACE", env!("CARGO_BIN_EXE_foretrace"))
            .current_dir(folder.path(""))
            .output();
        let ran = Ran::from(ran.expect("sh runs"));
        assert!(ran.code == Some(7) && ran.stderr.contains("no findings"), "{ran:?}");
        let both = "mkdir small; mount -t tmpfs -o size=1m none small; TMPDIR=$PWD/small";
        refuses(&folder, &run(both), "there is no room for what it writes");
    }
}

/// Every chunk belongs to a thread that waits for the others, and there is no space for more.
#[test]
fn a_full_session_does_not_stop_the_program() {
    let folder = Folder::new();
    folder.write(
        "crowd.c",
        r#"
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *come(void *argument) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&all);
    return argument;
}

int main(void) {
    pthread_t threads[24];
    pthread_barrier_init(&all, NULL, 24);
    for (int i = 0; i < 24; i++)
        pthread_create(&threads[i], NULL, come, NULL);
    for (int i = 0; i < 24; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", count);
    return 0;
}
"#,
    );
    folder.ok(&["cc", "-O1", "-pthread", "crowd.c", "-o", "crowd"]);
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "60", env!("CARGO_BIN_EXE_foretrace"), "run", "--", "./crowd"]);
    command.current_dir(folder.path("")).env("FORETRACE_FAIL", "space 2");
    let ran = Ran::from(command.output().expect("timeout runs"));
    assert_eq!(ran.stdout, "24\n", "{ran:?}");
    assert!(ran.stderr.contains("records were dropped for want of room"), "{ran:?}");
}

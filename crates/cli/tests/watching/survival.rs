//! However a program ends, what it did until then is in the trace, and its end is passed on.

use crate::common::{Folder, Ran};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The program, compiled once for all tests.
fn program() -> &'static Path {
    static FOLDER: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/watching/programs");
        for (source, output, options) in
            [("survive.c", "survive", &["-ldl"][..]), ("plugin.c", "plugin.so", &["-shared", "-fPIC"][..])]
        {
            let built = Command::new(env!("CARGO_BIN_EXE_foretrace"))
                .args(["cc", "-O1", "-pthread"])
                .arg(sources.join(source))
                .args(options)
                .arg("-o")
                .arg(folder.path().join(output))
                .output()
                .expect("foretrace runs");
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        }
        let path = folder.path().join("survive");
        (folder, path)
    });
    path
}

/// A folder with the program in it.
fn folder() -> Folder {
    let folder = Folder::new();
    for name in ["survive", "plugin.so"] {
        std::fs::copy(program().with_file_name(name), folder.path(name)).expect("copied");
    }
    folder
}

/// Starts `foretrace record` on the program, in a process group of its own.
fn start(folder: &Folder, how: &str) -> Child {
    use std::os::unix::process::CommandExt;
    folder
        .command(&["record", "-o", "t.ftrace", "--", "./survive", how])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("foretrace runs")
}

/// How many ticks a trace holds.
fn ticks(folder: &Folder, trace: &str) -> usize {
    let shown = folder.run(&["show", trace]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    shown.stdout.lines().filter(|line| line.contains("|ev(tick,")).count()
}

/// Records the program, and gives how it ended: its code, or the negative number of its signal.
fn record(folder: &Folder, how: &str) -> (i32, Ran) {
    let out = start(folder, how).wait_with_output().expect("foretrace ends");
    let end = out.status.code().unwrap_or_else(|| -out.status.signal().expect("a code or a signal"));
    (end, out.into())
}

/// Records, and compares the end and the number of ticks.
#[track_caller]
fn survives(how: &str, end: i32, expected: usize) {
    let folder = folder();
    let (ended, ran) = record(&folder, how);
    assert_eq!(ended, end, "{how}: {ran:?}");
    assert_eq!(ticks(&folder, "t.ftrace"), expected, "{how}: {ran:?}");
}

#[test]
fn return_from_main() {
    survives("return", 0, 1000);
}

#[test]
fn exit() {
    survives("exit", 5, 1000);
}

#[test]
fn exit_at_once() {
    survives("_exit", 3, 1000);
}

#[test]
fn abort() {
    survives("abort", -6, 1000);
}

#[test]
fn kill() {
    survives("kill", -9, 1000);
}

#[test]
fn crash() {
    survives("crash", -11, 1000);
}

#[test]
fn signals_all_the_time() {
    survives("storm", 0, 1000);
}

#[test]
fn cancellation() {
    survives("cancel", 0, 1001);
}

#[test]
fn threads_alive_at_exit() {
    survives("alive", 0, 400);
}

#[test]
fn a_library_loaded_later() {
    survives("dlopen", 0, 701);
}

#[test]
fn two_thousand_threads() {
    survives("threads", 0, 20_000);
}

/// Without its caches, the C library's memory shows every misuse: also what the agent asks of the loader before the
/// program begins.
#[test]
fn an_allocator_that_forgives_nothing() {
    let folder = folder();
    let out = folder
        .command(&["record", "-o", "t.ftrace", "--", "./survive", "return"])
        .env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0:glibc.malloc.perturb=85")
        .output()
        .expect("foretrace ends");
    assert_eq!(out.status.code(), Some(0), "{out:?}");
    assert_eq!(ticks(&folder, "t.ftrace"), 1000);
}

/// A program's own malloc need not know the blocks of the C library's realloc.
#[test]
fn an_allocator_of_its_own() {
    let folder = Folder::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/watching/programs/allocator.c");
    let source = source.to_str().expect("a path");
    let built = folder.run(&["cc", "-O1", "-pthread", "-fno-builtin", source, "-o", "allocator"]);
    assert_eq!(built.code, Some(0), "{built:?}");
    let ran = folder.run(&["record", "-o", "t.ftrace", "--", "./allocator"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
}

/// The traces beside the main one.
fn others(folder: &Folder) -> Vec<String> {
    folder.names().into_iter().filter(|name| name.contains(".ftrace") && name != "t.ftrace").collect()
}

#[test]
fn fork() {
    let folder = folder();
    let (end, ran) = record(&folder, "fork");
    assert_eq!(end, 0, "{ran:?}");
    assert_eq!(ticks(&folder, "t.ftrace"), 1010);
    let others = others(&folder);
    assert_eq!(others.len(), 1, "{others:?}");
    assert_eq!(ticks(&folder, &others[0]), 600);
}

#[test]
fn fork_with_a_lock_held() {
    let folder = folder();
    let (end, ran) = record(&folder, "fork with a lock");
    assert_eq!(end, 0, "{ran:?}");
    let others = others(&folder);
    assert_eq!(others.len(), 1, "{others:?}");
    assert_eq!(ticks(&folder, &others[0]), 600);
    // The child gives back what its parent took: that is no misuse, and no problem of its trace.
    let checked = folder.run(&["check", &others[0], "--strict", "--detect", "misuse"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

#[test]
fn exec() {
    let folder = folder();
    let (end, ran) = record(&folder, "exec");
    assert_eq!(end, 0, "{ran:?}");
    let mut counts: Vec<usize> = others(&folder).iter().map(|name| ticks(&folder, name)).collect();
    counts.push(ticks(&folder, "t.ftrace"));
    counts.sort_unstable();
    assert_eq!(counts, [500, 1000]);
}

/// Waits until the program made a file.
#[track_caller]
fn wait_for(folder: &Folder, name: &str) {
    let started = Instant::now();
    while !folder.path(name).exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "{name} never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to a process, or with a minus to its group.
fn signal(name: &str, target: &str) {
    let status = Command::new("kill").args(["-s", name, "--", target]).status().expect("kill runs");
    assert!(status.success());
}

#[test]
fn interrupt() {
    let folder = folder();
    let child = start(&folder, "interrupt");
    wait_for(&folder, "ready");
    signal("INT", &format!("-{}", child.id()));
    let out = child.wait_with_output().expect("foretrace ends");
    assert_eq!(out.status.signal(), Some(2), "{out:?}");
    assert_eq!(ticks(&folder, "t.ftrace"), 1000);
}

#[test]
fn signals_that_only_we_get_are_passed_on() {
    for (name, number) in [("INT", 2), ("TERM", 15), ("USR1", 10), ("USR2", 12)] {
        let folder = folder();
        let child = start(&folder, "interrupt");
        wait_for(&folder, "ready");
        signal(name, &child.id().to_string());
        let out = child.wait_with_output().expect("foretrace ends");
        assert_eq!(out.status.signal(), Some(number), "{name}: {out:?}");
        assert_eq!(ticks(&folder, "t.ftrace"), 1000, "{name}");
    }
}

#[test]
fn the_program_lives_on_without_foretrace() {
    let folder = folder();
    let mut child = start(&folder, "orphan");
    wait_for(&folder, "ready");
    // What was recorded until now is on its way.
    std::thread::sleep(Duration::from_millis(500));
    signal("KILL", &child.id().to_string());
    child.wait().expect("foretrace ends");
    folder.write("go", "");
    wait_for(&folder, "done");
    let part = folder.names().into_iter().find(|name| name.ends_with(".part")).expect("what was written so far");
    let kept = ticks(&folder, &part);
    // Whole frames of 2^15 events; what was on its way into the last ones is gone.
    assert!((1 << 16..=200_000).contains(&kept), "{kept}");
}

#[test]
fn a_full_disk() {
    let folder = folder();
    let out = folder
        .command(&["record", "-o", "/dev/full", "--", "./survive", "exit"])
        .stdin(Stdio::null())
        .output()
        .expect("foretrace runs");
    let ran = Ran::from(out);
    assert_eq!(ran.code, Some(5), "the program's own code: {ran:?}");
    assert!(ran.stderr.contains("could not be written: /dev/full"), "{ran:?}");
    use std::os::unix::fs::FileTypeExt;
    assert!(std::fs::metadata("/dev/full").expect("it is there").file_type().is_char_device());
}

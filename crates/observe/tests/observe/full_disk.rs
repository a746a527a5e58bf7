//! A disk that fills up while the program runs. A limit on the length of files stands for it, which only the observer
//! has: the program takes it away for itself.

use crate::scenes::start;
use crate::support::{SCENE, options};
use observe::{Recording, StoredTrace};
use runtime::layout::process;
use runtime::record::Kind;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicUsize;

const LIMITED: &str = "FORETRACE_TEST_LIMITED";
const WRITES: u64 = 100_000;

pub(crate) fn filling() {
    let (agent, mut main) = start();
    for k in 0..WRITES {
        main.sync(Kind::ConflictWrite, 0xff, 0x5000 + k * 7919 % 4096 / 8 * 8, 0);
    }
    main.sync(Kind::ThreadEnd, 0, 0, 0);
    agent.end(process::EXITED);
}

/// This test by a shell, after a command of the shell's.
fn after(first: &str, test: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{first}; exec \"$0\" \"$@\"")]);
    command.arg(std::env::current_exe().expect("this test")).args(["--exact", test, "--nocapture"]);
    command
}

#[test]
fn a_disk_that_fills_up_does_not_stop_the_program() {
    if std::env::var_os(LIMITED).is_none() {
        let test = "full_disk::a_disk_that_fills_up_does_not_stop_the_program";
        let ran = after("trap '' XFSZ; ulimit -S -f 16", test).env(LIMITED, "1").status().expect("sh runs");
        return assert!(ran.success());
    }
    let mut program = after("ulimit -S -f unlimited", "program");
    program.env(SCENE, "filling").stdout(Stdio::null());
    let recording = Recording::start(options()).expect("a session");
    let recorded = recording.run(&mut program, &AtomicUsize::new(0)).expect("it runs");
    assert_eq!(recorded.exit.code(), Some(7), "{recorded:?}");
    let process = recorded.processes.last().expect("a process");
    assert_eq!(process.events, WRITES, "what was not written is counted");
    assert!(matches!(process.trace, StoredTrace::Failed(_)), "{process:?}");
}

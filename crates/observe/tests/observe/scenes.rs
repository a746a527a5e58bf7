//! The events that records become: one scene for each kind of thing.

use crate::agent::{Agent, Thread};
use crate::support::{command, lines, options, record, record_with, shown, trace_of};
use event::{Made, Op, Space};
use observe::{Agent as How, Encoding, Ended, Options, Output, StoredTrace, Use, Watched};
use runtime::layout::process;
use runtime::record::{Class, Kind, PENDING, TextFor, head};
use std::sync::atomic::Ordering::Release;

/// Code of the program at 0x1000, its variables at 0x5000.
const MAPS: &str =
    "1000-2000 r-xp 00000000 00:00 0 /opt/prog\n5000-6000 rw-p 00002000 00:00 0                     /opt/prog\n";

/// A program of one thread.
pub(crate) fn start() -> (Agent, Thread) {
    let agent = Agent::start(0);
    agent.maps(0, MAPS);
    let mut main = agent.thread();
    main.begin();
    (agent, main)
}

pub(crate) fn quiet() {
    let (agent, mut main) = start();
    let at = main.context(0, 0x1011);
    main.sync(Kind::ConflictWrite, 0xff, 0x5008, at);
    main.read(0x5008, 0xff, at);
    main.sync(Kind::ThreadEnd, 0, 0, 0);
    agent.end(process::EXITED);
}

#[test]
fn a_quiet_program() {
    let mut recorded = record("quiet");
    assert_eq!(recorded.exit.code(), Some(7));
    let process = &mut recorded.processes[0];
    assert!(process.main && process.image == 0 && process.agent == How::Library && process.ended == Ended::Exited);
    assert_eq!(process.exit.and_then(|exit| exit.code()), Some(7));
    assert!(process.argv.iter().any(|argument| argument == "--nocapture"), "{:?}", process.argv);
    let (trace, losses) = trace_of(&mut process.trace);
    assert_eq!(lines(&trace), ["main|w(prog+0x2008)|prog+0x10", "main|r(prog+0x2008)|prog+0x10"]);
    assert!(losses.is_empty());
    let module = &trace.meta.modules[0];
    assert_eq!((trace.names.str(module.path), module.base, module.size), ("/opt/prog", 0x1000, 0x5000));
}

pub(crate) fn locks() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    let (a, b, c, s) = (0x5000, 0x5010, 0x5020, 0x5030);
    let at = main.context(0, 0x1101);
    main.sync3(Kind::Init, Class::Semaphore as u8, s, at, 2);
    main.fork(child.slot, at);
    child.begin();
    main.sync(Kind::Request, Class::Mutex as u8, a, 0);
    main.acquire(a, 0);
    main.sync3(Kind::Wait, Class::Condition as u8, c, 0, a);
    child.sync(Kind::TryAcquire, Class::Mutex as u8, a, 0);
    child.sync(Kind::Notify, Class::Condition as u8, c, 0);
    child.release(a, 0);
    main.sync3(Kind::Woken, Class::Condition as u8, c, 0, a);
    main.release(a, 0);
    child.sync(Kind::ReadAcquire, Class::RwLock as u8, b, 0);
    main.sync(Kind::TryFail, Class::RwLock as u8, b, 0);
    child.sync(Kind::ReadRelease, Class::RwLock as u8, b, 0);
    main.acquire(a, 0);
    main.sync3(Kind::Wait, Class::Condition as u8, c, 0, a);
    main.sync3(Kind::Woken, Class::Condition as u8, c, 0, a | 1 << 48);
    // The notify is used up.
    main.sync3(Kind::Wait, Class::Condition as u8, c, 0, a);
    main.sync3(Kind::Woken, Class::Condition as u8, c, 0, a);
    main.release(a, 0);
    child.sync(Kind::NotifyAll, Class::Condition as u8, c, 0);
    child.sync(Kind::Post, Class::Descriptor as u8, 5, 0);
    main.sync(Kind::Await, Class::Descriptor as u8, 5, 0);
    child.sync(Kind::Down, Class::Semaphore as u8, s, 0);
    child.sync(Kind::Up, Class::Semaphore as u8, s, 0);
    main.sync(Kind::Destroy, Class::Mutex as u8, a, 0);
    main.sync3(Kind::Init, Class::Mutex as u8, a, 0, 0);
    main.acquire(a, 0);
    child.sync(Kind::ThreadEnd, 0, 0, 0);
    main.join(child.slot, 0);
    main.sync(Kind::Fence, 4, 0, 0);
    agent.end(process::EXITED);
}

#[test]
fn synchronisation() {
    let expected = "\
#! init prog+0x2030=2
main|w(prog+0x2030)|prog+0x100
main|fork(T1)|prog+0x100
main|req(prog+0x2000)|
main|acq(prog+0x2000)|
main|wait(prog+0x2020,prog+0x2000)|
T1|tacq(prog+0x2000)|
T1|notify(prog+0x2020)|
T1|r(prog+0x2000)|
T1|rel(prog+0x2000)|
main|woken(prog+0x2020,prog+0x2000)|
main|rel(prog+0x2000)|
T1|racq(prog+0x2010)|
main|tfail(prog+0x2010)|
T1|rrel(prog+0x2010)|
main|acq(prog+0x2000)|
main|wait(prog+0x2020,prog+0x2000)|
main|woken(prog+0x2020,prog+0x2000)=timeout|
main|wait(prog+0x2020,prog+0x2000)|
main|woken(prog+0x2020,prog+0x2000)=spurious|
main|rel(prog+0x2000)|
T1|notifyall(prog+0x2020)|
T1|post(fd#5)|
T1|r(prog+0x2030)|
main|await(fd#5)|
T1|down(prog+0x2030)|
T1|up(prog+0x2030)|
main|free(prog+0x2000)|
main|acq(prog+0x2000#2)|
main|join(T1)|
main|fence@acqrel|";
    assert_eq!(shown("locks"), expected.lines().collect::<Vec<_>>());
}

/// One slot, which is no thread, says what the threads of others wait for.
pub(crate) fn seen() {
    let (agent, mut main) = start();
    let [mut first, mut second, mut third] = [(); 3].map(|()| agent.thread());
    let mut looker = agent.thread();
    let (lock, latch, semaphore) = (0x5000, 0x5010, 0x5020);
    [first.slot, second.slot, third.slot].into_iter().for_each(|slot| main.fork(slot, 0));
    first.begin();
    first.acquire(lock, 0);
    second.begin();
    third.begin();
    let mut see = |class: u8, object: u64, slot: u32, records: u64| {
        looker.sync3(Kind::SeenWaiting, class, object, 0, u64::from(slot) | records << 16);
    };
    see(Class::Latch as u8, latch, main.slot, 4);
    see(0, second.slot.into(), first.slot, 2);
    see(Class::Mutex as u8, lock, second.slot, 1);
    see(Class::Semaphore as u8, semaphore, third.slot, 1);
    // What is seen later counts, even if it is wrong.
    see(0, first.slot.into(), second.slot, 7);
    see(Class::Mutex as u8, lock, second.slot, 1);
    // This one goes on.
    third.acquire(latch, 0);
    agent.end(process::EXITED);
}

#[test]
fn threads_that_others_have_seen_waiting() {
    let expected = [
        "main|fork(T1)|",
        "main|fork(T2)|",
        "main|fork(T3)|",
        "T1|acq(prog+0x2000)|",
        "T3|acq(prog+0x2010)|",
        "main|areq(prog+0x2010)|",
        "T1|jreq(T2)|",
        "T2|req(prog+0x2000)|",
    ];
    assert_eq!(shown("seen"), expected);
}

#[test]
fn origins_and_threads_are_reported() {
    let mut recorded = record("locks");
    let (trace, _) = trace_of(&mut recorded.processes[0].trace);
    let origin = trace.meta.origins.iter().rfind(|origin| origin.space == Space::Sem).expect("the semaphore's");
    assert_eq!(origin.made, Made::Initialised);
    assert_eq!(trace.names.site(origin.site), "prog+0x100");
    let child = &trace.meta.threads[0];
    assert_eq!((trace.names.thread(child.thread), trace.names.site(child.site)), ("T1", "prog+0x100"));
    assert_ne!(child.stack.0, 0);
}

pub(crate) fn values() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    main.fork(child.slot, 0);
    child.begin();
    let landing = 0x5000;
    main.sync3(Kind::WatchRead, 2, landing, 0, 0);
    // The value comes after the record.
    let written = main.next_record();
    main.sync3(Kind::WatchWrite, 2 | PENDING, landing, 0, 0);
    child.sync3(Kind::WatchRead, 2, landing, 0, 0xffff_ffff);
    std::thread::sleep(std::time::Duration::from_millis(30));
    main.patch(written, 0xffff_ffff, head(Kind::WatchWrite, 2, landing));
    child.sync3(Kind::WatchRead, 2, landing, 0, 5);
    main.sync3(Kind::WatchWrite, 3, 0x5008, 0, 2.5f64.to_bits());
    // Their neighbours have no values.
    main.sync3(Kind::WatchWrite, 2 | PENDING, 0x5004, 0, 0);
    child.sync3(Kind::WatchRead, 0, 0x5004, 0, 1);
    child.sync3(Kind::WatchRead, 0, 0x5004, 0, 0);
    main.sync3(Kind::WatchWrite, 2 | PENDING, landing, 0, 0);
    agent.end(process::EXITED);
}

#[test]
fn watched_variables_have_values() {
    let watched = |address, size, name: &str, encoding| Watched {
        module: "/opt/prog".into(),
        address,
        size,
        name: name.into(),
        used: Use::Value(encoding),
    };
    let options = Options {
        watched: vec![watched(0x4000, 4, "landing", Encoding::Signed), watched(0x4008, 8, "height", Encoding::Float)],
        ..options()
    };
    let mut recorded = record_with("values", options);
    let (trace, _) = trace_of(&mut recorded.processes[0].trace);
    let expected = "\
main|fork(T1)|
main|r(landing)=0|
main|w(landing)=-1|
T1|r(landing)=-1|
T1|r(landing)=5~|
main|w(height)=2.5|
main|w(prog+0x2004)|
T1|r(prog+0x2004)|
T1|r(prog+0x2004)|
main|w(landing)~|";
    assert_eq!(lines(&trace), expected.lines().collect::<Vec<_>>());
}

pub(crate) fn texts() {
    let (agent, mut main) = start();
    main.text(TextFor::ThreadName, "the main one", None);
    main.text(TextFor::ObjectName, "account", Some(0x7000));
    main.sync(Kind::ConflictWrite, 0xff, 0x7000, 0);
    main.text(TextFor::Label, "transfer", None);
    main.sync(Kind::Begin, 0, 0, 0);
    main.text(TextFor::Label, "paid", None);
    main.sync3(Kind::Internal, 0, 1, 0, 42);
    main.text(TextFor::Label, "done", None);
    main.sync3(Kind::Internal, 0, 0, 0, 0);
    main.sync(Kind::End, 0, 0, 0);
    main.text(TextFor::Misuse, "unlock of a free mutex", None);
    main.sync(Kind::Misuse, Class::Mutex as u8, 0x5000, 0);
    main.text(TextFor::Note, "a note", None);
    main.sync(Kind::Begin, 1, 0, 0);
    main.sync(Kind::End, 1, 0, 0);
    main.sync3(Kind::Internal, 1, 1, 0, 0);
    agent.end(process::EXITED);
}

#[test]
fn texts_name_things() {
    let function =
        |name: &str, used| Watched { module: "/opt/prog".into(), address: 0x100, size: 16, name: name.into(), used };
    let watched = vec![function("critical", Use::Region), function("pay", Use::Entered)];
    let options = Options { watched, ..options() };
    let mut recorded = record_with("texts", options);
    assert_eq!(recorded.processes[0].notes, ["a note"]);
    let (trace, losses) = trace_of(&mut recorded.processes[0].trace);
    let expected = r#"main|w(account)|
main|begin(transfer)|
main|ev(paid,42)|
main|ev(done)|
main|end(transfer)|
main|ev(foretrace.misuse,"unlock of a free mutex","prog+0x2000")|
main|begin(critical)|
main|end(critical)|
main|ev(pay)|"#;
    assert_eq!(lines(&trace), expected.lines().collect::<Vec<_>>());
    assert!(losses.is_empty());
    assert_eq!(trace.names.str(trace.meta.threads[0].name), "the main one");
}

pub(crate) fn reuse() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    for round in 0..3 {
        main.fork(child.slot, 0);
        child.begin();
        child.acquire(0x5000 + round * 8, 0);
        child.release(0x5000 + round * 8, 0);
        child.sync(Kind::ThreadEnd, 0, 0, 0);
        main.join(child.slot, 0);
    }
    // An access of the second thread, between its acquire and its release: sync index 4 + 2 of the slot.
    main.reserve(64);
    main.deferred(0x7000, 0xff, (child.slot, 6, 0), true, 0);
    main.sync(Kind::ConflictWrite, 0xff, 0x7000, 0);
    agent.end(process::EXITED);
}

#[test]
fn a_slot_has_one_thread_after_another() {
    let lines = shown("reuse");
    assert_eq!(lines.iter().filter(|line| line.contains("fork(") || line.contains("join(")).count(), 6);
    let of_second: Vec<_> = lines.iter().filter(|line| line.starts_with("T2|")).collect();
    assert_eq!(of_second, ["T2|acq(prog+0x2008)|", "T2|w(mem@7000)|", "T2|rel(prog+0x2008)|"]);
}

pub(crate) fn executed() {
    let (agent, mut main) = start();
    main.acquire(0x5000, 0);
    agent.end(process::EXECUTED);
    let agent = Agent::start(1);
    let mut main = agent.thread();
    main.begin();
    main.acquire(0x6000, 0);
    main.release(0x6000, 0);
    agent.end(process::EXITED);
}

#[test]
fn exec_gives_a_second_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.ftrace");
    let options = Options { output: Output::Path(path.clone()), ..options() };
    let mut recorded = record_with("executed", options);
    let shown: Vec<_> = recorded.processes.iter().map(|p| (p.main, p.image, p.ended, p.events)).collect();
    assert_eq!(shown, [(true, 1, Ended::Exited, 2), (false, 0, Ended::Executed, 1)]);
    assert!(matches!(&recorded.processes[0].trace, StoredTrace::Path(kept) if *kept == path));
    let (trace, losses) = trace_of(&mut recorded.processes[1].trace);
    assert_eq!((lines(&trace), losses), (vec!["main|acq(prog+0x2000)|".to_owned()], vec![]));
    assert_eq!(std::fs::read_dir(folder.path()).expect("read").count(), 2);
}

/// Starts a process and does not wait for it: that is the scene.
#[allow(clippy::zombie_processes)]
fn leave(mut command: std::process::Command) {
    command.spawn().expect("it starts");
}

pub(crate) fn forked() {
    let (agent, mut main) = start();
    main.acquire(0x5000, 0);
    agent.end(process::EXITED);
    // Not waited for: it shows itself when its parent is gone.
    leave(command("quiet"));
}

#[test]
fn processes_that_outlive_the_program_are_waited_for() {
    let recorded = record("forked");
    let shown: Vec<_> = recorded.processes.iter().map(|p| (p.main, p.ended, p.events)).collect();
    assert_eq!(shown, [(true, Ended::Exited, 1), (false, Ended::Exited, 2)]);
}

pub(crate) fn survivor() {
    if std::env::var_os("SECOND").is_none() {
        let mut second = command("survivor");
        second.env("SECOND", "1");
        leave(second);
        std::thread::sleep(std::time::Duration::from_millis(100));
        return;
    }
    let (agent, mut main) = start();
    for _ in 0..1_000 {
        main.acquire(0x5000, 0);
        std::thread::sleep(std::time::Duration::from_millis(10));
        if agent.process().state.load(std::sync::atomic::Ordering::Acquire) == process::DETACHED {
            return;
        }
    }
    agent.process().state.store(process::EXITED, Release);
}

#[test]
fn a_daemon_is_left_and_reported() {
    let options = Options { linger: std::time::Duration::from_millis(200), record_all: true, ..options() };
    let began = std::time::Instant::now();
    let mut recorded = record_with("survivor", options);
    assert!(began.elapsed() < std::time::Duration::from_secs(5));
    assert_eq!(recorded.processes.len(), 1);
    assert_eq!(recorded.processes[0].ended, Ended::Unwatched);
    let (trace, losses) = trace_of(&mut recorded.processes[0].trace);
    assert!(trace.batch.events.len() > 5 && trace.batch.events.iter().all(|event| event.op() == Op::Acquire));
    assert_eq!(losses, ["the process was still running when recording ended"]);
}

#[test]
fn a_program_that_is_not_there() {
    let recording = observe::Recording::start(Options::default()).expect("a session");
    let result = recording.run(&mut std::process::Command::new("/nonexistent"), &Default::default());
    assert!(result.is_err_and(|error| error.to_string().starts_with("cannot start /nonexistent: ")));
}

#[test]
fn a_program_without_an_agent() {
    let recording = observe::Recording::start(Options { lossy: true, ..options() }).expect("a session");
    let recorded = recording.run(std::process::Command::new("/bin/sh").args(["-c", "exit 3"]), &Default::default());
    let recorded = recorded.expect("it runs");
    assert_eq!((recorded.exit.code(), recorded.processes.len()), (Some(3), 0));
}

//! Records a second through reading, merging, naming and encoding: `cargo bench -p foretrace-observe`.
//!
//! The program is this benchmark itself, started once more. What is measured is the CPU time of the observer. With a
//! program (`cargo bench -p foretrace-observe -- ./program`), one that has the agent in it, that one is recorded, once:
//! a number behind it says how often.

#[path = "../tests/observe/agent.rs"]
mod agent;

use agent::{Agent, LIMIT, Thread};
use observe::{Offsets, Options, Output, Recording};
use runtime::layout::{chunks_for, process};
use runtime::record::Kind;
use std::process::Command;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

const SCENE: &str = "FORETRACE_BENCH_SCENE";

const RECORDS: u64 = 8_000_000;

/// (name, threads, records in a run of one thread, share of reads in percent, call contexts, words)
const SCENES: &[(&str, usize, u64, u64, u32, u64)] = &[
    ("2 threads, runs of 50, half reads", 2, 50, 50, 20, 10_000),
    ("8 threads, runs of 4, half reads", 8, 4, 50, 200, 100_000),
    ("8 threads, record by record", 8, 1, 0, 200, 100_000),
    ("64 threads, record by record", 64, 1, 30, 200, 100_000),
];

fn program(scene: &(&str, usize, u64, u64, u32, u64)) {
    let &(_, threads, run, reads, contexts, words) = scene;
    LIMIT.store(chunks_for(threads) as u32, Relaxed);
    let agent = Agent::start(0);
    let mut threads: Vec<Thread> = (0..threads).map(|_| agent.thread()).collect();
    let mut seed = 1u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    for thread in &mut threads {
        thread.begin();
        for number in 0..contexts {
            thread.context(number / 3, 0x1000 + u64::from(number) * 16);
        }
    }
    let mut at = 0;
    for _ in 0..RECORDS / run {
        let who = random(threads.len() as u64) as usize;
        for _ in 0..run {
            at = if random(4) == 0 { random(words) } else { (at + 1) % words };
            let context = 1 + (at as u32 / 8) % contexts;
            let address = 0x7f00_0000_0000 + at * 8;
            if random(100) < reads {
                threads[who].read(address, 0xff, context);
            } else {
                threads[who].sync(Kind::ConflictWrite, 0xff, address, context);
            }
        }
    }
    agent.end(process::EXITED);
}

/// CPU time of this process.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn main() {
    if let Ok(name) = std::env::var(SCENE) {
        if let Some(scene) = SCENES.iter().find(|scene| scene.0 == name) {
            program(scene);
        }
        return;
    }
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    if let Some(program) = words.next() {
        let times = words.next().and_then(|number| number.parse().ok()).unwrap_or(1);
        return measure(&program, times, || Command::new(&program));
    }
    for scene in SCENES {
        measure(scene.0, 3, || {
            let mut command = Command::new(std::env::current_exe().expect("this benchmark"));
            command.env(SCENE, scene.0);
            command
        });
    }
}

/// Records a program some times, and prints what the best of them took.
fn measure(name: &str, times: usize, command: impl Fn() -> Command) {
    let mut best = Duration::MAX;
    let (mut events, mut bytes) = (0, 0);
    for _ in 0..times {
        // As `record` does: what only `run` reads is not compressed.
        let folder = tempfile::tempdir().expect("a folder");
        let output = Output::Path(folder.path().join("bench.ftrace"));
        let naming: observe::MakeNaming = Box::new(|| Box::new(Offsets::default()));
        let options = Options { naming, output, ..Options::default() };
        let recording = Recording::start(options).expect("a session");
        let before = cpu();
        let recorded = recording.run(&mut command(), &AtomicUsize::new(0)).expect("it runs");
        best = best.min(cpu() - before);
        let process = &recorded.processes[0];
        assert!(process.losses.is_empty(), "{:?}", process.losses);
        events = process.events;
        if let observe::StoredTrace::Path(path) = &process.trace {
            bytes = path.metadata().expect("its size").len();
        }
    }
    let each = best.as_secs_f64() * 1e9 / events as f64;
    println!("{name:36} {each:6.1} ns/event  {:5.2} bytes/event  {events} events", bytes as f64 / events as f64);
}

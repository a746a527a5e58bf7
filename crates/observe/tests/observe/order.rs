//! The order of records: many threads, gaps, processes that die, chunks that are waited for.

use crate::agent::{Agent, LIMIT, Thread};
use crate::support::{CLOCKS, lines, options, record, record_by, trace_of};
use event::{Op, Space};
use observe::{Ended, Error, Options, Recording};
use runtime::layout::process;
use runtime::record::{Kind, TextFor, head, timed};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

fn random(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 33) % below
}

/// Ends as a process that is killed does: nothing is announced.
fn die() -> ! {
    let me = rustix::process::getpid();
    let _ = rustix::process::kill_process(me, rustix::process::Signal::KILL);
    loop {
        std::thread::park();
    }
}

pub(crate) fn killed() {
    let agent = Agent::start(0);
    let mut main = agent.thread();
    main.begin();
    for k in 0..10_000 {
        main.sync(Kind::ConflictWrite, 0xff, 0x1000 + k % 7 * 8, 0);
    }
    // In the middle of a record: all but its head.
    main.reserve(3);
    let time = main.begin_record();
    let at = main.next_record();
    agent.word(at + 8).store(timed(time, 0), Relaxed);
    die();
}

#[test]
fn a_killed_process_keeps_what_it_wrote() {
    let mut recorded = record("killed");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&recorded.exit), Some(9));
    let process = &mut recorded.processes[0];
    assert_eq!((process.ended, process.events, process.lost), (Ended::Killed, 10_000, 1));
    let (trace, losses) = trace_of(&mut process.trace);
    assert_eq!(trace.batch.events.len(), 10_000);
    assert!(losses[0].contains("killed") && losses[1] == "1 records were never written", "{losses:?}");
}

/// A thread takes a time, and is slow to write its record.
pub(crate) fn slow() {
    let agent = Agent::start(0);
    let mut main = agent.thread();
    let mut slow = agent.thread();
    main.begin();
    slow.begin();
    main.acquire(8, 0);
    slow.reserve(2);
    let time = slow.begin_record();
    for _ in 0..30 {
        std::thread::sleep(Duration::from_millis(10));
        main.sync(Kind::ConflictWrite, 0xff, 0x1000, 0);
    }
    slow.put(&[head(Kind::Acquire, 1, 16), timed(time, 0)]);
    slow.end_record();
    agent.end(process::EXITED);
}

#[test]
fn a_record_on_its_way_is_waited_for() {
    for clock in CLOCKS {
        let mut recorded = record_by("slow", clock);
        let (trace, losses) = trace_of(&mut recorded.processes[0].trace);
        assert_eq!(losses, Vec::<String>::new());
        let lines = lines(&trace);
        assert_eq!((lines[0].as_str(), lines[1].as_str(), lines.len()), ("main|acq(mem@8)|", "T1|acq(mem@10)|", 32));
    }
}

/// Records of the thread that is not stopped.
const GOING_ON: u64 = 100_000;

/// A thread takes a time and stops. Others go on for longer than their records can be kept.
pub(crate) fn stopped() {
    LIMIT.store(64, Relaxed);
    let agent = Agent::start(0);
    let mut main = agent.thread();
    let mut stopped = agent.thread();
    main.begin();
    stopped.begin();
    stopped.reserve(2);
    let time = stopped.begin_record();
    let name = "x".repeat(1_000);
    for k in 0..GOING_ON {
        main.text(TextFor::ThreadName, &name, None);
        main.sync(Kind::ConflictWrite, 0xff, 0x1000 + k % 64 * 8, 0);
    }
    stopped.put(&[head(Kind::Acquire, 1, 64), timed(time, 0)]);
    stopped.end_record();
    // From here on it is waited for again.
    stopped.release(64, 0);
    main.acquire(64, 0);
    agent.end(process::EXITED);
}

#[test]
fn a_thread_that_stops_while_it_writes_stops_nobody_for_ever() {
    for clock in CLOCKS {
        let mut recorded = record_by("stopped", clock);
        let (trace, losses) = trace_of(&mut recorded.processes[0].trace);
        let events = &trace.batch.events;
        let writes = events.iter().filter(|event| event.op() == Op::Write).count() as u64;
        assert_eq!((writes, events.len() as u64), (GOING_ON, GOING_ON + 3));
        let last: Vec<Op> = events[events.len() - 2..].iter().map(|event| event.op()).collect();
        assert_eq!(last, [Op::Release, Op::Acquire]);
        assert_eq!(losses, ["1 records came too late for their place in the order"]);
    }
}

/// Several threads take turns at a few cells, each under its lock, as fast as they can.
fn work(threads: usize, rounds: u64) {
    let agent = Agent::start(0);
    let cells: Vec<std::sync::Mutex<u64>> = (0..4).map(|_| std::sync::Mutex::new(0)).collect();
    std::thread::scope(|scope| {
        for k in 0..threads {
            let mut thread: Thread = agent.thread();
            let cells = &cells;
            scope.spawn(move || {
                let mut seed = k as u64;
                thread.begin();
                for _ in 0..rounds {
                    let which = random(&mut seed, 4);
                    let mut cell = cells[which as usize].lock().expect("not poisoned");
                    *cell += 1;
                    // The count is the value: it must be read back in order.
                    thread.atomic(Kind::AtomicRmw, 0, 3, 0x7000 + 8 * which, *cell);
                    let value = *cell;
                    drop(cell);
                    if random(&mut seed, 3) == 0 {
                        thread.read(0x100 + value % 16 * 8, 0xff, 0);
                    }
                }
                thread.sync(Kind::ThreadEnd, 0, 0, 0);
            });
        }
    });
    agent.end(process::EXITED);
}

pub(crate) fn busy() {
    work(6, 60_000);
}

pub(crate) fn waiting() {
    LIMIT.store(8, Relaxed);
    work(6, 60_000);
}

fn counts_in_order(scene: &str, clock: &str) {
    let mut recorded = record_by(scene, clock);
    let (trace, losses) = trace_of(&mut recorded.processes[0].trace);
    assert_eq!(losses, Vec::<String>::new());
    let mut counts = [0; 4];
    for &event in &trace.batch.events {
        if event.op() == Op::AtomicRmw {
            let name = trace.names.var(event.var());
            let which = usize::from_str_radix(&name["mem@70".len()..], 16).expect("an address") / 8;
            counts[which] += 1;
            assert_eq!(trace.batch.extra(event).value, event::Value::Int(counts[which]), "of {name}");
        }
    }
    assert_eq!(counts.iter().sum::<i64>(), 360_000);
}

#[test]
fn busy_threads_are_put_in_order() {
    for clock in CLOCKS {
        counts_in_order("busy", clock);
    }
}

#[test]
fn threads_wait_for_chunks_and_lose_nothing() {
    for clock in CLOCKS {
        counts_in_order("waiting", clock);
    }
}

pub(crate) fn many() {
    let agent = Agent::start(0);
    let mut main = agent.thread();
    main.begin();
    let mut threads: Vec<Thread> = (0..2_000).map(|_| agent.thread()).collect();
    for thread in &threads {
        main.fork(thread.slot, 0);
    }
    for round in 0..20 {
        for thread in &mut threads {
            if round == 0 {
                thread.begin();
            }
            thread.acquire(8, 0);
            thread.release(8, 0);
        }
    }
    agent.end(process::EXITED);
}

#[test]
fn two_thousand_threads() {
    let mut recorded = record("many");
    let (trace, losses) = trace_of(&mut recorded.processes[0].trace);
    assert_eq!(losses, Vec::<String>::new());
    assert_eq!(trace.names.space(Space::Thread).len(), 2_001);
    assert_eq!(trace.batch.events.len(), 2_000 + 2 * 20 * 2_000);
    // Round after round: the thread that acquired is the one that releases.
    let locked: Vec<_> = trace.batch.events.iter().filter(|event| event.op() != Op::Fork).collect();
    assert!(locked.chunks(2).all(|pair| pair[0].thread() == pair[1].thread()));
}

/// Records of many slots, all written by one thread: the order in which they were written is the true one.
pub(crate) fn random_order() {
    let agent = Agent::start(0);
    let mut seed = 42;
    let mut threads: Vec<Thread> = (0..9).map(|_| agent.thread()).collect();
    for thread in &mut threads {
        thread.begin();
    }
    let mut number = 0;
    while number < 50_000 {
        let who = random(&mut seed, 9) as usize;
        for _ in 0..=random(&mut seed, 4) {
            // Each writes a word of its own: its address says its position.
            threads[who].sync(Kind::ConflictWrite, 0xff, (0x10000 + number) * 8, 0);
            number += 1;
        }
        if random(&mut seed, 3) == 0 {
            threads[who].read((0x10000 + number) * 8, 0xff, 0);
            number += 1;
        }
        if random(&mut seed, 1_000) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    agent.end(process::EXITED);
}

#[test]
fn slots_are_merged_in_the_order_of_their_times() {
    for clock in CLOCKS {
        let mut recorded = record_by("random_order", clock);
        let (trace, losses) = trace_of(&mut recorded.processes[0].trace);
        assert_eq!(losses, Vec::<String>::new());
        let lines = lines(&trace);
        for (number, line) in lines.iter().enumerate() {
            let address = (0x10000 + number as u64) * 8;
            assert!(line.contains(&format!("(mem@{address:x})")), "event {number}: {line}");
        }
        assert!(lines.len() >= 50_000);
    }
}

#[test]
fn a_place_that_takes_no_trace_is_refused_before_the_program_starts() {
    let options = Options { output: observe::Output::Path("/proc/self/foretrace.ftrace".into()), ..options() };
    let refused = Recording::start(options).err().expect("no file can be made there");
    assert!(matches!(refused, Error::Output(_)), "{refused}");
}

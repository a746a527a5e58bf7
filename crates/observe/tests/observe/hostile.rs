//! A process that writes anything at all into what it shares with the observer.

use crate::agent::{Agent, session};
use crate::support::{lines, record, trace_of};
use runtime::layout::{CHUNK_WORDS, chunk, offset, process};
use runtime::record::{Kind, head};
use std::sync::atomic::Ordering::{Relaxed, Release};

fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *seed ^ *seed >> 29
}

const IMAGES: u32 = 60;

/// Words at random, most of them with heads that exist.
pub(crate) fn words() {
    for image in 0..IMAGES {
        let mut seed = u64::from(image) + 1;
        let agent = Agent::start(image);
        agent.process().slots.store(8, Relaxed);
        agent.process().counter.0.store(random(&mut seed) % 10_000, Relaxed);
        for index in 0..12 {
            let words = offset::words(index);
            let mut at = 0;
            while at < CHUNK_WORDS {
                let kind = Kind::ALL[random(&mut seed) as usize % Kind::ALL.len()];
                let payload = match random(&mut seed) % 4 {
                    0 => random(&mut seed) >> 16,
                    1 => random(&mut seed) % 1_100,
                    _ => random(&mut seed) % 100_000,
                };
                let wild = random(&mut seed).is_multiple_of(1_500);
                let first = if wild { random(&mut seed) } else { head(kind, random(&mut seed) as u8, payload) };
                agent.word(words + at * 8).store(first, Relaxed);
                for k in 1..kind.words() {
                    if at + k < CHUNK_WORDS {
                        let word = match random(&mut seed) % 3 {
                            0 => random(&mut seed),
                            1 => random(&mut seed) % 20,
                            _ => ((random(&mut seed) % 3_000) << 24) | (random(&mut seed) % 4),
                        };
                        agent.word(words + (at + k) * 8).store(word, Relaxed);
                    }
                }
                at += kind.words();
            }
            let head = agent.chunk(index);
            head.slot.store(index as u32 % 5, Relaxed);
            head.sequence.store(index as u64 / 5, Relaxed);
            head.state.store(if random(&mut seed).is_multiple_of(4) { chunk::ACTIVE } else { chunk::FULL }, Release);
        }
        agent.process().chunks.store(12, Release);
        agent.end(if image % 3 == 0 { process::RUNNING } else { process::EXITED });
    }
}

#[test]
fn words_at_random_are_survived_and_reported() {
    let mut recorded = record("hostile_words");
    assert_eq!(recorded.exit.code(), Some(7));
    assert_eq!(recorded.processes.len(), IMAGES as usize);
    let mut events = 0;
    for process in &mut recorded.processes {
        let (trace, losses) = trace_of(&mut process.trace);
        assert!(!losses.is_empty());
        events += trace.batch.events.len();
    }
    assert!(events > 1_000, "{events}");
}

/// Heads at random around good records.
pub(crate) fn heads() {
    for image in 0..IMAGES {
        let mut seed = u64::from(image) + 99;
        let agent = Agent::start(image);
        let mut main = agent.thread();
        main.begin();
        for k in 0..5_000 {
            main.sync(Kind::ConflictWrite, 0xff, 0x1000 + k % 7 * 8, 0);
        }
        main.full();
        for _ in 0..200 {
            let at = match random(&mut seed) % 3 {
                // Not magic, version and pid: such a file is refused.
                0 => 24 + random(&mut seed) as usize % 600,
                1 => offset::SLOTS_AT + random(&mut seed) as usize % 4_096,
                _ => offset::CHUNKS_AT + random(&mut seed) as usize % 2_048,
            };
            agent.half(at & !3).store(random(&mut seed) as u32 >> (random(&mut seed) % 32), Relaxed);
        }
    }
}

#[test]
fn heads_at_random_are_survived() {
    let mut recorded = record("hostile_heads");
    assert_eq!(recorded.exit.code(), Some(7));
    for process in &mut recorded.processes {
        let (trace, _) = trace_of(&mut process.trace);
        assert!(trace.batch.events.len() <= 100_000);
    }
}

/// Files that are none.
pub(crate) fn files() {
    let name = |image: u32| session().join(format!("p-{}-{image}", std::process::id()));
    std::fs::write(name(0), "short").expect("written");
    let wrong = Agent::create(&name(1));
    wrong.head(std::process::id());
    wrong.word(0).store(1, Relaxed);
    wrong.ready();
    let version = Agent::create(&name(2));
    version.head(std::process::id());
    version.half(std::mem::offset_of!(process_layout::Process, version)).store(99, Relaxed);
    version.ready();
    std::os::unix::fs::symlink("/etc/passwd", name(3)).expect("a link");
    let other = Agent::create(&name(4));
    other.head(1);
    other.ready();
    let cut = Agent::start(5);
    let mut main = cut.thread();
    main.begin();
    main.acquire(8, 0);
    std::thread::sleep(std::time::Duration::from_millis(60));
    let file = std::fs::File::options().write(true).open(name(5)).expect("it is there");
    file.set_len(4_096).expect("cut");
    std::thread::sleep(std::time::Duration::from_millis(60));
    std::fs::create_dir(name(6)).expect("a folder");
}

use runtime::layout as process_layout;

#[test]
fn files_that_are_none_are_reported() {
    let mut recorded = record("hostile_files");
    assert_eq!(recorded.exit.code(), Some(7));
    assert_eq!(recorded.processes.len(), 1, "{recorded:?}");
    let (trace, losses) = trace_of(&mut recorded.processes[0].trace);
    assert_eq!(lines(&trace), ["main|acq(mem@8)|"]);
    assert!(losses.iter().any(|loss| loss.contains("cut short")), "{losses:?}");
    assert!(recorded.problems.len() >= 4, "{:?}", recorded.problems);
    assert!(recorded.problems.iter().any(|problem| problem.contains("another version")));
}

/// One thread goes mad; the others must not wait for it.
pub(crate) fn damaged() {
    let agent = Agent::start(0);
    let mut good = agent.thread();
    let mut bad = agent.thread();
    good.begin();
    bad.begin();
    bad.acquire(16, 0);
    bad.put(&[0xfe, 1, 2]);
    for _ in 0..100_000 {
        bad.sync(Kind::ConflictWrite, 0xff, 16, 0);
        good.sync(Kind::ConflictWrite, 0xff, 8, 0);
    }
    agent.end(process::EXITED);
}

#[test]
fn a_damaged_thread_is_reported_and_left_out() {
    let mut recorded = record("damaged");
    let (trace, losses) = trace_of(&mut recorded.processes[0].trace);
    assert_eq!(trace.batch.events.len(), 100_001);
    assert!(losses.iter().any(|loss| loss.starts_with("1 threads wrote something that is no record")), "{losses:?}");
    assert_eq!(losses.len(), 1, "{losses:?}");
}

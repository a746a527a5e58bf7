//! Threads that copy through the same buffers, under a lock and without: whole blocks under load.

use crate::biased_memory::{BASE, BiasedMemory, REGION, Walker};
use crate::decode::{Stands, decode};
use crate::memory::{Owned, Records};
use detect::hb::Hb;
use event::VarId;
use oracle::random::Random;
use runtime::filter::{Limits, Shape};
use runtime::record::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};
use trace::Trace;
use trace::text::TextReader;
use trace::validate::Validator;

const THREADS: usize = 3;
/// Where the buffers under the lock and those without begin, behind each thread's own; a region each.
const LOCKED: usize = BASE + THREADS * REGION;
const RACY: usize = LOCKED + REGION;
const REGIONS: usize = THREADS + 2;

/// So few that threads forget what they have read.
const FEW_NODES: u32 = 100;

/// By word and thread: whether others have done something since this thread's conflicting write, and have written since
/// its conflict.
#[derive(Default)]
struct News(BTreeMap<u64, [[bool; 2]; THREADS]>);

impl News {
    /// A thread accesses a word. Returns whether it had a reason for a conflict, if it has one: conflicts out of order
    /// have none.
    fn takes(&mut self, word: u64, by: usize, write: bool, conflicts: bool) -> bool {
        let threads = self.0.entry(word).or_default();
        let is_new = !conflicts || threads[by][usize::from(!write)];
        for (t, [done, written]) in threads.iter_mut().enumerate() {
            if t != by {
                *done = true;
                *written |= write;
            } else if conflicts {
                *written = false;
                *done &= !write;
            }
        }
        is_new
    }
}

/// By word: how often it was read, and written.
type Counts = BTreeMap<usize, [u64; 2]>;

/// Part of a region, which mostly begins with a block; or all of it.
fn part(region: usize, r: &mut Random) -> (usize, usize) {
    if r.percent(20) {
        return (region, REGION);
    }
    let begin = if r.percent(50) { r.below(REGION / 64) * 64 } else { r.below(REGION / 8) * 8 };
    let size = 8 * (1 + r.below(3 * 8));
    (region + begin, size.min(REGION - begin))
}

fn access(walker: &mut Walker<'_>, counts: &mut Counts, (addr, size): (usize, usize), write: bool, r: &mut Random) {
    for word in (addr..addr + size).step_by(8) {
        counts.entry(word).or_default()[usize::from(write)] += 1;
    }
    let pc = 1 + r.below(3);
    if r.percent(90) {
        walker.range(addr, size, write, pc);
    } else {
        for word in (addr..addr + size).step_by(8) {
            walker.access(word, 3, write, pc);
        }
    }
}

fn work(walker: &mut Walker<'_>, t: usize, lock: &Mutex<()>, r: &mut Random, steps: usize) -> Counts {
    let mut counts = Counts::new();
    for _ in 0..steps {
        // From one's own to another's, or back.
        let (own, write) = (part(BASE + t * REGION, r), r.percent(50));
        if r.percent(70) {
            let guard = lock.lock().expect("no panics");
            walker.sync(Kind::Acquire, 0, None);
            for _ in 0..1 + r.below(2) {
                access(walker, &mut counts, own, !write, r);
                access(walker, &mut counts, part(LOCKED, r), write, r);
            }
            walker.sync(Kind::Release, 0, None);
            drop(guard);
        } else {
            access(walker, &mut counts, own, !write, r);
            access(walker, &mut counts, part(RACY, r), write, r);
        }
    }
    counts
}

/// The trace as text; what was left out before a drop barrier does not matter here.
fn text(all: &[Stands]) -> String {
    let mut text = String::new();
    let mut line = |slot: usize, op: &str, object: u64| writeln!(text, "T{slot}|{op}({object})|1").expect("a string");
    for stands in all {
        match stands {
            Stands::Deferred(deferred) if deferred.is_barrier => {}
            Stands::Deferred(deferred) => line(deferred.slot, if deferred.write { "w" } else { "r" }, deferred.word),
            Stands::OnTime(record) => match record.kind {
                Kind::ConflictRead => line(record.slot, "r", record.payload),
                Kind::ConflictWrite => line(record.slot, "w", record.payload),
                Kind::Acquire => line(record.slot, "acq", record.payload),
                Kind::Release => line(record.slot, "rel", record.payload),
                _ => {}
            },
        }
    }
    text
}

#[test]
fn buffers_go_from_thread_to_thread() {
    let begun = Instant::now();
    let (mut seed, mut in_blocks, mut side_by_side, mut with_races) = (0, 0, 0, 0);
    while begun.elapsed() < Duration::from_secs(3) {
        let per_context = if seed % 3 == 2 { 20 } else { Limits::default().per_context };
        let nodes = if seed % 5 == 4 { FEW_NODES } else { 10_000 };
        let filter = Owned::new(Shape { slots: THREADS as u32, nodes }, Limits { per_context, ..Limits::default() });
        let (memory, clock, lock) = (BiasedMemory::new(REGIONS, THREADS, true), AtomicU64::new(0), Mutex::new(()));
        let steps = 30 + seed as usize % 7 * 30;
        let all: Vec<(Vec<u64>, Counts, [u64; 2])> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|t| {
                    let (memory, filter, clock, lock) = (&memory, &filter, &clock, &lock);
                    scope.spawn(move || {
                        let mut r = Random::new(8 << 32 | seed << 8 | t as u64);
                        let mut walker = Walker::begin(
                            memory,
                            filter,
                            t,
                            Records { gives_way: seed % 2 == 0, ..Records::new(clock) },
                        );
                        let counts = work(&mut walker, t, lock, &mut r, steps);
                        let in_blocks = [walker.in_blocks, walker.side_by_side];
                        (walker.finish(), counts, in_blocks)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panics")).collect()
        });
        let words: Vec<&[u64]> = all.iter().map(|thread| &thread.0[..]).collect();
        let stands = decode(&words);
        let (mut seen, mut dropped, mut news) = (vec![Counts::new(); THREADS], BTreeSet::new(), News::default());
        for stands in &stands {
            let (slot, word, write, conflicts) = match stands {
                Stands::Deferred(deferred) if deferred.is_barrier => {
                    dropped.insert((deferred.slot, deferred.word as usize));
                    continue;
                }
                Stands::Deferred(deferred) => (deferred.slot, deferred.word, deferred.write, false),
                Stands::OnTime(record) => match record.kind {
                    Kind::ConflictRead => (record.slot, record.payload, false, true),
                    Kind::ConflictWrite => (record.slot, record.payload, true, true),
                    _ => continue,
                },
            };
            let is_new = news.takes(word, slot, write, conflicts);
            assert!(is_new || nodes == FEW_NODES, "seed {seed}: thread {slot} arrives at {word} for no reason");
            seen[slot].entry(word as usize).or_default()[usize::from(write)] += 1;
        }
        // A thread that has written what others access, or read what others write, is in the trace, and no more often
        // than it was there.
        for (t, (_, counts, blocks)) in all.iter().enumerate() {
            in_blocks += blocks[0];
            side_by_side += blocks[1];
            for (&word, &[reads, writes]) in counts {
                let others = (0..THREADS).filter(|&u| u != t).filter_map(|u| all[u].1.get(&word));
                let is_met = others.into_iter().any(|&[reads, others]| others > 0 || writes > 0 && reads > 0);
                let [seen_reads, seen_writes] = seen[t].get(&word).copied().unwrap_or_default();
                let is_there = seen_reads + seen_writes > 0 || dropped.contains(&(t, word));
                assert!(is_there || !is_met, "seed {seed} thread {t} word {word}");
                assert!(!is_there || word >= LOCKED, "seed {seed} thread {t} word {word} is its own");
                assert!(seen_reads <= reads && seen_writes <= writes, "seed {seed} thread {t} word {word}");
            }
        }
        let trace = Trace::read(&mut TextReader::new(text(&stands).as_bytes())).expect("a trace");
        let problems = Validator::new().check(&trace.names, &trace.batch).to_vec();
        assert!(problems.is_empty(), "{problems:?} seed {seed}");
        let mut hb = Hb::new();
        hb.batch(&trace.names, &trace.batch);
        for race in &hb.finish().races {
            let word: usize = trace.names.var(VarId(race.variable.0)).parse().expect("a word");
            assert!(word >= RACY, "seed {seed}: a race of {word}");
            with_races += 1;
        }
        seed += 1;
    }
    println!(
        "{seed} runs, {in_blocks} accesses in blocks, {side_by_side} blocks with the one before, \
         {with_races} racy words"
    );
    assert!(in_blocks > 1000 * seed && side_by_side > 10 * seed && with_races > seed);
}

//! Threads that copy through the same buffers, under a lock and without: whole blocks under load.

use crate::decode::{Stands, decode};
use crate::land::{BASE, Land, UNIT, Walker};
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
/// Where the buffers of each thread's own, those under the lock and those without are, a unit each.
const LOCKED: usize = BASE + THREADS * UNIT;
const RACY: usize = LOCKED + UNIT;
const UNITS: usize = THREADS + 2;

/// So few that threads forget what they have read.
const FEW_NODES: u32 = 100;

/// By granule and thread: whether others have done something since this thread wrote when it arrived, and have written since it arrived.
#[derive(Default)]
struct News(BTreeMap<u64, [[bool; 2]; THREADS]>);

impl News {
    /// A thread accesses a granule. Whether it had a reason to arrive there, if it does: arrivals that are not in the order in which they
    /// were have none.
    fn takes(&mut self, granule: u64, by: usize, write: bool, arrives: bool) -> bool {
        let threads = self.0.entry(granule).or_default();
        let is_new = !arrives || threads[by][usize::from(!write)];
        for (t, [done, written]) in threads.iter_mut().enumerate() {
            if t != by {
                *done = true;
                *written |= write;
            } else if arrives {
                *written = false;
                *done &= !write;
            }
        }
        is_new
    }
}

/// By granule: how often it was read, and written.
type Counts = BTreeMap<usize, [u64; 2]>;

/// Part of a unit, which mostly begins with a block; or all of it.
fn part(unit: usize, r: &mut Random) -> (usize, usize) {
    if r.percent(20) {
        return (unit, UNIT);
    }
    let begin = if r.percent(50) { r.below(UNIT / 64) * 64 } else { r.below(UNIT / 8) * 8 };
    let size = 8 * (1 + r.below(3 * 8));
    (unit + begin, size.min(UNIT - begin))
}

fn access(walker: &mut Walker<'_>, counts: &mut Counts, (addr, size): (usize, usize), write: bool, r: &mut Random) {
    for granule in (addr..addr + size).step_by(8) {
        counts.entry(granule).or_default()[usize::from(write)] += 1;
    }
    let pc = 1 + r.below(3);
    if r.percent(90) {
        walker.range(addr, size, write, pc);
    } else {
        for granule in (addr..addr + size).step_by(8) {
            walker.access(granule, 3, write, pc);
        }
    }
}

fn work(walker: &mut Walker<'_>, t: usize, lock: &Mutex<()>, r: &mut Random, steps: usize) -> Counts {
    let mut counts = Counts::new();
    for _ in 0..steps {
        // From one's own to another's, or back.
        let (own, write) = (part(BASE + t * UNIT, r), r.percent(50));
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

/// The trace as text; what was left out in front of a pin is of no concern here.
fn text(all: &[Stands]) -> String {
    let mut text = String::new();
    let mut line = |slot: usize, op: &str, object: u64| writeln!(text, "T{slot}|{op}({object})|1").expect("a string");
    for stands in all {
        match stands {
            Stands::Late(late) if late.pin => {}
            Stands::Late(late) => line(late.slot, if late.write { "w" } else { "r" }, late.granule),
            Stands::OnTime(record) => match record.kind {
                Kind::ArriveRead => line(record.slot, "r", record.payload),
                Kind::ArriveWrite => line(record.slot, "w", record.payload),
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
        let each_place = if seed % 3 == 2 { 20 } else { Limits::default().each_place };
        let nodes = if seed % 5 == 4 { FEW_NODES } else { 10_000 };
        let filter = Owned::new(Shape { slots: THREADS as u32, nodes }, Limits { each_place, ..Limits::default() });
        let (land, clock, lock) = (Land::new(UNITS, THREADS, true), AtomicU64::new(0), Mutex::new(()));
        let steps = 30 + seed as usize % 7 * 30;
        let all: Vec<(Vec<u64>, Counts, [u64; 2])> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|t| {
                    let (land, filter, clock, lock) = (&land, &filter, &clock, &lock);
                    scope.spawn(move || {
                        let mut r = Random::new(8 << 32 | seed << 8 | t as u64);
                        let mut walker =
                            Walker::begin(land, filter, t, Records { gives_way: seed % 2 == 0, ..Records::new(clock) });
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
        let (mut seen, mut pinned, mut news) = (vec![Counts::new(); THREADS], BTreeSet::new(), News::default());
        for stands in &stands {
            let (slot, granule, write, arrives) = match stands {
                Stands::Late(late) if late.pin => {
                    pinned.insert((late.slot, late.granule as usize));
                    continue;
                }
                Stands::Late(late) => (late.slot, late.granule, late.write, false),
                Stands::OnTime(record) => match record.kind {
                    Kind::ArriveRead => (record.slot, record.payload, false, true),
                    Kind::ArriveWrite => (record.slot, record.payload, true, true),
                    _ => continue,
                },
            };
            let is_new = news.takes(granule, slot, write, arrives);
            assert!(is_new || nodes == FEW_NODES, "seed {seed}: thread {slot} arrives at {granule} for no reason");
            seen[slot].entry(granule as usize).or_default()[usize::from(write)] += 1;
        }
        // Whoever has written what others access, or read what others write, is in the trace, and nobody was there more often than he was.
        for (t, (_, counts, blocks)) in all.iter().enumerate() {
            in_blocks += blocks[0];
            side_by_side += blocks[1];
            for (&granule, &[reads, writes]) in counts {
                let others = (0..THREADS).filter(|&u| u != t).filter_map(|u| all[u].1.get(&granule));
                let is_met = others.into_iter().any(|&[reads, others]| others > 0 || writes > 0 && reads > 0);
                let [seen_reads, seen_writes] = seen[t].get(&granule).copied().unwrap_or_default();
                let is_there = seen_reads + seen_writes > 0 || pinned.contains(&(t, granule));
                assert!(is_there || !is_met, "seed {seed} thread {t} granule {granule}");
                assert!(!is_there || granule >= LOCKED, "seed {seed} thread {t} granule {granule} is its own");
                assert!(seen_reads <= reads && seen_writes <= writes, "seed {seed} thread {t} granule {granule}");
            }
        }
        let trace = Trace::read(&mut TextReader::new(text(&stands).as_bytes())).expect("a trace");
        let problems = Validator::new().check(&trace.names, &trace.batch).to_vec();
        assert!(problems.is_empty(), "{problems:?} seed {seed}");
        let mut hb = Hb::new();
        hb.batch(&trace.names, &trace.batch);
        for race in &hb.finish().races {
            let granule: usize = trace.names.var(VarId(race.variable.0)).parse().expect("a granule");
            assert!(granule >= RACY, "seed {seed}: a race of {granule}");
            with_races += 1;
        }
        seed += 1;
    }
    println!(
        "{seed} runs, {in_blocks} accesses in blocks, {side_by_side} blocks with the one before, {with_races} racy granules"
    );
    assert!(in_blocks > 1000 * seed && side_by_side > 10 * seed && with_races > seed);
}

//! Sweeps while others take the memory away: whatever is written of them was so, and the newest read of each granule is not lost.

use crate::land::{BASE, Land, UNIT, Walker};
use crate::memory::{Owned, Records};
use oracle::random::Random;
use runtime::filter::{Limits, ROW_BYTES, Shape};
use runtime::record::{Kind, PLACE_BITS};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Barrier;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

const THREADS: usize = 2;
/// Units that each thread has at first.
const UNITS: usize = 2;
const OWN: usize = UNITS * UNIT;

/// By position and rank, the granule that was accessed then; and when each granule was read last.
#[derive(Default)]
struct Log {
    granules: BTreeMap<(u64, u32), usize>,
    newest: BTreeMap<usize, (u64, u32)>,
}

/// The granule of each row that others touch, too.
fn is_others(granule: usize) -> bool {
    granule % ROW_BYTES == ROW_BYTES - 8
}

fn read(walker: &mut Walker<'_>, log: &mut Log, granule: usize, pc: usize) {
    let before = walker.now().1;
    walker.access(granule, 3, false, pc);
    let (position, rank) = walker.now();
    if rank != before {
        // Two, if the memory was taken after the sweep had come there, and who took it may know or not.
        log.granules.extend((before + 1..=rank).map(|rank| ((position, rank), granule)));
        log.newest.insert(granule, (position, rank));
    }
}

fn work(walker: &mut Walker<'_>, t: usize, r: &mut Random, passes: usize) -> Log {
    let mut log = Log::default();
    for _ in 0..passes {
        for unit in 0..UNITS {
            let begin = BASE + t * OWN + unit * UNIT;
            // Some stop somewhere.
            let bytes = if r.percent(50) { r.below(UNIT / 8) * 8 } else { UNIT };
            for granule in (begin..begin + bytes).step_by(8) {
                read(walker, &mut log, granule, 1);
            }
            walker.sync(Kind::Fence, 0, None);
        }
        if r.percent(4) {
            read(walker, &mut log, others(r), 2);
        }
    }
    log
}

/// One of them.
fn others(r: &mut Random) -> usize {
    BASE + (r.below(THREADS * OWN / ROW_BYTES) + 1) * ROW_BYTES - 8
}

/// Takes memory away, now and then.
fn take(walker: &mut Walker<'_>, r: &mut Random) -> Log {
    let mut log = Log::default();
    for _ in 0..r.below(4) {
        for _ in 0..r.below(10_000) {
            std::hint::spin_loop();
        }
        read(walker, &mut log, others(r), 2);
    }
    log
}

/// The accesses that were written late: slot, position, rank, granule.
fn late(words: &[u64]) -> Vec<(usize, u64, u32, usize)> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at < words.len() {
        let kind = Kind::from_code(words[at] as u8).expect("a kind");
        if kind == Kind::Late {
            let third = words[at + 2];
            let granule = (words[at] >> 16) as usize;
            all.push((third as u32 as usize, words[at + 1] >> PLACE_BITS, (third >> 34) as u32, granule));
        }
        at += kind.words();
    }
    all
}

#[test]
fn memory_is_taken_away_from_sweeps() {
    let begun = Instant::now();
    let (mut swept, mut seed, mut found) = (0, 0, 0);
    while begun.elapsed() < Duration::from_secs(3) {
        let limits = Limits { each_place: 0, ..Limits::default() };
        let filter = Owned::new(Shape { slots: THREADS as u32 + 2, nodes: 100 }, limits);
        let land = Land::new(THREADS * UNITS, THREADS + 2, true);
        let clock = AtomicU64::new(0);
        let start = Barrier::new(THREADS + 1);
        let (filter, land, clock, start) = (&filter, &land, &clock, &start);
        let passes = 3 + seed as usize % 4;
        let mut done: Vec<(Vec<u64>, Log, u64)> = std::thread::scope(|scope| {
            let spawn = |t: usize| {
                scope.spawn(move || {
                    let mut walker = Walker::begin(land, filter, t, Records::new(clock));
                    let mut r = Random::new(seed << 8 | t as u64);
                    start.wait();
                    let log =
                        if t < THREADS { work(&mut walker, t, &mut r, passes) } else { take(&mut walker, &mut r) };
                    let swept = walker.swept;
                    // Some end, others are still there when their memory is taken.
                    let ends = (seed + t as u64).is_multiple_of(2);
                    (if ends { walker.finish() } else { walker.sink.words }, log, swept)
                })
            };
            let handles: Vec<_> = (0..=THREADS).map(spawn).collect();
            handles.into_iter().map(|handle| handle.join().expect("no panics")).collect()
        });
        let mut last = Walker::begin(land, filter, THREADS + 1, Records::new(clock));
        for granule in (BASE..BASE + THREADS * OWN).step_by(8) {
            last.access(granule, 3, true, 9);
        }
        done.push((last.finish(), Log::default(), 0));
        let all: BTreeSet<(usize, u64, u32, usize)> = done.iter().flat_map(|done| late(&done.0)).collect();
        for &(slot, position, rank, granule) in &all {
            let known = done[slot].1.granules.get(&(position, rank));
            assert_eq!(known, Some(&granule), "seed {seed}: slot {slot} position {position} rank {rank}");
        }
        for (t, (_, log, count)) in done.iter().enumerate() {
            swept += count;
            for (&granule, &(position, rank)) in log.newest.iter().filter(|(granule, _)| !is_others(**granule)) {
                assert!(all.contains(&(t, position, rank, granule)), "seed {seed}: slot {t} {granule:x} {position}");
                found += 1;
            }
        }
        seed += 1;
    }
    println!("{seed} runs, {swept} reads left their cells, {found} newest reads found");
    assert!(swept > 0 && found > 0);
}

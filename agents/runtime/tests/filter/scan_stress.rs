//! Scans while other threads revoke the memory: all that is recorded happened, and the newest read of each word is not
//! lost.

use crate::biased_memory::{BASE, BiasedMemory, REGION, Walker};
use crate::memory::{Owned, Records};
use oracle::random::Random;
use runtime::filter::{Limits, STRIP_BYTES, Shape};
use runtime::record::{CONTEXT_BITS, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Barrier;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

const THREADS: usize = 2;
/// Regions that each thread owns at first.
const REGIONS: usize = 2;
const OWN: usize = REGIONS * REGION;

/// By sync index and sequence number, the word that was accessed then; and when each word was read last.
#[derive(Default)]
struct Log {
    words: BTreeMap<(u64, u32), usize>,
    newest: BTreeMap<usize, (u64, u32)>,
}

/// The word of each strip that others touch, too.
fn is_others(word: usize) -> bool {
    word % STRIP_BYTES == STRIP_BYTES - 8
}

fn read(walker: &mut Walker<'_>, log: &mut Log, word: usize, pc: usize) {
    let before = walker.now().1;
    walker.access(word, 3, false, pc);
    let (sync_index, seq) = walker.now();
    if seq != before {
        // Two, if the region was revoked after the scan had come there, and the revoker may have seen it or not.
        log.words.extend((before + 1..=seq).map(|seq| ((sync_index, seq), word)));
        log.newest.insert(word, (sync_index, seq));
    }
}

fn work(walker: &mut Walker<'_>, t: usize, r: &mut Random, passes: usize) -> Log {
    let mut log = Log::default();
    for _ in 0..passes {
        for region in 0..REGIONS {
            let begin = BASE + t * OWN + region * REGION;
            // Some stop somewhere.
            let bytes = if r.percent(50) { r.below(REGION / 8) * 8 } else { REGION };
            for word in (begin..begin + bytes).step_by(8) {
                read(walker, &mut log, word, 1);
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
    BASE + (r.below(THREADS * OWN / STRIP_BYTES) + 1) * STRIP_BYTES - 8
}

/// Revokes regions, now and then.
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

/// The deferred accesses: slot, sync index, sequence number, word.
fn deferred(words: &[u64]) -> Vec<(usize, u64, u32, usize)> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at < words.len() {
        let kind = Kind::from_code(words[at] as u8).expect("a kind");
        if kind == Kind::Deferred {
            let third = words[at + 2];
            let word = (words[at] >> 16) as usize;
            all.push((third as u32 as usize, words[at + 1] >> CONTEXT_BITS, (third >> 34) as u32, word));
        }
        at += kind.words();
    }
    all
}

#[test]
fn regions_of_scans_are_revoked() {
    let begun = Instant::now();
    let (mut scanned, mut seed, mut found) = (0, 0, 0);
    while begun.elapsed() < Duration::from_secs(3) {
        let limits = Limits { per_context: 0, ..Limits::default() };
        let filter = Owned::new(Shape { slots: THREADS as u32 + 2, nodes: 100 }, limits);
        let memory = BiasedMemory::new(THREADS * REGIONS, THREADS + 2, true);
        let clock = AtomicU64::new(0);
        let start = Barrier::new(THREADS + 1);
        let (filter, memory, clock, start) = (&filter, &memory, &clock, &start);
        let passes = 3 + seed as usize % 4;
        let mut done: Vec<(Vec<u64>, Log, u64)> = std::thread::scope(|scope| {
            let spawn = |t: usize| {
                scope.spawn(move || {
                    let mut walker = Walker::begin(memory, filter, t, Records::new(clock));
                    let mut r = Random::new(seed << 8 | t as u64);
                    start.wait();
                    let log =
                        if t < THREADS { work(&mut walker, t, &mut r, passes) } else { take(&mut walker, &mut r) };
                    let scanned = walker.scanned;
                    // Some threads end, others still run when their regions are revoked.
                    let ends = (seed + t as u64).is_multiple_of(2);
                    (if ends { walker.finish() } else { walker.sink.words }, log, scanned)
                })
            };
            let handles: Vec<_> = (0..=THREADS).map(spawn).collect();
            handles.into_iter().map(|handle| handle.join().expect("no panics")).collect()
        });
        let mut last = Walker::begin(memory, filter, THREADS + 1, Records::new(clock));
        for word in (BASE..BASE + THREADS * OWN).step_by(8) {
            last.access(word, 3, true, 9);
        }
        done.push((last.finish(), Log::default(), 0));
        let all: BTreeSet<(usize, u64, u32, usize)> = done.iter().flat_map(|done| deferred(&done.0)).collect();
        for &(slot, sync_index, seq, word) in &all {
            let known = done[slot].1.words.get(&(sync_index, seq));
            assert_eq!(known, Some(&word), "seed {seed}: slot {slot} sync index {sync_index} sequence number {seq}");
        }
        for (t, (_, log, count)) in done.iter().enumerate() {
            scanned += count;
            for (&word, &(sync_index, seq)) in log.newest.iter().filter(|(word, _)| !is_others(**word)) {
                assert!(all.contains(&(t, sync_index, seq, word)), "seed {seed}: slot {t} {word:x} {sync_index}");
                found += 1;
            }
        }
        seed += 1;
    }
    println!("{seed} runs, {scanned} reads left their cells, {found} newest reads found");
    assert!(scanned > 0 && found > 0);
}

//! Accesses of ranges, and of whole strips: for each word, the result is that of single accesses.

use crate::biased_memory::{BASE, BiasedMemory, REGION, Walker};
use crate::decode::{Stands, decode};
use crate::memory::{Owned, Records};
use oracle::random::Random;
use oracle::seeds;
use runtime::filter::{BLOCK_BYTES, Limits, Shape};
use runtime::record::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU64;

const THREADS: usize = 3;
const BYTES: usize = REGION;

/// Who accesses what: thread, address, size, whether it writes, the address of the code; or synchronises.
type Does = (usize, Option<(usize, usize, bool, usize)>);

fn program(r: &mut Random) -> Vec<Does> {
    let stay = *r.pick(&[20, 60, 90]);
    let mut t = 0;
    let each = |_| {
        if !r.percent(stay) {
            t = r.below(THREADS);
        }
        if r.percent(30) {
            return (t, None);
        }
        let begin = if r.percent(80) { r.below(BYTES / BLOCK_BYTES) * BLOCK_BYTES } else { r.below(BYTES / 8) * 8 };
        let size = *r.pick(&[16, 64, 128, 256, 512, 1024]);
        (t, Some((BASE + begin, size.min(BYTES - begin), r.percent(50), 1 + r.below(2))))
    };
    (0..40).map(each).collect()
}

/// Who has read a word, and who has written it then. How often depends on what is covered: a conflict in between ends a
/// segment.
#[derive(Clone, PartialEq, Default, Debug)]
struct Version {
    readers: BTreeSet<usize>,
    /// The readers whose reads conflicted.
    conflicting: BTreeSet<usize>,
    /// The writer's slot, and whether its write conflicted.
    writer: Option<(usize, bool)>,
}

/// By word, its versions; and how many blocks were done with the one before them.
type Done = (BTreeMap<u64, Vec<Version>>, u64);

fn run(program: &[Does], limits: Limits, nodes: u32, singly: bool) -> Done {
    let filter = Owned::new(Shape { slots: THREADS as u32 + 1, nodes }, limits);
    let (memory, clock) = (BiasedMemory::new(1, THREADS + 1, false), AtomicU64::new(0));
    let mut walkers: Vec<_> = (0..=THREADS).map(|t| Walker::begin(&memory, &filter, t, Records::new(&clock))).collect();
    for &(t, what) in program {
        match what {
            None => walkers[t].sync(Kind::Fence, 0, None),
            Some((addr, size, write, pc)) if singly => {
                (addr..addr + size).step_by(8).for_each(|word| walkers[t].access(word, 3, write, pc));
            }
            Some((addr, size, write, pc)) => walkers[t].range(addr, size, write, pc),
        }
    }
    // Another thread makes all deferred accesses visible.
    (BASE..BASE + BYTES).step_by(8).for_each(|word| walkers[THREADS].access(word, 3, true, 9));
    let side_by_side = walkers.iter().map(|walker| walker.side_by_side).sum();
    let all: Vec<Vec<u64>> = walkers.into_iter().map(Walker::finish).collect();
    let mut versions: BTreeMap<u64, Vec<Version>> = BTreeMap::new();
    for one in decode(&all.iter().map(|words| &words[..]).collect::<Vec<_>>()) {
        let (word, slot, write, conflicts) = match one {
            Stands::Deferred(deferred) if !deferred.is_barrier => (deferred.word, deferred.slot, deferred.write, false),
            Stands::OnTime(record) if record.kind == Kind::ConflictRead => (record.payload, record.slot, false, true),
            Stands::OnTime(record) if record.kind == Kind::ConflictWrite => (record.payload, record.slot, true, true),
            _ => continue,
        };
        let versions = versions.entry(word).or_insert_with(|| vec![Version::default()]);
        let is_again = versions.len() > 1
            && versions[versions.len() - 2].writer.is_some_and(|writer| writer.0 == slot)
            && versions[versions.len() - 1].readers.iter().all(|&reader| reader == slot);
        let last = versions.last_mut().expect("one");
        if !write {
            last.readers.insert(slot);
            if conflicts {
                last.conflicting.insert(slot);
            }
        } else if !is_again {
            last.writer = Some((slot, conflicts));
            versions.push(Version::default());
        }
    }
    for versions in versions.values_mut() {
        // What a writer reads itself may be covered by what it does before and after.
        let mut before = None;
        for version in versions {
            let own = [before, version.writer].into_iter().flatten().map(|(slot, _)| slot);
            for slot in own {
                version.readers.remove(&slot);
                version.conflicting.remove(&slot);
            }
            before = version.writer;
        }
    }
    (versions, side_by_side)
}

#[test]
fn ranges_leave_what_single_accesses_leave() {
    let mut side_by_side = 0;
    let seeds = seeds(1_500);
    let cases = seeds.end - seeds.start;
    for seed in seeds {
        let mut r = Random::new(9 << 32 | seed);
        let program = program(&mut r);
        let limits =
            Limits { entries: *r.pick(&[1, 2, 8]), per_context: *r.pick(&[0, 20, u8::MAX]), ..Limits::default() };
        let nodes = *r.pick(&[0, 10_000]);
        let [ranges, singly] = [false, true].map(|singly| run(&program, limits, nodes, singly));
        for (word, versions) in &singly.0 {
            assert_eq!(ranges.0.get(word), Some(versions), "seed {seed}, word {word:#x}: {program:#x?}");
        }
        assert_eq!(ranges.0.len(), singly.0.len(), "seed {seed}");
        side_by_side += ranges.1;
    }
    println!("{side_by_side} blocks were done with the one before them");
    assert!(side_by_side > 10 * cases);
}

/// What a thread does once, from the lowest word to the highest, is in this order in the trace, whichever thread
/// conflicts with which part of it.
#[test]
fn ranges_keep_their_order() {
    for seed in seeds(1_500) {
        let mut r = Random::new(10 << 32 | seed);
        let filter = Owned::new(Shape { slots: THREADS as u32, nodes: 10_000 }, Limits::default());
        let (memory, clock) = (BiasedMemory::new(1, THREADS, false), AtomicU64::new(0));
        let mut walkers: Vec<_> =
            (0..THREADS).map(|t| Walker::begin(&memory, &filter, t, Records::new(&clock))).collect();
        let (mut at, write) = (0, r.percent(50));
        while at < BYTES {
            let size = (8 * (1 + r.below(40))).min(BYTES - at);
            walkers[0].range(BASE + at, size, write, 1);
            at += size;
            if r.percent(20) {
                walkers[0].sync(Kind::Fence, 0, None);
            }
        }
        for _ in 0..10 {
            let begin = r.below(BYTES / BLOCK_BYTES) * BLOCK_BYTES;
            let size = (8 * (1 + r.below(80))).min(BYTES - begin);
            walkers[1 + r.below(2)].range(BASE + begin, size, r.percent(30), 2);
        }
        walkers[2].range(BASE, BYTES, true, 3);
        let all: Vec<Vec<u64>> = walkers.into_iter().map(Walker::finish).collect();
        let stands = decode(&all.iter().map(|words| &words[..]).collect::<Vec<_>>());
        let word = |one: &Stands| match one {
            Stands::Deferred(deferred) if deferred.slot == 0 => Some(deferred.word),
            _ => None,
        };
        let words: Vec<u64> = stands.iter().filter_map(word).collect();
        let expected: Vec<u64> = (BASE as u64..(BASE + BYTES) as u64).step_by(8).collect();
        assert_eq!(words, expected, "seed {seed}");
    }
}

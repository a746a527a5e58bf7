//! The counts on the traces of the research tool RAPID.

use detect::hb::Hb;
use detect::lockset::Lockset;
use event::Op;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use trace::Trace;
use trace::text::TextReader;

fn read(name: &str) -> Trace {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/traces/recorded").join(name).with_extension("std");
    Trace::read(&mut TextReader::new(File::open(path).expect("it is there"))).expect("it is a trace")
}

/// Racy events and sites, as RAPID's SHB counts them.
#[test]
fn hb_counts_what_rapid_counts() {
    let expected = [
        ("account", (3, 1)),
        ("mergesort", (1, 1)),
        ("twostage", (4, 1)),
        ("clean", (59, 4)),
        ("bubblesort", (269, 5)),
        ("readerswriters", (92, 4)),
    ];
    let counted = expected.map(|(name, _)| {
        let trace = read(name);
        let mut hb = Hb::new();
        hb.batch(&trace.names, &trace.batch);
        let found = hb.finish();
        assert_eq!(found.races.iter().map(|race| race.events).sum::<u64>(), found.racy_events);
        (name, (found.racy_events, found.racy_sites))
    });
    assert_eq!(counted, expected);
}

/// Racy events and sites here, and those that RAPID counts, which knows neither forks and joins nor pairs, and forgives
/// a first thread nothing.
#[test]
fn lockset_warns_less_than_rapid() {
    let expected = [
        ("account", (8, 3), (10, 3)),
        ("mergesort", (38, 3), (56, 3)),
        ("twostage", (8, 2), (30, 5)),
        ("clean", (188, 4), (380, 6)),
        ("bubblesort", (1024, 5), (1355, 7)),
        ("readerswriters", (2423, 11), (6415, 18)),
    ];
    let counted = expected.map(|(name, ..)| {
        let trace = read(name);
        let mut lockset = Lockset::new();
        lockset.batch(&trace.names, &trace.batch);
        let found = lockset.finish();
        (name, (found.racy_events, found.racy_sites), without_states(&trace))
    });
    assert_eq!(counted, expected);
}

/// RAPID's rule: each thread holds a lock of its own, and each read one more; the candidates are what was held at every
/// access.
fn without_states(trace: &Trace) -> (u64, u64) {
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
    enum Held {
        Lock(u32),
        Thread(u32),
        Read,
    }
    let mut held: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut candidates: BTreeMap<u32, BTreeSet<Held>> = BTreeMap::new();
    let (mut racy, mut sites) = (0, BTreeSet::new());
    for &event in &trace.batch.events {
        let (thread, object) = (event.thread().0, event.object());
        let locks = held.entry(thread).or_default();
        match event.op() {
            Op::Acquire => locks.push(object),
            Op::Release => {
                let at = locks.iter().rposition(|&lock| lock == object).expect("it was acquired");
                locks.remove(at);
            }
            Op::Read | Op::Write => {
                let mut now: BTreeSet<Held> = locks.iter().map(|&lock| Held::Lock(lock)).collect();
                now.insert(Held::Thread(thread));
                if event.op() == Op::Read {
                    now.insert(Held::Read);
                }
                let candidates = candidates.entry(object).or_insert_with(|| now.clone());
                candidates.retain(|lock| now.contains(lock));
                if candidates.is_empty() {
                    racy += 1;
                    sites.insert(event.site().0);
                }
            }
            _ => {}
        }
    }
    (racy, sites.len() as u64)
}

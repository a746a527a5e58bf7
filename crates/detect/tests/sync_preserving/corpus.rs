//! The traces of the research tool RAPID, and a race behind a lock.

use super::checked;
use super::naive::conflict;
use detect::hb::Hb;
use detect::sync_preserving::{Options, SyncPreserving};
use event::Op;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use trace::Trace;
use trace::text::TextReader;

fn read(name: &str) -> Trace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/traces").join(name);
    Trace::read(&mut TextReader::new(File::open(path).expect("it is there"))).expect("it is a trace")
}

/// Racy events and sites, as RAPID's SyncP counts them.
#[test]
fn it_counts_what_rapid_counts() {
    let expected = [
        ("account", (3, 1)),
        ("mergesort", (3, 1)),
        ("twostage", (4, 1)),
        ("clean", (60, 4)),
        ("bubblesort", (269, 5)),
        ("readerswriters", (199, 4)),
    ];
    let counted = expected.map(|(name, _)| {
        let trace = read(&format!("recorded/{name}.std"));
        let mut predictor = SyncPreserving::new(&trace.names, &trace.batch).expect("few threads");
        let found = predictor.races(&Options::default()).sync_preserving;
        for race in &found.races {
            assert!(checked(&trace, &mut predictor, [race.earlier.event, race.later.event]).is_some());
        }
        (name, (found.racy_events, found.racy_sites))
    });
    assert_eq!(counted, expected);
}

/// With reversals: what RAPID's OSR counts, but for bubblesort, where it counts 476. There are no more than 374 in that
/// trace, as [`all_that_one_lock_allows`] shows: in the others, two sections of the only lock would be open at once, or
/// a read would see another write than it saw.
#[test]
fn with_reversals_it_counts_what_rapid_counts() {
    let expected = [
        ("account", (3, 1)),
        ("mergesort", (5, 2)),
        ("twostage", (8, 2)),
        ("clean", (110, 4)),
        ("bubblesort", (374, 5)),
        ("readerswriters", (228, 4)),
    ];
    let counted = expected.map(|(name, _)| {
        let trace = read(&format!("recorded/{name}.std"));
        let mut predictor = SyncPreserving::new(&trace.names, &trace.batch).expect("few threads");
        let found = predictor.races(&Options::default());
        for race in &found.optimistic.races {
            assert!(checked(&trace, &mut predictor, [race.earlier.event, race.later.event]).is_some());
        }
        assert_eq!((found.unexamined, found.unexamined_reversals), (0, 0));
        (name, (found.racy_events, found.racy_sites))
    });
    assert_eq!(counted, expected);
    assert_eq!(all_that_one_lock_allows(&read("recorded/bubblesort.std")), 374);
}

/// An upper bound of the racy events of a trace of plain accesses, forks and one lock.
///
/// Take a race of e, in a section of the lock, with f, in none. A prefix that shows it contains what both need. The
/// section of e is open at its end, so every other one in it is closed, and before that of e opens. So it contains what
/// the closing events need, and so on; and none of these needs the event that opens the section of e, nor e, nor f.
fn all_that_one_lock_allows(trace: &Trace) -> usize {
    type Set = Vec<bool>;
    let events = &trace.batch.events;
    let count = events.len();
    let add = |set: &mut Set, other: &Set| set.iter_mut().zip(other).for_each(|(mine, other)| *mine |= other);
    // By event: what it needs, itself included; what it needs to be next; the section it is in.
    let (mut predecessors, mut before, mut section) = (Vec::<Set>::new(), Vec::<Set>::new(), vec![None; count]);
    let mut threads = BTreeMap::<u32, (Set, Option<usize>)>::new();
    let mut writers = BTreeMap::<u32, usize>::new();
    let mut sections = Vec::<(usize, usize)>::new();
    for (at, event) in events.iter().enumerate() {
        let fresh = || (vec![false; count], None);
        let (mut set, mut open) = threads.get(&event.thread().0).cloned().unwrap_or_else(fresh);
        before.push(set.clone());
        section[at] = open;
        match event.op() {
            Op::Read => {
                if let Some(&writer) = writers.get(&event.object()) {
                    add(&mut set, &predecessors[writer]);
                }
            }
            Op::Write => drop(writers.insert(event.object(), at)),
            Op::Acquire => {
                open = Some(sections.len());
                sections.push((at, count));
            }
            Op::Release => sections[open.take().expect("it has the lock")].1 = at,
            Op::Fork => {}
            _ => unreachable!("no other operations"),
        }
        set[at] = true;
        if event.op() == Op::Fork {
            add(&mut threads.entry(event.object()).or_insert_with(fresh).0, &set);
        }
        threads.insert(event.thread().0, (set.clone(), open));
        predecessors.push(set);
    }
    let allows = |e: usize, f: usize| {
        let mut set = before[e].clone();
        add(&mut set, &before[f]);
        let own = match (section[e], section[f]) {
            (Some(_), Some(_)) => return false,
            (one, two) => one.or(two),
        };
        while let Some(own) = own {
            let others = || sections.iter().enumerate().filter(|&(number, _)| number != own);
            let Some((_, &(_, close))) = others().find(|(_, (open, close))| set[*open] && !set[*close]) else {
                let opens = sections[own].0;
                if others().any(|(_, &(open, close))| set[open] && predecessors[close][opens]) {
                    return false;
                }
                break;
            };
            add(&mut set, &predecessors[close]);
        }
        !set[e] && !set[f]
    };
    (0..count).filter(|&f| (0..f).any(|e| conflict(trace, e, f) && allows(e, f))).count()
}

/// A race behind a lock: no race of the recorded run, but one of a run that keeps the order of the sections.
#[test]
fn the_hidden_race_is_found_here_alone() {
    let trace = read("hidden/trace.std");
    let mut hb = Hb::new();
    hb.batch(&trace.names, &trace.batch);
    assert_eq!(hb.finish().racy_events, 0);
    let mut predictor = SyncPreserving::new(&trace.names, &trace.batch).expect("few threads");
    let found = predictor.races(&Options { optimistic: false, ..Options::default() });
    assert_eq!((found.racy_events, found.racy_sites), (1, 1));
    let race = &found.sync_preserving.races[0];
    assert_eq!(trace.names.var(race.variable), "z");
    let witness = checked(&trace, &mut predictor, [race.earlier.event, race.later.event]);
    assert_eq!(witness, Some(vec![4, 5, 6]));
}

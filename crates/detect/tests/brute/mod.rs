//! The detectors against their definitions, on random small traces with every operation.

mod protection;
pub(crate) mod random;

use detect::hb::Hb;
use detect::lockset::{Lockset, Screen};
use event::Space;
use oracle::happens_before::{HappensBefore, Pairs};
use std::collections::BTreeSet;
use trace::Trace;
use trace::text::TextReader;
use trace::validate::Validator;

const TRACES: u64 = 40_000;

fn read(text: &str) -> Trace {
    Trace::read(&mut TextReader::new(text.as_bytes())).expect("it is a trace")
}

fn traces() -> impl Iterator<Item = (String, Trace)> {
    (0..TRACES).map(|seed| {
        let text = random::trace(seed, 10 + seed as usize % 50);
        let trace = read(&text);
        (text, trace)
    })
}

#[test]
fn the_traces_could_have_happened() {
    for (text, trace) in traces().step_by(40) {
        let mut validator = Validator::new();
        validator.check(&trace.names, &trace.batch);
        // A wake-up that no notify accounts for is reported as a problem, but is none here: it is unpaired.
        let problem = validator.problems().iter().find(|problem| !problem.message.contains("without a notify"));
        assert_eq!(problem, None, "{text}");
    }
}

#[test]
fn hb_finds_the_racy_events_of_its_definition() {
    let (mut racy, mut found_in) = (0, 0);
    for (text, trace) in traces() {
        let naive = HappensBefore::new(&trace.batch, |event| usize::from(trace.names.sem(event.sem()) == "s1"));
        let expected = naive.races();
        let mut hb = Hb::new();
        hb.batch(&trace.names, &trace.batch);
        let found = hb.finish();
        // Every event has a site of its own, so every racy event is a race.
        let events: BTreeSet<usize> = found.races.iter().map(|race| race.later.event as usize).collect();
        assert_eq!(events, expected.keys().copied().collect(), "{text}");
        assert_eq!((found.racy_events, found.racy_sites), (events.len() as u64, events.len() as u64));
        for race in &found.races {
            let (earlier, later) = (race.earlier.event as usize, race.later.event as usize);
            assert!(expected[&later].contains(&earlier), "{earlier} and {later} do not race\n{text}");
            assert_eq!(expected[&later].last(), Some(&earlier), "the latest of {later}\n{text}");
            for access in [&race.earlier, &race.later] {
                let event = trace.batch.events[access.event as usize];
                assert_eq!((access.thread, access.site), (event.thread(), event.site()));
                assert_eq!(access.locks, naive.held[access.event as usize], "locks at {}\n{text}", access.event);
            }
        }
        racy += events.len();
        found_in += usize::from(!events.is_empty());
    }
    // Neither everything nor nothing races, or little would be shown.
    assert!(racy > 50_000 && found_in < TRACES as usize * 19 / 20, "{racy} racy events in {found_in} traces");
}

/// An access that happens-before does not order after some conflicting one is racy, or behind a race. What is behind
/// one is a pair that happens-before does not order, but the race that is named does: it has a read of its variable
/// from its writer's thread on a chain between the two.
#[test]
fn what_happens_before_does_not_order_is_a_race_or_behind_one() {
    let (mut found_behind, mut found_in) = (0, 0);
    for (text, trace) in traces() {
        let naive = HappensBefore::new(&trace.batch, |event| usize::from(trace.names.sem(event.sem()) == "s1"));
        let (races, unordered) = (naive.races(), naive.unordered());
        let mut hb = Hb::new();
        hb.batch(&trace.names, &trace.batch);
        let found = hb.finish();
        let has = |pairs: &Pairs, e: usize, f: usize| pairs.get(&f).is_some_and(|earlier| earlier.contains(&e));
        let behind = |of: &detect::Race| (of.earlier.event as usize, of.later.event as usize);
        let racy = found.races.iter().chain(found.behind.iter().map(|behind| &behind.race));
        let racy: BTreeSet<usize> = racy.map(|race| race.later.event as usize).collect();
        let expected: BTreeSet<usize> = unordered.keys().copied().collect();
        assert_eq!(found.behind_left_out, 0, "{text}");
        assert_eq!(racy, expected, "{text}");
        for pair in &found.behind {
            let (e, f) = behind(&pair.race);
            assert!(has(&unordered, e, f) && !has(&races, e, f), "{e} and {f}\n{text}");
            let (w, r) = behind(&found.races[pair.by]);
            let write = naive.writer(r).unwrap_or_else(|| panic!("{w} and {r} hide {e} and {f}\n{text}"));
            assert!(has(&races, write, r) && naive.is_between((write, r), (e, f)), "{w}, {r} hide {e}, {f}\n{text}");
        }
        found_behind += found.behind.len();
        found_in += usize::from(!found.behind.is_empty());
    }
    assert!(found_behind > 5000 && found_in > 3000, "{found_behind} behind races in {found_in} traces");
}

/// The independent checker accepts just the conflicting pairs that happens-before does not order.
#[test]
fn the_checker_of_unordered_pairs_follows_the_definition() {
    let mut accepted = 0;
    for (text, trace) in traces().step_by(2) {
        let naive = HappensBefore::new(&trace.batch, |event| usize::from(trace.names.sem(event.sem()) == "s1"));
        let (all, unordered) = (naive.conflicting(), naive.unordered());
        let pairs: Vec<[u64; 2]> =
            all.iter().flat_map(|(&f, earlier)| earlier.iter().map(move |&e| [e as u64, f as u64])).collect();
        let mut check = witness::UnorderedCheck::new(&pairs);
        let _ = trace.batch.events.iter().all(|&event| check.step(&trace.names, &trace.batch, event));
        for (&[e, f], result) in pairs.iter().zip(check.finish()) {
            let expected = unordered.get(&(f as usize)).is_some_and(|earlier| earlier.contains(&(e as usize)));
            assert_eq!(result.is_ok(), expected, "{e} and {f}: {result:?}\n{text}");
            accepted += u64::from(expected);
        }
    }
    assert!(accepted > 20_000, "{accepted}");
}

#[test]
fn lockset_warns_as_its_definition_does() {
    let (mut warned, mut warned_in, mut passed_over) = (0, 0, 0);
    for (text, trace) in traces() {
        let pairs = protection::pairs(&trace.batch);
        let expected: BTreeSet<usize> = pairs.iter().map(|&(_, later)| later).collect();
        let mut lockset = Lockset::new();
        lockset.batch(&trace.names, &trace.batch);
        let found = lockset.finish();
        // Every event has a site of its own, so every event that is warned of is kept.
        let events: BTreeSet<usize> = found.races.iter().map(|race| race.later.event as usize).collect();
        assert_eq!(events, expected, "{text}");
        for race in &found.races {
            let pair = (race.earlier.event as usize, race.later.event as usize);
            assert!(pairs.contains(&pair), "{pair:?} is kept apart\n{text}");
        }
        // A second reading gives equal findings.
        let mut screen = Screen::new();
        screen.batch(&trace.names, &trace.batch);
        let candidates = screen.finish();
        passed_over += trace.names.space(Space::Var).len() - candidates.count();
        let mut again = Lockset::new().of(candidates);
        again.batch(&trace.names, &trace.batch);
        assert_eq!(again.finish(), found, "{text}");
        warned += events.len();
        warned_in += usize::from(!events.is_empty());
    }
    assert!(warned > 20_000 && warned_in < TRACES as usize * 19 / 20, "{warned} warnings in {warned_in} traces");
    println!("{passed_over} variables passed over");
    assert!(passed_over > 5000, "{passed_over}");
}

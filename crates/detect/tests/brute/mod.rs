//! The detectors against their definitions, on random small traces with every operation.

mod order;
mod protection;
pub(crate) mod random;

use detect::hb::Hb;
use detect::lockset::Lockset;
use order::Naive;
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
        let naive = Naive::new(&trace.batch, |event| usize::from(trace.names.sem(event.sem()) == "s1"));
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

#[test]
fn lockset_warns_as_its_definition_does() {
    let (mut warned, mut warned_in) = (0, 0);
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
        warned += events.len();
        warned_in += usize::from(!events.is_empty());
    }
    assert!(warned > 20_000 && warned_in < TRACES as usize * 19 / 20, "{warned} warnings in {warned_in} traces");
}

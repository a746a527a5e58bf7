//! What only shows from inside: time that runs out, and memory that is given back.

use super::{Clocks, Hb};
use crate::Races;
use event::{Event, SiteId};
use generate::{Generator, Options};
use std::collections::BTreeSet;
use trace::Trace;
use trace::text::TextReader;

fn read(text: &str) -> Trace {
    Trace::read(&mut TextReader::new(text.as_bytes())).expect("it is a trace")
}

/// With time for four events: pairs across a new beginning are missed, and said to be; nothing is made up.
#[test]
fn when_time_runs_out_it_begins_anew() {
    let first = "T1|acq(l)|\nT1|w(x)|\nT2|w(x)|\nT1|rel(l)|\n";
    let then = "T3|w(x)|\nT3|up(s)|\nT1|down(s)|\nT1|w(x)|\nT2|w(x)|\nT2|acq(l)|\n";
    let trace = read(&format!("{first}{then}"));
    let mut hb = Hb { most_times: 4, ..Hb::new() };
    hb.batch(&trace.names, &trace.batch);
    let found = hb.finish();
    let pairs: Vec<_> = found.races.iter().map(|race| (race.earlier.event, race.later.event)).collect();
    // The write at 8 begins the third stretch, so no earlier access is there to race with it.
    assert_eq!((pairs, found.forgot_before), (vec![(1, 2)], Some(8)));
}

/// T2 was woken by the notify before the new beginning, so that of T4 woke T3.
#[test]
fn who_woke_whom_survives_a_new_beginning() {
    let waits = "T2|acq(l)|\nT2|wait(c,l)|\nT3|acq(m)|\nT3|wait(c,m)|\nT1|notify(c)|\n";
    let wakes = "T4|w(x)|\nT4|notify(c)|\nT2|woken(c,l)|\nT3|woken(c,m)|\nT3|r(x)|\n";
    let trace = read(&format!("{waits}{wakes}"));
    let mut hb = Hb { most_times: 5, ..Hb::new() };
    hb.batch(&trace.names, &trace.batch);
    let found = hb.finish();
    assert_eq!((found.racy_events, found.forgot_before), (0, Some(5)));
}

/// A trace with every operation, each event with a site of its own.
fn every_operation(seed: u64, threads: u32) -> Trace {
    let (vars, locks, churn) = (40, 3, 0.02);
    let options =
        Options { events: 3000, threads, vars, locks, seed, churn, racy: 0.2, all_ops: true, ..Options::default() };
    let mut trace = Trace::read(&mut Generator::new(options).expect("they make sense")).expect("it does not fail");
    for (site, event) in (0..).zip(&mut trace.batch.events) {
        *event = Event::with_extra(event.thread(), event.op(), event.object(), SiteId(site), event.extra());
    }
    trace
}

/// What is found within bounds is among what is found without.
#[track_caller]
fn bounds_make_up_nothing(threads: u32, bounded: impl Fn() -> Hb, reported: impl Fn(&Races) -> bool) {
    for seed in 0..20 {
        let trace = every_operation(seed, threads);
        let found = |mut hb: Hb| {
            hb.batch(&trace.names, &trace.batch);
            hb.finish()
        };
        let later = |found: &Races| found.races.iter().map(|race| race.later.event).collect::<BTreeSet<u64>>();
        let (all, few) = (found(Hb::keeping(usize::MAX)), found(bounded()));
        assert_eq!(later(&few).difference(&later(&all)).collect::<Vec<_>>(), Vec::<&u64>::new(), "seed {seed}");
        assert!(few.racy_events > 0, "seed {seed}");
        assert!(reported(&few) && !reported(&all), "seed {seed}: {:?}", few.forgot_before);
        for race in &few.races {
            assert_ne!(race.earlier.thread, race.later.thread, "seed {seed}");
            for access in [&race.earlier, &race.later] {
                assert_eq!(access.thread, trace.batch.events[access.event as usize].thread(), "seed {seed}");
            }
        }
    }
}

#[test]
fn a_new_beginning_makes_up_nothing() {
    let forgot = |found: &Races| found.forgot_before.is_some();
    bounds_make_up_nothing(5, || Hb { most_times: 500, ..Hb::keeping(usize::MAX) }, forgot);
    bounds_make_up_nothing(5, || Hb { most_bytes: 1000, stretch: 100, ..Hb::keeping(usize::MAX) }, forgot);
}

#[test]
fn threads_that_share_a_slot_make_up_nothing() {
    let bounded = || Hb { clocks: Clocks::with_slots(4), ..Hb::keeping(usize::MAX) };
    bounds_make_up_nothing(12, bounded, |found| found.taken_for_one > 0);
}

/// A semaphore with more ups than are kept apart still counts them, and they still come before their downs.
#[test]
fn ups_beyond_the_bound_are_one() {
    let mut text = "T1|up(s)|\n".repeat(1 << 16) + "T3|w(x)|\nT3|up(s)|\nT1|w(y)|\nT1|up(s)|\n";
    text += &("T2|down(s)|\n".repeat((1 << 16) + 2) + "T2|r(x)|\nT2|r(y)|\nT4|down(s)|\nT4|r(x)|\n");
    let trace = read(&text);
    let mut hb = Hb::new();
    hb.batch(&trace.names, &trace.batch);
    let found = hb.finish();
    assert_eq!((found.racy_events, found.taken_for_one), (1, 2));
}

/// However often a thread waits beside one that sleeps, the notifies that are of no use are forgotten.
#[test]
fn notifies_do_not_pile_up() {
    let mut text = String::from("T1|acq(l)|\nT1|wait(c,l)|\n");
    for _ in 0..1000 {
        text += "T2|acq(m)|\nT2|wait(c,m)|\nT3|notify(c)|\nT3|notify(c)|\nT2|woken(c,m)=timeout|\nT2|rel(m)|\n";
    }
    let trace = read(&text);
    let mut hb = Hb::new();
    hb.batch(&trace.names, &trace.batch);
    let kept = hb.wakeups.notifies_mut().count();
    assert!(kept <= 4, "{kept}");
}

/// Accesses remembered from before keep their threads and locks when there come to be more threads than their words had
/// room for.
#[test]
fn more_threads_than_a_word_has_room_for() {
    let mut text = String::from("T0|acq(l)|\nT0|w(x)|1\nT0|r(y)|2\nT0|rel(l)|\nT1|r(y)|3\nT0|w(z)|\nT1|w(z)|\n");
    (2..1100).for_each(|k| text.push_str(&format!("T{k}|w(v{k})|\n")));
    text.push_str("T1099|w(x)|4\nT1099|w(y)|5\nT1099|acq(l)|\nT1099|w(z)|6\n");
    let trace = read(&text);
    let mut hb = Hb::new();
    hb.batch(&trace.names, &trace.batch);
    let found = hb.finish();
    let pairs: Vec<_> = found.races.iter().map(|r| (r.earlier.event, r.earlier.thread.0, r.later.thread.0)).collect();
    assert_eq!(pairs, [(5, 0, 1), (1, 0, 1099), (4, 1, 1099), (6, 1, 1099)]);
    let locks: Vec<_> = found.races.iter().map(|r| (r.earlier.locks.len(), r.later.locks.len())).collect();
    assert_eq!(locks, [(0, 0), (1, 0), (0, 0), (0, 1)]);
}

/// However many threads come and go, the rows stay as wide as many at a time need.
#[test]
fn slots_are_taken_over() {
    let options = Options { events: 400_000, churn: 0.05, ..Options::default() };
    let trace = Trace::read(&mut Generator::new(options).expect("they make sense")).expect("it does not fail");
    let mut hb = Hb::new();
    hb.batch(&trace.names, &trace.batch);
    assert!(hb.threads.len() > 100, "{} threads", hb.threads.len());
    assert!(hb.clocks.slots() <= 16, "{} slots for {} threads", hb.clocks.slots(), hb.threads.len());
}

/// Batches of any size give the same.
#[test]
fn batches_do_not_show() {
    let options = Options { events: 20_000, vars: 200, racy: 0.1, all_ops: true, ..Options::default() };
    let trace = Trace::read(&mut Generator::new(options).expect("they make sense")).expect("it does not fail");
    let mut whole = Hb::new();
    whole.batch(&trace.names, &trace.batch);
    let mut parts = Hb::new();
    let (mut at, mut inits) = (0, trace.batch.inits.iter().peekable());
    while at < trace.batch.events.len() {
        let end = (at + 77).min(trace.batch.events.len());
        let mut part = event::Batch::default();
        part.clear(at as u64);
        for k in at..end {
            while let Some(init) = inits.next_if(|init| init.before as usize <= k) {
                part.push_init(init.name, init.value);
            }
            part.push_from(&trace.batch, trace.batch.events[k]);
        }
        parts.batch(&trace.names, &part);
        at = end;
    }
    let whole = whole.finish();
    assert!(whole.racy_events > 100, "{}", whole.racy_events);
    assert_eq!(parts.finish(), whole);
}

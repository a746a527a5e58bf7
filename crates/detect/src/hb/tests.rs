//! What only shows from inside: time that runs out, and memory that is given back.

use super::Hb;
use generate::{Generator, Options};
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
    // The write at 8 begins the third stretch, so nobody is there to race with it.
    assert_eq!((pairs, found.forgot_before), (vec![(1, 2)], Some(8)));
}

/// On traces with every operation, what is found with little time is among what is found with enough.
#[test]
fn a_new_beginning_makes_up_nothing() {
    for seed in 0..20 {
        let options = Options {
            events: 3000,
            threads: 5,
            vars: 40,
            locks: 3,
            seed,
            racy: 0.2,
            all_ops: true,
            ..Options::default()
        };
        let trace = Trace::read(&mut Generator::new(options).expect("they make sense")).expect("it does not fail");
        let later = |most_times| {
            let mut hb = Hb { most_times, ..Hb::keeping(usize::MAX) };
            hb.batch(&trace.names, &trace.batch);
            let found = hb.finish();
            (found.racy_events, found.races.iter().map(|race| race.later.event).collect::<Vec<_>>())
        };
        let (all, few) = (later(super::MOST_TIMES), later(500));
        assert!(few.0 > 0 && few.0 <= all.0, "{} of {}", few.0, all.0);
    }
}

/// Accesses remembered from before keep their threads and locks when there come to be more threads than their words had room for.
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

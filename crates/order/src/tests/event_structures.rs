//! The predecessors of events in `observed`, `full-hb` and `sync-only`.

use super::read;
use crate::{EventStructure, Trace, full_hb, observed, sync_only};

/// The chains, each `thread: event[chain:count …] …`.
fn shown(trace: &trace::Trace, structure: &EventStructure) -> Vec<String> {
    let chain = |chain: &crate::Chain| {
        let events = chain.events.iter().map(|event| {
            let predecessors: Vec<String> = structure
                .predecessors(event)
                .iter()
                .map(|prefix| format!("{}:{}", prefix.chain, prefix.count))
                .collect();
            if predecessors.is_empty() {
                event.index.to_string()
            } else {
                format!("{}[{}]", event.index, predecessors.join(" "))
            }
        });
        format!("{}: {}", trace.names.thread(chain.thread), events.collect::<Vec<_>>().join(" "))
    };
    structure.chains.iter().map(chain).collect()
}

fn full(text: &str, events: &[u64]) -> Vec<String> {
    let trace = read(text);
    shown(&trace, &full_hb(&Trace::new(&trace.names, &trace.batch), |event| events.contains(&event)))
}

fn sync(text: &str, events: &[u64]) -> Vec<String> {
    let trace = read(text);
    shown(&trace, &sync_only(&Trace::new(&trace.names, &trace.batch), |event| events.contains(&event)))
}

#[test]
fn observed_has_one_order() {
    let trace = read("T1|w(x) T2|w(y) T2|w(y) T1|r(x) T2|w(z)");
    let structure = observed(&trace.batch, |_| true);
    assert_eq!(shown(&trace, &structure), ["T1: 0 3[1:2]", "T2: 1[0:1] 2 4[0:2]"]);
    assert_eq!(shown(&trace, &observed(&trace.batch, |event| event > 2)), ["T1: 3", "T2: 4[0:1]"]);
    assert!(observed(&trace.batch, |_| false).is_empty());
}

#[test]
fn conflicting_accesses_keep_their_order() {
    let text = "T1|w(x) T2|r(x) T3|r(x) T3|w(x) T1|r(y)";
    assert_eq!(full(text, &[0, 1, 2, 3, 4]), ["T1: 0 4", "T2: 1[0:1]", "T3: 2[0:1] 3[1:1]"]);
    assert_eq!(sync(text, &[0, 1, 2, 3, 4]), ["T1: 0 4", "T2: 1", "T3: 2 3"]);
    // An atomic access orders in both; an allocation only with data.
    assert_eq!(sync("T1|ast(x) T2|ald(x)", &[0, 1]), ["T1: 0", "T2: 1[0:1]"]);
    assert_eq!(full("T1|free(x) T2|alloc(x)", &[0, 1]), ["T1: 0", "T2: 1[0:1]"]);
    assert_eq!(sync("T1|free(x) T2|alloc(x)", &[0, 1]), ["T1: 0", "T2: 1"]);
}

#[test]
fn the_order_goes_through_events_that_are_not_relevant() {
    let text = "T1|w(a) T1|w(x) T2|r(x) T2|w(y) T3|r(y) T3|w(b)";
    assert_eq!(full(text, &[0, 5]), ["T1: 0", "T3: 5[0:1]"]);
    assert_eq!(sync(text, &[0, 5]), ["T1: 0", "T3: 5"]);
}

#[test]
fn predecessors_are_listed_once() {
    let text = "T1|w(x) T2|r(x) T2|r(x) T1|w(x) T2|r(x)";
    assert_eq!(full(text, &[0, 1, 2, 3, 4]), ["T1: 0 3[1:2]", "T2: 1[0:1] 2 4[0:2]"]);
}

#[test]
fn locks_order_all_but_readers_and_failed_tries_among_themselves() {
    let text = "T1|acq(l) T1|rel(l) T2|racq(l) T3|racq(l) T4|tfail(l) T5|tfail(l) T2|rrel(l) T1|acq(l)";
    // The failed tries know of both readers, and so does the end of the first.
    let expected = ["T1: 0 1 7[1:2 2:1 3:1 4:1]", "T2: 2[0:2] 6[2:1 3:1 4:1]", "T3: 3[0:2]"];
    let chains = full(text, &[0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(chains[..3], expected);
    assert_eq!(chains[3..], ["T4: 4[0:2 1:1 2:1]", "T5: 5[0:2 1:1 2:1]"]);
    // Taking a lock again is without effect.
    assert_eq!(full("T1|acq(l) T1|acq(l) T1|w(a) T1|rel(l) T2|req(l) T2|w(b)", &[2, 5]), ["T1: 2", "T2: 5"]);
}

#[test]
fn conditions_are_ordered_and_may_be_locks() {
    let text = "T1|w(a) T1|notify(c) T2|notify(c) T2|w(b)";
    assert_eq!(full(text, &[0, 3]), ["T1: 0", "T2: 3[0:1]"]);
    // The condition is a lock's: its notify is ordered with that lock.
    assert_eq!(full("T1|w(a) T1|notify(l) T2|acq(l) T2|w(b)", &[0, 3]), ["T1: 0", "T2: 3[0:1]"]);
    assert_eq!(full("T1|w(a) T1|notify(k) T2|acq(l) T2|w(b)", &[0, 3]), ["T1: 0", "T2: 3"]);
    let text = "T1|acq(l) T1|w(a) T1|wait(c,l) T2|acq(l) T2|w(b)";
    assert_eq!(full(text, &[1, 4]), ["T1: 1", "T2: 4[0:1]"]);
}

#[test]
fn threads_latches_semaphores_and_pins_order() {
    assert_eq!(full("T1|w(a) T1|fork(T2) T1|w(a) T2|w(b)", &[0, 2, 3]), ["T1: 0 2", "T2: 3[0:1]"]);
    assert_eq!(full("T2|w(b) T1|join(T2) T1|w(a)", &[0, 2]), ["T2: 0", "T1: 2[0:1]"]);
    assert_eq!(full("T1|w(a) T1|post(o) T2|post(o) T3|await(o) T3|w(b)", &[0, 4]), ["T1: 0", "T3: 4[0:1]"]);
    assert_eq!(full("T1|w(a) T1|post(o) T2|post(o) T2|w(b)", &[0, 3]), ["T1: 0", "T2: 3"]);
    assert_eq!(full("T1|w(a) T1|up(s) T2|up(s) T2|w(b)", &[0, 3]), ["T1: 0", "T2: 3[0:1]"]);
    // The pin speaks of event 1 of its thread, wherever it stands itself.
    assert_eq!(sync("T1|w(a) T1|w(a) T2|w(x) T1|pin(x,1)", &[0, 1, 2]), ["T1: 0 1", "T2: 2[0:2]"]);
    assert_eq!(sync("T1|w(a) T2|w(x) T1|w(a) T1|pin(x,1)", &[0, 1, 2]), ["T1: 0 2", "T2: 1"]);
    assert_eq!(sync("T1|w(a) T1|w(a) T2|w(x) T1|rpin(x,1)", &[0, 1, 2]), ["T1: 0 1", "T2: 2[0:2]"]);
    assert_eq!(sync("T1|w(a) T1|w(a) T2|r(x) T1|rpin(x,1)", &[0, 1, 2]), ["T1: 0 1", "T2: 2"]);
}

//! Small runs, one rule each.

use super::{Atomicity, MOST_RUNNING, Violations, graph};
use event::Batch;
use trace::Trace;
use trace::text::TextReader;

fn run(text: &str) -> Violations {
    let text: String = text.split_whitespace().map(|event| format!("{event}\n")).collect();
    let trace = Trace::read(&mut TextReader::new(text.as_bytes())).expect("it is a trace");
    let mut atomicity = Atomicity::new();
    atomicity.batch(&trace.names, &trace.batch);
    atomicity.finish()
}

/// The cycle of the only violation, as event numbers, and the block's begin.
fn cycle(text: &str) -> (u64, Vec<[u64; 2]>) {
    let found = run(text);
    assert_eq!((found.violated, found.found.len()), (1, 1), "{found:?}");
    assert!(found.found[0].complete);
    (found.found[0].begin.event, found.found[0].cycle.iter().map(|hop| hop.map(|place| place.event)).collect())
}

#[test]
fn two_conflicts_make_a_cycle() {
    assert_eq!(cycle("A|begin(t)|1 A|r(x)|2 B|w(x)|3 A|w(x)|4 A|end(t)|5"), (0, vec![[1, 2], [2, 3]]));
}

#[test]
fn in_one_direction_they_do_not() {
    assert_eq!(run("A|begin(t)|1 A|r(x)|2 B|w(x)|3 A|w(y)|4 A|end(t)|5 B|r(y)|6").violated, 0);
}

#[test]
fn a_cycle_is_found_when_it_closes_whatever_its_first_edge() {
    let closed = cycle("B|begin(u)|1 A|begin(t)|2 B|w(y)|3 A|w(x)|4 B|r(x)|5 A|r(y)|6 A|end(t)|7 B|end(u)|8");
    assert_eq!(closed, (1, vec![[3, 4], [2, 5]]));
}

#[test]
fn three_blocks_and_one_that_ended() {
    let closed = cycle(
        "Z|begin(z)|1 Z|w(a)|2 Y|begin(y)|3 Y|r(a)|4 Y|w(b)|5 Y|end(y)|6 T|begin(t)|7 T|w(c)|8 Z|r(c)|9 T|r(b)|10",
    );
    assert_eq!(closed, (6, vec![[7, 8], [1, 3], [4, 9]]));
}

#[test]
fn very_many_blocks_after_one_that_runs_on() {
    let mut text = "X|begin(x)|1 X|w(a)|2 ".to_string();
    for k in 0..20_000 {
        text += &format!("Y{0}|begin(y)|3 Y{0}|r(a)|4 Y{0}|w(b{0})|5 Y{0}|end(y)|6 ", k % 4);
    }
    let serialisable = run(&text);
    assert_eq!((serialisable.blocks, serialisable.violated), (20_001, 0));
    let found = run(&(text + "X|r(b2)|7 X|w(a)|8"));
    assert_eq!((found.violated, found.found[0].begin.event), (1, 0));
    assert_eq!(found.found[0].closed().event, 80_002);
}

/// Each of these blocks comes before the next, which is found from the far end: what all know of all is quadratic. Then
/// come single events of other threads, each after all blocks.
fn chain(blocks: usize) -> String {
    let mut text: String = (0..blocks).map(|k| format!("T{k}|begin(t)|1 ")).collect();
    for k in (0..blocks - 1).rev() {
        text += &format!("T{k}|w(c{k})|2 T{}|r(c{k})|3 ", k + 1);
    }
    for k in 0..30_000 {
        let last = blocks - 1;
        text += &format!("T{last}|w(d{k})|4 U{0}|r(d{k})|5 U{0}|w(e{k})|6 ", k % 50);
    }
    text
}

#[test]
fn of_very_many_blocks_that_run_at_once_some_are_followed() {
    let text = chain(2 * MOST_RUNNING);
    let split: String = text.split_whitespace().map(|event| format!("{event}\n")).collect();
    let trace = Trace::read(&mut TextReader::new(split.as_bytes())).expect("it is a trace");
    let mut atomicity = Atomicity::new();
    let mut most = 0;
    for (first, events) in (0u64..).step_by(1000).zip(trace.batch.events.chunks(1000)) {
        let part = Batch { first, events: events.to_vec(), ..Batch::default() };
        atomicity.batch(&trace.names, &part);
        most = most.max(atomicity.graph.known());
    }
    // Between two looks an event can add what one node may know.
    assert!(most <= graph::MOST_KNOWN + MOST_RUNNING * MOST_RUNNING, "{most}");
    let found = atomicity.finish();
    assert!(found.unfollowed >= MOST_RUNNING as u64 && found.blocks == MOST_RUNNING as u64, "{found:?}");
    // What comes after them is followed again.
    let ends: String = (0..2 * MOST_RUNNING).map(|k| format!("T{k}|end(t)|7 ")).collect();
    let found = run(&(text + &ends + "A|begin(t)|1 A|r(x)|2 B|w(x)|3 A|w(x)|4"));
    assert_eq!((found.violated, found.found[0].closed().site.0 > 0), (1, true));
}

#[test]
fn more_blocks_run_at_once_than_a_word_has_bits() {
    let mut text = String::new();
    for k in 0..200 {
        text += &format!("T{k}|begin(t)|1 T{k}|r(x{k})|2 ");
    }
    for k in (0..199).rev() {
        text += &format!("T{}|w(x{k})|3 ", k + 1);
    }
    let (begin, cycle) = cycle(&(text + "T0|w(x199)|4"));
    assert_eq!((begin, cycle.len()), (0, 200));
}

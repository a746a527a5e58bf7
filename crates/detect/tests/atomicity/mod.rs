//! Atomicity against its definition, on random small traces with every operation.

mod blocks;
mod naive;
mod predicted;

use detect::atomicity::{Atomicity, Violations};
use event::{Id, Op};
use naive::Naive;
use trace::Trace;
use trace::text::TextReader;

const TRACES: u64 = 50_000;

fn read(text: &str) -> Trace {
    Trace::read(&mut TextReader::new(text.as_bytes())).expect("it is a trace")
}

fn observed(trace: &Trace) -> Violations {
    let mut atomicity = Atomicity::new();
    atomicity.batch(&trace.names, &trace.batch);
    atomicity.finish()
}

#[test]
fn the_first_violation_is_that_of_the_definition_and_the_others_are_real() {
    let (mut serialisable, mut violated, mut long) = (0, 0, 0);
    for seed in 0..TRACES {
        let text = blocks::trace(seed);
        let trace = read(&text);
        let naive = Naive::new(&trace.batch);
        let found = observed(&trace);
        let expected = naive.first_closed();
        let closed = found.found.first().map(|violation| violation.closed().event as usize);
        assert_eq!(closed, expected, "{text}");
        let order: Vec<usize> = (0..trace.batch.events.len()).collect();
        let before = naive.before(&order);
        for violation in &found.found {
            let begin = violation.begin.event as usize;
            let closed = violation.closed().event as usize;
            assert_eq!(trace.batch.events[begin].op(), Op::Begin);
            assert_eq!(naive.transaction[closed], begin, "the cycle closes in the block\n{text}");
            assert!(Naive::on_cycle(&before, begin), "{violation:?}\n{text}");
            assert!(violation.complete, "{violation:?}\n{text}");
            let hops: Vec<[usize; 2]> =
                violation.cycle.iter().map(|hop| hop.map(|place| place.event as usize)).collect();
            assert_eq!(naive.transaction[hops[0][0]], begin, "the way begins in the block\n{text}");
            for &[from, to] in &hops {
                assert!(from < to && to <= closed && naive.conflict(from, to), "{from} {to}\n{text}");
                assert_ne!(naive.transaction[from], naive.transaction[to], "{text}");
            }
            for pair in hops.windows(2) {
                let (here, there) = (pair[0][1], pair[1][0]);
                let threads = [here, there].map(|e| trace.batch.events[e].thread());
                let together = naive.transaction[here] == naive.transaction[there];
                assert!(together || threads[0] == threads[1] && here < there, "{hops:?}\n{text}");
            }
            for place in violation.cycle.iter().flatten() {
                let event = trace.batch.events[place.event as usize];
                assert_eq!((place.thread, place.site), (event.thread(), event.site()));
            }
            long += usize::from(hops.len() > 2);
        }
        violated += found.found.len();
        serialisable += usize::from(found.found.is_empty());
    }
    println!("{serialisable} serialisable, {violated} violations, {long} of more than two conflicts");
    assert!(serialisable > TRACES as usize / 5 && violated > TRACES as usize / 3 && long > 2_000);
}

#[test]
fn batches_do_not_matter() {
    for seed in 0..2_000 {
        let trace = read(&blocks::trace(seed));
        let mut atomicity = Atomicity::new();
        for (at, &event) in trace.batch.events.iter().enumerate() {
            let mut batch = event::Batch { first: at as u64, ..event::Batch::default() };
            batch.push_from(&trace.batch, event);
            atomicity.batch(&trace.names, &batch);
        }
        assert_eq!(atomicity.finish(), observed(&trace));
    }
}

#[test]
fn only_blocks_of_the_names_asked_for_count() {
    let text = "A|begin(outer)|1\nA|begin(txn)|2\nA|r(x)|3\nB|w(x)|4\nA|w(x)|5\nA|end(txn)|6\nA|end(outer)|7\n";
    let trace = read(text);
    for (names, expected) in [(vec!["txn"], Some(1)), (vec!["outer"], Some(0)), (vec!["other"], None)] {
        let of = names.into_iter().map(String::from).collect();
        let mut atomicity = Atomicity::keeping(10, Some(of));
        atomicity.batch(&trace.names, &trace.batch);
        let found = atomicity.finish();
        assert_eq!(found.found.first().map(|violation| violation.begin.event), expected);
        assert_eq!(found.blocks, u64::from(expected.is_some()));
        if let Some(violation) = found.found.first() {
            assert_eq!(violation.block.index(), expected.map_or(0, |begin| begin as usize) + 1);
        }
    }
}

#[test]
fn a_fork_comes_into_conflict_before_the_join_of_a_thread_without_events() {
    let found = |text: &str| observed(&read(text)).found.len();
    let text = "A|begin(b)|1\nA|fork(B)|2\nC|join(B)|3\nC|w(x)|4\nA|r(x)|5\nA|end(b)|6\n";
    assert_eq!(found(text), 1);
    assert_eq!(found(&text.replace("A|fork(B)", "A|ev(e)")), 0);
    assert_eq!(found(&text.replace("C|join(B)|3", "B|ev(e)|7\nC|join(B)|3")), 1);
}

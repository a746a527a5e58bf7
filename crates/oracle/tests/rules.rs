//! The rules of docs/causality.md one by one, on small traces written by hand.

use Causality::{FullHb, Maximal, SyncOnly, WeakHb};
use event::Causality;
use oracle::definition::Definition;
use oracle::initial_values;
use trace::Trace;
use trace::text::TextReader;

const ALL: [Causality; 5] = Causality::ALL;

/// Asserts which models admit an order of events.
#[track_caller]
fn admitted(text: &str, order: &[usize], by: &[Causality]) {
    let trace = Trace::read(&mut TextReader::new(text.as_bytes())).expect("a trace");
    let initial = initial_values(&trace, &[]);
    for model in Causality::ALL {
        let definition = Definition::new(model, &trace.names, &trace.batch, &initial);
        let feasible = order.iter().enumerate().all(|(at, &e)| definition.may_come(&order[..at], e));
        assert_eq!(feasible, by.contains(&model), "{}: {order:?} of\n{text}", model.text());
    }
}

#[test]
fn what_every_model_keeps() {
    let text = "A|w(x)|\nA|w(y)|\n";
    admitted(text, &[1], &[]);
    admitted(text, &[0, 1], &ALL);
    admitted(text, &[0, 0], &[]);
    admitted("A|fork(B)|\nB|w(x)|\n", &[1], &[]);
    admitted("B|w(x)|\nA|join(B)|\n", &[1], &[]);
    // The joined thread has no events, but begins.
    let text = "A|fork(B)|\nC|join(B)|\nC|w(x)|\n";
    admitted(text, &[1], &[]);
    admitted(text, &[0, 1, 2], &ALL);
    // Who has forked it is not known.
    let text = "A|w(x)|\nC|join(B)|\n";
    admitted(text, &[1], &[FullHb, SyncOnly, WeakHb, Maximal]);
    let text = "A|post(o)|\nB|await(o)|\nC|post(o)|\n";
    admitted(text, &[1], &[]);
    admitted(text, &[0, 1], &ALL);
    admitted(text, &[2, 0, 1], &[FullHb, SyncOnly, WeakHb, Maximal]);
}

#[test]
fn pins() {
    // Event 1 of A before B's access of x, and only of x, recorded after it.
    let text = "A|ev(e)|\nA|ev(e)|\nB|r(x)|\nB|r(y)|\nA|pin(x,1)|\n";
    admitted(text, &[2], &[]);
    admitted(text, &[0, 2], &[]);
    admitted(text, &[0, 1, 2], &ALL);
    // An `rpin` binds all accesses but reads.
    for op in ["w", "ast", "armw", "alloc", "free"] {
        let text = format!("A|ev(e)|\nB|{op}(x)|\nA|rpin(x,0)|\n");
        admitted(&text, &[1], &[]);
        admitted(&text, &[0, 1], &ALL);
    }
    for op in ["r", "ald"] {
        let text = format!("A|ev(e)|\nB|{op}(x)|\nA|rpin(x,0)|\n");
        admitted(&text, &[1], &[FullHb, SyncOnly, WeakHb, Maximal]);
    }
    let text = "A|ev(e)|\nB|r(y)|\nA|pin(x,0)|\n";
    admitted(text, &[1], &[FullHb, SyncOnly, WeakHb, Maximal]);
    let recorded_before = "B|r(x)|\nA|ev(e)|\nA|pin(x,0)|\n";
    admitted(recorded_before, &[0, 1, 2], &ALL);
    admitted(recorded_before, &[1, 0], &[FullHb, SyncOnly, WeakHb, Maximal]);
}

#[test]
fn variables() {
    let writes = "A|w(x)=1|\nB|w(x)=2|\n";
    admitted(writes, &[1, 0], &[SyncOnly, WeakHb, Maximal]);
    let reads = "A|r(x)|\nB|ald(x)|\n";
    admitted(reads, &[1, 0], &[FullHb, SyncOnly, WeakHb, Maximal]);
    let atomic = "A|ast(x)=1|\nB|ast(x)=2|\n";
    admitted(atomic, &[1, 0], &[WeakHb, Maximal]);
    let mixed = "A|ast(x)=1|\nB|w(x)=2|\n";
    admitted(mixed, &[1, 0], &[SyncOnly, WeakHb, Maximal]);
    let boundary = "A|alloc(x)|\nB|r(x)|\n";
    admitted(boundary, &[1, 0], &[SyncOnly]);
}

#[test]
fn atomic_sets() {
    // No access divides a write from its reads; in `maximal` a write of an equal value may.
    let text = "A|w(x)=1|\nB|r(x)=1|\nC|w(x)=2|\nD|w(x)=1|\n";
    admitted(text, &[2, 0, 1, 3], &[SyncOnly, WeakHb, Maximal]);
    admitted(text, &[0, 2, 1, 3], &[SyncOnly]);
    admitted(text, &[0, 3, 1, 2], &[SyncOnly, Maximal]);
    admitted(text, &[3, 1, 0, 2], &[SyncOnly, Maximal]);
    // The initial set is open from the beginning.
    let text = "#! init x=2\nA|r(x)=2|\nB|w(x)=1|\nC|w(x)=2|\n";
    admitted(text, &[1], &[SyncOnly, Maximal]);
    admitted(text, &[1, 0], &[SyncOnly]);
    admitted(text, &[1, 2, 0], &[SyncOnly, Maximal]);
    // After a lifetime boundary the initial value is unknown.
    let text = "#! init x=2\nA|alloc(x)|\nA|r(x)=2|\nB|w(x)=2|\nB|r(x)=2|\n";
    admitted(text, &[0, 2, 1], &[SyncOnly, Maximal]);
    let text = "#! init x=2\nA|alloc(x)|\nA|w(x)=2|\nB|r(x)=2|\n";
    admitted(text, &[0, 2], &[SyncOnly]);
    // Before the first lifetime boundary it is known.
    admitted("#! init x=2\nA|w(x)=2|\nB|r(x)=2|\n", &[1, 0], &[SyncOnly, Maximal]);
    admitted("A|w(x)=2|\nB|r(x)=2|\n", &[1, 0], &[SyncOnly]);
    admitted("#! init x=2\nA|w(x)=2|\nB|r(x)|\n", &[1, 0], &[SyncOnly]);
}

#[test]
fn read_modify_write() {
    let text = "A|ast(x)=1|\nB|ald(x)=1|\nC|armw(x)=2|\nD|ald(x)=2|\nE|ast(x)=1|\n";
    admitted(text, &[0, 2], &[Maximal]);
    admitted(text, &[0, 1, 2, 3, 4], &ALL);
    admitted(text, &[4, 0, 1, 2, 3], &[WeakHb, Maximal]);
    admitted(text, &[0, 1, 2, 4, 3], &[]);
    admitted(text, &[0, 1, 4, 2], &[]);
    let first = "A|ald(x)|\nB|armw(x)=1|\n";
    admitted(first, &[1], &[Maximal]);
    admitted(first, &[1, 0], &[]);
}

#[test]
fn terminal_reads() {
    let trace = |text: &str| Trace::read(&mut TextReader::new(text.as_bytes())).expect("a trace");
    let only_ends = |text: &str, model, prefix: &[usize], e| {
        let trace = trace(text);
        let definition = Definition::new(model, &trace.names, &trace.batch, &initial_values(&trace, &[]));
        definition.may_only_end(prefix, e)
    };
    let text = "A|w(x)=1|\nB|r(x)=1|\nC|armw(x)=2|\n";
    assert!(only_ends(text, Maximal, &[], 1));
    assert!(!only_ends(text, Maximal, &[0], 1), "it may come for good");
    assert!(!only_ends(text, WeakHb, &[], 1));
    assert!(!only_ends(text, Maximal, &[], 2), "not an armw");
    let text = "A|w(x)=1|\nB|ev(e)|\nB|ald(x)=1|\n";
    assert!(!only_ends(text, Maximal, &[], 2), "its thread is not there yet");
    assert!(only_ends(text, Maximal, &[1], 2));
}

#[test]
fn exclusive_and_shared_sections() {
    let text = "A|acq(l)|\nA|rel(l)|\nB|acq(l)|\nB|rel(l)|\n";
    admitted(text, &[2, 3, 0, 1], &[WeakHb, Maximal]);
    admitted(text, &[0, 2], &[]);
    let text = "A|racq(l)|\nA|rrel(l)|\nB|racq(l)|\nB|rrel(l)|\nC|acq(l)|\n";
    admitted(text, &[0, 2, 1, 3, 4], &[FullHb, SyncOnly, WeakHb, Maximal]);
    admitted(text, &[0, 4], &[]);
    admitted(text, &[4], &[WeakHb, Maximal]);
    admitted(text, &[4, 0], &[]);
    // A downgrade by one thread.
    let text = "A|acq(l)|\nA|racq(l)|\nA|rel(l)|\nB|racq(l)|\n";
    admitted(text, &[0, 1, 3], &[]);
    admitted(text, &[0, 1, 2, 3], &ALL);
    admitted(text, &[3, 0], &[]);
    // Re-entrant: only the outermost pair counts.
    let text = "A|acq(l)|\nA|tacq(l)|\nA|rel(l)|\nB|ev(e)|\nA|rel(l)|\nB|acq(l)|\n";
    admitted(text, &[0, 1, 2, 3, 5], &[]);
    admitted(text, &[3, 5], &[WeakHb, Maximal]);
    // After a section that is never closed, no other can open.
    let text = "A|acq(l)|\nA|rel(l)|\nB|acq(l)|\n";
    admitted(text, &[2], &[WeakHb, Maximal]);
    admitted(text, &[2, 0], &[]);
}

#[test]
fn failed_tries_stay_inside() {
    let text = "A|acq(l)|\nB|tfail(l)|\nA|rel(l)|\nC|acq(l)|\n";
    admitted(text, &[1], &[]);
    // The section does not wait for the try. Once it is closed, the try does not fail any more.
    admitted(text, &[0, 2], &[WeakHb, Maximal]);
    admitted(text, &[0, 2, 1], &[]);
    admitted(text, &[0, 2, 3], &[WeakHb, Maximal]);
    admitted(text, &[3], &[WeakHb, Maximal]);
    admitted(text, &[0, 1, 2, 3], &ALL);
    // A failed try without an open section has no rule. Failed tries are unordered among themselves.
    admitted("A|tfail(l)|\nB|tfail(l)|\nC|acq(l)|\n", &[1, 0, 2], &[FullHb, SyncOnly, WeakHb, Maximal]);
    admitted("A|tfail(l)|\nB|acq(l)|\n", &[1, 0], &[WeakHb, Maximal]);
    // Its own section, if no other is open; else the others'.
    let own = "A|acq(l)|\nA|tfail(l)|\nA|rel(l)|\nB|acq(l)|\n";
    admitted(own, &[0, 1, 2, 3], &ALL);
    let readers = "A|racq(l)|\nB|racq(l)|\nA|tfail(l)|\nA|rrel(l)|\nB|rrel(l)|\n";
    admitted(readers, &[0, 2], &[]);
    admitted(readers, &[0, 1, 4], &[WeakHb, Maximal]);
    admitted(readers, &[0, 1, 4, 2], &[]);
    admitted(readers, &[1, 0, 2, 4, 3], &[FullHb, SyncOnly, WeakHb, Maximal]);
}

#[test]
fn conditions() {
    let text = "A|acq(l)|\nA|wait(c,l)|\nB|notify(c)|\nA|woken(c,l)|\n";
    admitted(text, &[0, 1, 2, 3], &ALL);
    admitted(text, &[0, 1, 3], &[]);
    admitted(text, &[0, 2, 1], &[WeakHb, Maximal]);
    admitted(text, &[0, 2, 1, 3], &[]);
    // A time-out has no notify. A wait gives the lock up at every depth.
    let text = "A|acq(l)|\nA|acq(l)|\nA|wait(l)|\nB|acq(l)|\nB|rel(l)|\nA|woken(l)=timeout|\nA|rel(l)|\nA|rel(l)|\n";
    admitted(text, &[0, 1, 2, 5], &[WeakHb, Maximal]);
    admitted(text, &[0, 1, 3], &[]);
    admitted(text, &[0, 1, 2, 3, 5], &[]);
    admitted(text, &[0, 1, 2, 5, 6, 3], &[]);
    admitted(text, &[0, 1, 2, 5, 6, 7, 3], &[WeakHb, Maximal]);
    // Each wake-up has its own notify, in recorded order; a `notifyall` is that of all.
    let waits = "A|acq(k)|\nA|wait(c,k)|\nB|acq(l)|\nB|wait(c,l)|\n";
    let two = format!("{waits}C|notify(c)|\nC|notify(c)|\nB|woken(c,l)|\nA|woken(c,k)|\n");
    admitted(&two, &[0, 1, 2, 3, 4, 6], &[WeakHb, Maximal]);
    admitted(&two, &[0, 1, 2, 3, 4, 7], &[]);
    let all = format!("{waits}C|notifyall(c)|\nC|notify(c)|\nB|woken(c,l)|\nA|woken(c,k)|\n");
    admitted(&all, &[0, 1, 2, 3, 4, 7, 6], &[WeakHb, Maximal]);
    // A notify of a condition with the lock's name acts on the lock.
    admitted("A|notify(l)|\nB|acq(l)|\n", &[1, 0], &[WeakHb, Maximal]);
    admitted("A|notify(c)|\nB|acq(l)|\n", &[1, 0], &[FullHb, SyncOnly, WeakHb, Maximal]);
}

#[test]
fn semaphores() {
    let text = "#! init s=1\nA|down(s)|\nB|up(s)|\nC|down(s)|\n";
    admitted(text, &[2], &[Maximal]);
    admitted(text, &[2, 0], &[]);
    admitted(text, &[1, 2, 0], &[Maximal]);
    admitted(text, &[0, 1, 2], &ALL);
    admitted("A|up(s)|\nB|down(s)|\n", &[1], &[]);
}

#[test]
fn the_recorded_order_alone() {
    admitted("A|ev(e)|\nB|ev(e)|\n", &[0, 1], &ALL);
    admitted("A|ev(e)|\nB|ev(e)|\n", &[1], &[FullHb, SyncOnly, WeakHb, Maximal]);
}

//! One small trace for each rule of the order, and the races it has: pairs of event indexes, the latest partner first.

use detect::hb::Hb;
use detect::lockset::Lockset;
use detect::{Access, Race, Races};
use trace::Trace;
use trace::text::TextReader;

/// Lines of `THREAD OP`; the site of each event is its index.
fn read(text: &str) -> Trace {
    let mut std = String::new();
    let mut site = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with("#!") {
            std += &format!("{line}\n");
        } else {
            let (thread, op) = line.split_once(' ').expect("a thread and what it does");
            std += &format!("{thread}|{op}|{site}\n");
            site += 1;
        }
    }
    Trace::read(&mut TextReader::new(std.as_bytes())).expect("it is a trace")
}

fn hb(trace: &Trace) -> Races {
    let mut hb = Hb::new();
    hb.batch(&trace.names, &trace.batch);
    hb.finish()
}

fn lockset(trace: &Trace) -> Races {
    let mut lockset = Lockset::new();
    lockset.batch(&trace.names, &trace.batch);
    lockset.finish()
}

fn pairs(races: &[Race]) -> Vec<(u64, u64)> {
    races.iter().map(|race| (race.earlier.event, race.later.event)).collect()
}

#[track_caller]
fn check(text: &str, expected: &[(u64, u64)]) {
    let found = hb(&read(text));
    assert_eq!(pairs(&found.races), expected, "{text}");
    assert_eq!(found.racy_events, expected.len() as u64, "{text}");
}

/// T1 writes x, then this; T2 does that, then reads x. No race: events in the middle order the two.
#[track_caller]
fn ordered(first: &[&str], then: &[&str]) {
    between(first, then, true);
}

#[track_caller]
fn unordered(first: &[&str], then: &[&str]) {
    between(first, then, false);
}

#[track_caller]
fn between(first: &[&str], then: &[&str], ordered: bool) {
    let mut text = String::from("#! init s1=1\nT1 w(x)\n");
    first.iter().for_each(|op| text += &format!("T1 {op}\n"));
    then.iter().for_each(|op| text += &format!("T2 {op}\n"));
    text += "T2 r(x)\n";
    let last = (1 + first.len() + then.len()) as u64;
    check(&text, &[(0, last)][usize::from(ordered)..]);
}

#[test]
fn nothing_orders_two_threads() {
    unordered(&[], &[]);
    check("T1 w(x)\nT2 w(x)", &[(0, 1)]);
    check("T1 r(x)\nT2 w(x)", &[(0, 1)]);
    check("T1 r(x)\nT2 r(x)", &[]);
    check("T1 w(x)\nT1 r(x)\nT2 w(y)", &[]);
}

#[test]
fn fork_and_join() {
    ordered(&["fork(T2)"], &[]);
    check("T1 fork(T2)\nT2 w(x)\nT1 w(x)", &[(1, 2)]);
    check("T1 fork(T2)\nT2 w(x)\nT1 join(T2)\nT1 w(x)", &[]);
    // Threads that come and go, each joined by who starts the next; the last runs beside its parent.
    let chain = "T0 fork(T1)\nT1 w(x)\nT0 join(T1)\nT0 fork(T2)\nT2 w(x)\nT0 join(T2)\nT0 fork(T3)\nT3 w(x)\nT0 w(x)";
    check(chain, &[(7, 8)]);
    // One that goes on after its join (a problem) does not race with itself, whichever thread has taken over its slot.
    check("T0 fork(T1)\nT0 join(T1)\nT1 w(x)\nT0 fork(T2)\nT1 w(x)\nT2 w(x)", &[(4, 5)]);
    // T9 knows nothing of the end of T1: T2 must not pass for its continuation.
    check("T0 fork(T1)\nT1 w(x)\nT0 join(T1)\nT9 fork(T2)\nT2 w(x)", &[(1, 4)]);
}

#[test]
fn a_read_knows_what_its_writer_knew_but_is_tested_before() {
    check("T1 w(y)\nT1 w(x)\nT2 r(x)\nT2 r(y)", &[(1, 2)]);
    check("T1 w(y)\nT1 w(x)\nT2 w(x)\nT2 r(y)", &[(1, 2), (0, 3)]);
    // What the writer did later is not known.
    check("T1 w(x)\nT1 w(y)\nT2 r(x)\nT2 r(y)", &[(0, 2), (1, 3)]);
}

#[test]
fn any_earlier_access_counts() {
    // T2's read knows T2's and, by its lock, T3's write, but not T1's.
    check("T1 w(x)\nT2 w(x)\nT2 r(x)", &[(0, 1), (0, 2)]);
    check("T1 r(x)\nT2 r(x)\nT2 fork(T3)\nT3 w(x)", &[(0, 3)]);
}

#[test]
fn locks() {
    ordered(&["acq(l)", "rel(l)"], &["acq(l)"]);
    ordered(&["acq(l)", "rel(l)"], &["tacq(l)"]);
    unordered(&["acq(l)", "rel(l)"], &["acq(m)"]);
    unordered(&["acq(l)", "rel(l)"], &["tfail(l)"]);
    // The inner release gives nothing away.
    check("T1 acq(l)\nT1 acq(l)\nT1 rel(l)\nT1 w(x)\nT1 rel(l)\nT2 acq(l)\nT2 w(x)", &[]);
    check("T1 acq(l)\nT1 rel(l)\nT1 w(x)\nT2 acq(l)\nT2 w(x)", &[(2, 4)]);
}

#[test]
fn reader_locks() {
    ordered(&["acq(l)", "rel(l)"], &["racq(l)"]);
    ordered(&["racq(l)", "rrel(l)"], &["acq(l)"]);
    unordered(&["racq(l)", "rrel(l)"], &["racq(l)"]);
    // All readers come before the next writer.
    check("T1 racq(l)\nT2 racq(l)\nT1 r(x)\nT2 r(x)\nT1 rrel(l)\nT2 rrel(l)\nT3 acq(l)\nT3 w(x)", &[]);
    // And, by that writer, before those after it.
    check("T1 racq(l)\nT1 r(x)\nT1 rrel(l)\nT3 acq(l)\nT3 rel(l)\nT2 racq(l)\nT2 w(x)", &[]);
}

#[test]
fn wait_and_notify() {
    // A wait releases at every depth.
    ordered(&["acq(l)", "acq(l)", "wait(c,l)"], &["acq(l)"]);
    // Waking takes the lock back, and comes after the notify that woke.
    check("T2 acq(l)\nT2 wait(c,l)\nT1 w(x)\nT1 acq(l)\nT1 rel(l)\nT2 woken(c,l)=timeout\nT2 r(x)", &[]);
    check("T2 acq(l)\nT2 wait(c,l)\nT1 w(x)\nT1 notify(c)\nT2 woken(c,l)\nT2 r(x)", &[]);
    check("T2 acq(l)\nT2 wait(c,l)\nT1 w(x)\nT1 notifyall(c)\nT2 woken(c,l)\nT2 r(x)", &[]);
    check("T2 acq(l)\nT2 wait(c,l)\nT1 w(x)\nT1 notify(c)\nT2 woken(c,l)=spurious\nT2 r(x)", &[(2, 5)]);
    check("T1 w(x)\nT1 notify(c)\nT2 acq(l)\nT2 wait(c,l)\nT2 woken(c,l)=timeout\nT2 r(x)", &[(0, 5)]);
    // Each notify wakes one: the second thread is woken by the second.
    let two = "T2 acq(l)\nT2 wait(c,l)\nT3 acq(m)\nT3 wait(c,m)\nT1 w(x)\nT1 notify(c)\nT4 notify(c)
        T2 woken(c,l)\nT3 woken(c,m)\nT2 r(x)\nT3 r(x)";
    check(two, &[(4, 10)]);
    let second = "T2 acq(l)\nT2 wait(c,l)\nT3 acq(m)\nT3 wait(c,m)\nT1 notify(c)\nT4 w(x)\nT4 notify(c)
        T2 woken(c,l)\nT3 woken(c,m)\nT3 r(x)";
    check(second, &[]);
}

#[test]
fn latches_and_semaphores() {
    ordered(&["post(o)"], &["await(o)"]);
    unordered(&["post(o)"], &["post(o)"]);
    check("T1 w(x)\nT1 post(o)\nT2 w(y)\nT2 post(o)\nT3 await(o)\nT3 w(x)\nT3 w(y)", &[]);
    ordered(&["up(s0)"], &["down(s0)"]);
    // The initial count allows the first down.
    unordered(&["up(s1)"], &["down(s1)"]);
    ordered(&["up(s1)"], &["down(s1)", "down(s1)"]);
    // Each up allows one down.
    check("T1 w(x)\nT1 up(s)\nT2 up(s)\nT3 down(s)\nT4 down(s)\nT3 r(x)\nT4 r(x)", &[(0, 6)]);
}

#[test]
fn atomics_by_their_orders() {
    let orders = ["relaxed", "acquire", "release", "acqrel", "seqcst"];
    for (k, store) in orders.iter().enumerate() {
        for (m, load) in orders.iter().enumerate() {
            for (write, read) in [("ast", "ald"), ("armw", "ald"), ("ast", "armw"), ("armw", "armw")] {
                let first = format!("{write}(a)@{store}");
                let then = format!("{read}(a)@{load}");
                between(&[&first], &[&then], k >= 2 && [1, 3, 4].contains(&m));
            }
        }
    }
    ordered(&["ast(a)"], &["ald(a)"]);
    unordered(&["ast(a)"], &["ast(a)"]);
    unordered(&["ast(a)"], &["ald(b)"]);
}

#[test]
fn release_sequences() {
    // Through read-modify-writes of any order and thread, but not through stores.
    check("T1 w(x)\nT1 ast(a)@release\nT3 armw(a)@relaxed\nT2 ald(a)@acquire\nT2 r(x)", &[]);
    check("T1 w(x)\nT1 ast(a)@release\nT3 ast(a)@relaxed\nT2 ald(a)@acquire\nT2 r(x)", &[(0, 4)]);
    check("T1 w(x)\nT1 ast(a)@release\nT1 ast(a)@relaxed\nT2 ald(a)@acquire\nT2 r(x)", &[(0, 4)]);
    // A releasing one in the middle adds itself.
    let both = "T1 w(x)\nT1 ast(a)@release\nT3 w(y)\nT3 armw(a)@release\nT2 ald(a)@acquire\nT2 r(x)\nT2 r(y)";
    check(both, &[]);
    // But learns nothing by it.
    check("T1 w(x)\nT1 ast(a)@release\nT3 armw(a)@release\nT3 r(x)", &[(0, 3)]);
}

#[test]
fn fences() {
    ordered(&["fence@release", "ast(a)@relaxed"], &["ald(a)@relaxed", "fence@acquire"]);
    ordered(&["fence@acqrel", "ast(a)@relaxed"], &["ald(a)@relaxed", "fence@acqrel"]);
    ordered(&["fence@seqcst", "ast(a)@relaxed"], &["ald(a)@relaxed", "fence@seqcst"]);
    ordered(&["fence@release", "ast(a)@relaxed"], &["ald(a)@acquire"]);
    ordered(&["ast(a)@release"], &["ald(a)@relaxed", "fence@acquire"]);
    ordered(&["fence@release", "armw(a)@relaxed"], &["armw(a)@relaxed", "fence@acquire"]);
    unordered(&["fence@acquire", "ast(a)@relaxed"], &["ald(a)@acquire"]);
    unordered(&["ast(a)@release"], &["ald(a)@relaxed", "fence@release"]);
    unordered(&["ast(a)@relaxed", "fence@release"], &["ald(a)@acquire"]);
    unordered(&["ast(a)@release"], &["fence@acquire", "ald(a)@relaxed"]);
    unordered(&["fence@seqcst"], &["fence@seqcst"]);
    // What came after the fence is not given.
    check("T1 fence@release\nT1 w(x)\nT1 ast(a)@relaxed\nT2 ald(a)@acquire\nT2 r(x)", &[(1, 4)]);
}

#[test]
fn atomics_race_with_plain_accesses_only() {
    check("T1 ast(x)@relaxed\nT2 ast(x)@relaxed\nT3 ald(x)@relaxed\nT4 armw(x)@relaxed", &[]);
    check("T1 w(x)\nT2 ald(x)@relaxed", &[(0, 1)]);
    check("T1 ald(x)@relaxed\nT2 w(x)", &[(0, 1)]);
    check("T1 ald(x)@relaxed\nT2 r(x)", &[]);
    check("T1 ast(x)\nT2 r(x)", &[(0, 1)]);
    check("T1 r(x)\nT2 armw(x)", &[(0, 1)]);
    // Synchronisation through the variable itself counts.
    check("T1 w(x)\nT1 ast(x)@release\nT2 ald(x)@acquire\nT2 w(x)", &[]);
    // A plain write ends the release sequence.
    check("T1 w(y)\nT1 ast(x)@release\nT1 w(x)\nT2 ald(x)@acquire\nT2 r(y)", &[(2, 3), (0, 4)]);
    // A plain read that sees an atomic store learns nothing, not even from the plain write before that.
    check("T1 w(y)\nT1 w(x)\nT1 ast(x)@relaxed\nT2 r(x)\nT2 r(y)", &[(2, 3), (0, 4)]);
}

#[test]
fn alloc_and_free() {
    check("T1 w(x)\nT1 free(x)\nT2 alloc(x)\nT2 w(x)", &[]);
    check("T1 r(x)\nT2 free(x)", &[(0, 1)]);
    check("T1 ald(x)\nT2 free(x)", &[(0, 1)]);
    check("T1 free(x)\nT2 r(x)", &[(0, 1)]);
    check("T1 free(x)\nT2 ald(x)", &[(0, 1)]);
    check("T1 free(x)\nT2 free(x)", &[(0, 1)]);
    // Ordered, it is an error of another kind; and a read sees no write through a free.
    check("T1 free(x)\nT1 fork(T2)\nT2 r(x)", &[]);
    check("T1 w(y)\nT1 free(x)\nT2 r(x)\nT2 r(y)", &[(1, 2), (0, 3)]);
    // Nor does a release sequence survive.
    check("T1 w(y)\nT1 ast(x)\nT2 alloc(x)\nT2 ald(x)\nT2 r(y)", &[(0, 4)]);
}

#[test]
fn pins_hold_back() {
    // Who reads may have seen a write that was dropped, unless there is a later one.
    for op in ["r(y)", "ald(y)@relaxed", "armw(y)@relaxed"] {
        ordered(&["pin(y,1)"], &[op]);
        unordered(&["pin(z,1)"], &[op]);
        for write in ["w(y)", "ast(y)@relaxed", "free(y)", "alloc(y)"] {
            unordered(&["pin(y,1)"], &[write, op]);
        }
    }
    // No other thread has a part in what was dropped.
    for op in ["w(y)", "ast(y)@relaxed", "free(y)"] {
        unordered(&["pin(y,1)"], &[op]);
    }
    // Reads order nothing, nor do those that were dropped.
    for op in ["r(y)", "w(y)", "ald(y)@relaxed", "ast(y)@relaxed", "armw(y)@relaxed", "free(y)"] {
        unordered(&["rpin(y,1)"], &[op]);
    }
}

#[test]
fn both_accesses_are_reported_with_their_locks() {
    let trace = read("T1 acq(a)\nT1 acq(b)\nT1 w(x)\nT1 rel(b)\nT1 rel(a)\nT2 racq(c)\nT2 r(x)\nT2 r(x)");
    let races = hb(&trace).races;
    let locks = |access: &Access| -> Vec<&str> { access.locks.iter().map(|&lock| trace.names.lock(lock)).collect() };
    assert_eq!(pairs(&races), [(2, 6)]);
    assert_eq!((locks(&races[0].earlier), locks(&races[0].later)), (vec!["a", "b"], vec!["c"]));
    assert_eq!((races[0].earlier.thread.0, races[0].later.thread.0), (0, 1));
}

#[test]
fn races_are_kept_once_and_up_to_a_bound() {
    let text: String = (0..10).map(|k| format!("T{}|w(x{})|{}\n", k % 2, k / 4, k % 2)).collect();
    let trace = Trace::read(&mut TextReader::new(text.as_bytes())).expect("it is a trace");
    let found = hb(&trace);
    // Variables 0 and 1 have three racy events each, variable 2 one; two sites.
    assert_eq!((found.racy_events, found.racy_sites, found.left_out), (7, 2, 0));
    assert_eq!(found.races.iter().map(|race| race.events).collect::<Vec<_>>(), [3, 3, 1]);
    let mut few = Hb::keeping(1);
    few.batch(&trace.names, &trace.batch);
    let few = few.finish();
    assert_eq!((few.racy_events, few.races.len(), few.left_out), (7, 1, 4));
}

#[test]
fn warnings_of_the_same_sites_are_kept_up_to_a_bound() {
    // Two threads write the bytes of a buffer, without locks, and at last something else.
    let write = |thread: u32, var: u32, site: &str| format!("T{thread}|w(x{var})|{site}{thread}\n");
    let mut text: String =
        (0..300).flat_map(|var| [write(1, var, "a"), write(2, var, "a"), write(1, var, "a")]).collect();
    text += &(write(1, 0, "b") + &write(2, 0, "b"));
    let trace = Trace::read(&mut TextReader::new(text.as_bytes())).expect("it is a trace");
    let found = lockset(&trace);
    assert_eq!((found.racy_events, found.left_out), (602, 0));
    let others: Vec<u64> = found.races.iter().map(|race| race.others).filter(|&others| others > 0).collect();
    assert_eq!(others, [400]);
    let reported: u64 = found.races.iter().map(|race| race.events + race.others).sum();
    assert_eq!((reported, found.races.len()), (602, 102));
    // Beyond the bound for all, only what has sites of its own is left out.
    let mut few = Lockset::keeping(2);
    few.batch(&trace.names, &trace.batch);
    let few = few.finish();
    assert_eq!((few.races.len(), few.left_out), (2, 2));
    assert_eq!(few.races.iter().map(|race| race.events + race.others).sum::<u64>(), 600);
}

#[track_caller]
fn warns(text: &str, expected: &[(u64, u64)]) {
    assert_eq!(pairs(&lockset(&read(text)).races), expected, "{text}");
}

#[test]
fn the_first_thread_may_hand_over() {
    // One thread needs no lock; others may come with one.
    warns("T1 w(x)\nT1 w(x)\nT2 acq(l)\nT2 w(x)\nT2 rel(l)\nT1 acq(l)\nT1 w(x)", &[]);
    warns("T1 w(x)\nT2 w(x)", &[(0, 1)]);
    // Reads are no matter, until a thread writes.
    warns("T1 w(x)\nT2 r(x)\nT3 r(x)", &[]);
    warns("T1 w(x)\nT2 r(x)\nT3 r(x)\nT3 w(x)", &[(1, 3)]);
    // The first thread has no second chance.
    warns("T1 w(x)\nT2 acq(l)\nT2 w(x)\nT2 rel(l)\nT1 w(x)", &[(2, 4)]);
    // Different locks are no common lock.
    warns("T1 w(x)\nT1 acq(a)\nT1 w(x)\nT1 rel(a)\nT2 acq(b)\nT2 w(x)\nT2 rel(b)\nT1 acq(a)\nT1 w(x)", &[(5, 8)]);
    // Two of three locks each: every two threads have one in common.
    let two = |thread, a, b| {
        format!("{thread} acq({a})\n{thread} acq({b})\n{thread} w(x)\n{thread} rel({b})\n{thread} rel({a})\n")
    };
    warns(&(two("T1", "a", "b") + &two("T2", "b", "c") + &two("T3", "a", "c") + &two("T1", "a", "b")), &[]);
}

#[test]
fn what_every_run_keeps_in_order_needs_no_lock() {
    warns("T1 w(x)\nT1 fork(T2)\nT2 w(x)\nT1 join(T2)\nT1 w(x)", &[]);
    warns("T1 w(x)\nT1 post(o)\nT2 await(o)\nT2 w(x)\nT2 post(o)\nT1 await(o)\nT1 w(x)", &[]);
    warns("T1 w(x)\nT1 fork(T2)\nT1 w(x)\nT2 w(x)", &[(2, 3)]);
    warns("T1 post(o)\nT1 w(x)\nT2 await(o)\nT2 w(x)", &[(1, 3)]);
    // What two threads have joined comes before both.
    warns("T1 w(x)\nT1 fork(T2)\nT2 w(x)\nT1 join(T2)\nT3 join(T2)\nT3 w(x)", &[]);
    // Neither reads nor frees conflict with what reads.
    warns("T1 r(x)\nT2 r(x)\nT1 r(x)\nT2 free(x)", &[]);
    warns("T1 w(x)\nT2 free(x)", &[]);
}

#[test]
fn locks_that_protect() {
    // Re-entrant: held until the outermost release.
    warns("T1 w(x)\nT2 acq(l)\nT2 acq(l)\nT2 rel(l)\nT2 w(x)\nT2 rel(l)\nT1 acq(l)\nT1 w(x)", &[]);
    // Reader locks protect reads, not writes.
    warns("T1 acq(l)\nT1 w(x)\nT1 rel(l)\nT2 acq(l)\nT2 w(x)\nT2 rel(l)\nT1 racq(l)\nT1 r(x)", &[]);
    warns("T1 w(x)\nT2 racq(l)\nT2 w(x)", &[(0, 2)]);
    // A wait gives the lock up, and its end takes it back.
    warns("T1 w(x)\nT2 acq(l)\nT2 wait(c,l)\nT2 woken(c,l)=timeout\nT2 w(x)\nT2 rel(l)\nT1 acq(l)\nT1 w(x)", &[]);
    // Atomics protect each other.
    warns("T1 ast(x)\nT2 ast(x)\nT1 armw(x)", &[]);
    warns("T1 ast(x)\nT2 ast(x)\nT1 r(x)", &[(1, 2)]);
    warns("T1 w(x)\nT1 free(x)\nT2 alloc(x)\nT2 w(x)", &[]);
}

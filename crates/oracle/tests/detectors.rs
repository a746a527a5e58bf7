//! The definitions of docs/detectors.md on small traces written by hand.

use event::Causality;
use oracle::definition::Definition;
use oracle::random::Random;
use oracle::schedule::faulty_trace;
use oracle::wakeups::Wait;
use oracle::{cases, initial_values, read};
use std::collections::BTreeSet;

fn oracle(text: &str) -> Definition {
    let trace = read(text);
    Definition::new(Causality::Maximal, &trace.names, &trace.batch, &initial_values(&trace, &[]))
}

#[track_caller]
fn races(text: &str, sync_preserving: &[(usize, usize)], others: &[(usize, usize)]) {
    let oracle = oracle(text);
    let easy: BTreeSet<_> = sync_preserving.iter().copied().collect();
    let all: BTreeSet<_> = others.iter().copied().chain(easy.iter().copied()).collect();
    assert_eq!((oracle.sync_preserving_races(), oracle.races()), (easy, all), "{text}");
}

#[test]
fn races_of_small_traces() {
    races("A|w(x)|\nB|w(x)|\n", &[(0, 1)], &[]);
    races("A|r(x)|\nB|ald(x)|\nC|ast(x)|\n", &[(0, 2)], &[]);
    races("A|acq(l)|\nA|w(x)|\nA|rel(l)|\nB|acq(l)|\nB|w(x)|\nB|rel(l)|\n", &[], &[]);
    // A section that can be left out, and one that must come first.
    races("A|w(x)|\nA|acq(l)|\nA|rel(l)|\nB|acq(l)|\nB|rel(l)|\nB|w(x)|\n", &[(0, 5)], &[]);
    races("A|acq(l)|\nA|w(x)|\nA|rel(l)|\nB|acq(l)|\nB|rel(l)|\nB|w(x)|\n", &[], &[(1, 5)]);
    // The read needs its writer, unless another write has an equal value.
    races("A|w(x)=1|\nA|w(y)=1|\nB|r(y)=1|\nB|w(x)=2|\n", &[(1, 2)], &[]);
    races("A|w(x)=1|\nA|w(y)=1|\nC|w(y)=1|\nB|r(y)=1|\nB|w(x)=2|\n", &[(0, 4), (1, 2), (1, 3), (2, 3)], &[]);
    races("C|w(y)=1|\nA|w(x)=1|\nA|w(y)=1|\nB|r(y)=1|\nB|w(x)=2|\n", &[(0, 2), (0, 3), (2, 3)], &[(1, 4)]);
    // Forks and drop barriers order events.
    races("A|w(x)|\nA|fork(B)|\nB|w(x)|\n", &[], &[]);
    races("A|ev(e)|\nA|pin(x,0)|\nA|w(x)|\nB|w(x)|\n", &[(2, 3)], &[]);
    races("A|w(x)|\nA|pin(x,0)|\nB|w(x)|\n", &[], &[]);
    races("A|w(x)|\nA|ev(e)|\nA|pin(x,1)|\nB|w(x)|\n", &[], &[]);
    races("A|w(x)|\nA|rpin(x,1)|\nB|w(x)|\n", &[], &[]);
    races("A|w(x)|\nA|rpin(x,1)|\nB|r(x)|\n", &[(0, 2)], &[]);
    // A free comes after all accesses recorded before it, except the one with which it races.
    races("A|w(m)|\nB|free(m)|\n", &[(0, 1)], &[]);
    races("A|w(m)|\nC|w(m)|\nB|free(m)|\n", &[(0, 1), (0, 2), (1, 2)], &[]);
    races("A|w(m)|\nA|w(m)|\nB|free(m)|\n", &[(1, 2)], &[]);
    races("A|alloc(m)|\nB|w(m)|\n", &[], &[]);
}

#[track_caller]
fn deadlocks(text: &str, sync_preserving: &[&[usize]], others: &[&[usize]]) {
    let oracle = oracle(text);
    let easy: BTreeSet<Vec<usize>> = sync_preserving.iter().map(|cycle| cycle.to_vec()).collect();
    let all: BTreeSet<Vec<usize>> = others.iter().map(|cycle| cycle.to_vec()).chain(easy.iter().cloned()).collect();
    assert_eq!((oracle.sync_preserving_deadlocks(), oracle.deadlocks()), (easy, all), "{text}");
}

#[test]
fn deadlocks_of_small_traces() {
    let a = "A|acq(l)|\nA|acq(k)|\nA|rel(k)|\nA|rel(l)|\n";
    let b = "B|acq(k)|\nB|acq(l)|\nB|rel(l)|\nB|rel(k)|\n";
    deadlocks(&format!("{a}{b}"), &[&[1, 5]], &[]);
    // The section of B must be over before A's.
    deadlocks(&format!("{a}B|acq(l)|\nB|rel(l)|\n{b}"), &[], &[&[1, 7]]);
    let gate = |t: &str, body: &str| format!("{t}|acq(g)|\n{body}{t}|rel(g)|\n");
    deadlocks(&format!("{}{}", gate("A", a), gate("B", b)), &[], &[]);
    deadlocks(&format!("{}{b}", gate("A", a)), &[&[2, 7]], &[]);
    deadlocks(&format!("{a}{b}").replacen("A|acq(k)", "A|tacq(k)", 1), &[], &[]);
    deadlocks(&format!("{a}{b}").replacen("A|acq(l)", "A|tacq(l)", 1), &[&[1, 5]], &[]);
    // Readers do not wait for each other. A reader that requests the lock exclusively waits for the other readers.
    let shared = |t: &str, outer: &str, inner: &str| {
        format!("{t}|racq({outer})|\n{t}|racq({inner})|\n{t}|rrel({inner})|\n{t}|rrel({outer})|\n")
    };
    deadlocks(&format!("{}{}", shared("A", "l", "k"), shared("B", "k", "l")), &[], &[]);
    deadlocks(&format!("{}{b}", shared("A", "l", "k")), &[&[1, 5]], &[]);
    let upgrade = |t: &str| format!("{t}|racq(l)|\n{t}|acq(l)|\n{t}|rel(l)|\n{t}|rrel(l)|\n");
    deadlocks(&format!("{}{}", upgrade("A"), upgrade("B")), &[&[1, 5]], &[]);
    let three = "A|acq(l)|\nB|acq(k)|\nC|acq(j)|\nA|req(k)|\nB|req(j)|\nC|req(l)|\n";
    deadlocks(three, &[&[3, 4, 5]], &[]);
    assert_eq!(oracle(three).observed_deadlocks(), BTreeSet::from([vec![3, 4, 5]]));
    assert_eq!(oracle(&three.replacen("C|req(l)|\n", "", 1)).observed_deadlocks(), BTreeSet::new());
}

#[test]
fn atomicity_of_small_traces() {
    let serial = oracle("A|begin(b)|\nA|r(x)=0|\nA|w(x)=1|\nA|end(b)|\nB|w(x)=2|\n");
    assert!(serial.serialisable(&[0, 1, 2, 3, 4]) && !serial.serialisable(&[0, 1, 4, 2, 3]));
    assert_eq!(serial.observed_atomicity(), BTreeSet::new());
    assert_eq!(serial.predicted_atomicity(), BTreeSet::from([0]));
    assert_eq!(serial.closing(&[0, 1, 4, 2, 3]), [(2, 0)]);
    let observed = oracle("A|begin(b)|\nA|r(x)=0|\nB|w(x)=2|\nA|w(x)=1|\nA|end(b)|\n");
    assert_eq!(observed.observed_atomicity(), BTreeSet::from([0]));
    // One section around both is atomic, two are not.
    let one = "A|begin(b)|\nA|acq(l)|\nA|r(x)|\nA|w(x)|\nA|rel(l)|\nA|end(b)|\nB|acq(l)|\nB|w(x)|\nB|rel(l)|\n";
    assert_eq!(oracle(one).predicted_atomicity(), BTreeSet::new());
    let two = one.replacen("A|w(x)|\n", "A|rel(l)|\nA|acq(l)|\nA|w(x)|\n", 1);
    assert_eq!(oracle(&two).predicted_atomicity(), BTreeSet::from([0]));
    // The read would see another value, which it may as the last event.
    let read = "A|begin(b)|\nA|w(x)=1|\nA|r(x)=1|\nA|end(b)|\nB|w(x)=2|\n";
    assert_eq!(oracle(read).predicted_atomicity(), BTreeSet::from([0]));
    let two_reads = "#! init x=0\nA|begin(b)|\nA|r(x)=0|\nA|end(b)|\nB|w(x)=1|\n";
    assert_eq!(oracle(two_reads).predicted_atomicity(), BTreeSet::new());
    // A nested block belongs to the outermost one. Two blocks may be on one cycle.
    let nested = "A|begin(a)|\nA|w(x)|\nB|begin(b)|\nB|begin(b)|\nB|w(x)|\nB|end(b)|\nB|w(y)|\nA|w(y)|\n";
    assert_eq!(oracle(nested).observed_atomicity(), BTreeSet::from([0, 2]));
    let crossed = "A|begin(a)|\nA|w(x)|\nB|begin(b)|\nB|w(y)|\nB|w(x)|\nA|w(y)|\n";
    assert_eq!(oracle(crossed).observed_atomicity(), BTreeSet::from([0, 2]));
}

#[test]
fn wake_ups_that_are_lost() {
    let outside = "A|r(x)=0|\nA|acq(l)|\nA|wait(c,l)|\nB|w(x)=1|\nB|notify(c)|\nA|woken(c,l)|\n";
    let lost = BTreeSet::from([Wait { wait: 2, notify: 4, test: 0 }]);
    assert_eq!(oracle(outside).lost_wakeups(), lost);
    assert!(oracle(outside).shows_lost_wakeup(&[0, 1, 3, 4, 2], Wait { wait: 2, notify: 4, test: 0 }));
    assert!(!oracle(outside).shows_lost_wakeup(&[3, 4, 0, 1, 2], Wait { wait: 2, notify: 4, test: 0 }));
    let notifier = "B|acq(l)|\nB|w(x)=1|\nB|notify(c)|\nB|rel(l)|\n";
    let inside = format!("A|acq(l)|\nA|r(x)=0|\nA|wait(c,l)|\n{notifier}A|woken(c,l)|\n");
    assert_eq!(oracle(&inside).lost_wakeups(), BTreeSet::new());
    assert_eq!(oracle(&inside).waits(), [Wait { wait: 2, notify: 5, test: 1 }]);
    // Without a notify; never woken; without a test; with a test of a variable that the notifier does not write.
    assert_eq!(oracle(&outside.replace("A|woken(c,l)", "A|woken(c,l)=timeout")).waits(), []);
    assert_eq!(oracle(&outside.replace("A|woken(c,l)|\n", "")).lost_wakeups(), lost);
    assert_eq!(oracle(&outside.replace("r(x)=0", "ev(e)")).waits(), []);
    assert_eq!(oracle(&outside.replace("r(x)=0", "r(y)=0")).waits(), []);
    assert_eq!(oracle(&outside.replace("B|w(x)=1", "C|w(x)=1")).waits(), []);
    // A read of another variable comes between, and is no test.
    let other = outside.replace("A|acq(l)", "A|r(y)=0|\nA|acq(l)");
    assert_eq!(oracle(&other).lost_wakeups(), BTreeSet::from([Wait { wait: 3, notify: 5, test: 0 }]));
    let observed = "A|r(x)=0|\nB|w(x)=1|\nB|notify(c)|\nA|acq(l)|\nA|wait(c,l)|\n";
    assert_eq!(oracle(observed).observed_lost_wakeups(), BTreeSet::from([(4, 0)]));
    assert_eq!(oracle(&format!("{observed}C|notify(c)|\n")).observed_lost_wakeups(), BTreeSet::new());
    assert_eq!(oracle(&observed.replace("A|acq(l)", "A|r(y)|\nA|acq(l)")).observed_lost_wakeups(), BTreeSet::new());
}

/// Shows every order that the definition admits, one by one.
fn every_order(oracle: &Definition, prefix: &mut Vec<usize>, show: &mut dyn FnMut(&[usize])) {
    show(prefix);
    for e in 0..oracle.events().len() {
        if oracle.may_come(prefix, e) {
            prefix.push(e);
            every_order(oracle, prefix, show);
            prefix.pop();
        }
    }
}

/// Enumerating one of several prefixes with equal continuations finds what enumerating all orders finds.
#[test]
fn remembering_loses_nothing() {
    let (mut asked, mut found, mut seed) = (0, [0; 4], 1 << 32);
    while asked < cases(400) {
        seed += 1;
        let text = faulty_trace(&mut Random::new(seed));
        if text.lines().count() > 9 {
            continue;
        }
        asked += 1;
        let oracle = oracle(&text);
        let (mut races, mut deadlocks) = (BTreeSet::new(), BTreeSet::new());
        let (mut violated, mut lost) = (BTreeSet::new(), BTreeSet::new());
        let (conflicts, waits, known) = (oracle.conflicts(), oracle.waits(), oracle.deadlocks());
        every_order(&oracle, &mut Vec::new(), &mut |order| {
            races.extend(conflicts.iter().copied().filter(|&(e, f)| oracle.shows_race(order, e, f)));
            lost.extend(waits.iter().copied().filter(|&wait| oracle.shows_lost_wakeup(order, wait)));
            deadlocks.extend(known.iter().filter(|cycle| oracle.shows_deadlock(order, cycle)).cloned());
            violated.extend(oracle.violated(order));
            for e in (0..oracle.events().len()).filter(|&e| oracle.may_only_end(order, e)) {
                violated.extend(oracle.violated(&[order, &[e]].concat()));
            }
        });
        let all = (oracle.races(), oracle.deadlocks(), oracle.predicted_atomicity(), oracle.lost_wakeups());
        for (count, some) in found.iter_mut().zip([races.len(), deadlocks.len(), violated.len(), lost.len()]) {
            *count += usize::from(some > 0);
        }
        assert_eq!((races, deadlocks, violated, lost), all, "{text}");
    }
    assert!(found.iter().all(|&count| count >= 5), "{found:?}");
}

#[track_caller]
fn wide(text: &str, expected: &[&[usize]]) {
    let expected: BTreeSet<Vec<usize>> = expected.iter().map(|requests| requests.to_vec()).collect();
    assert_eq!(oracle(text).wide_deadlocks(), expected, "{text}");
}

#[test]
fn wide_deadlocks_of_small_traces() {
    // A lock held while joining a thread that needs it.
    let joins = "A|fork(B)|\nB|acq(l)|\nB|rel(l)|\nA|acq(l)|\nA|jreq(B)|\nA|join(B)|\nA|rel(l)|\n";
    wide(joins, &[&[1, 4]]);
    // Not announced, given up, or behind the lock.
    wide(&joins.replace("A|jreq(B)|\n", ""), &[]);
    wide(&joins.replace("A|join(B)|\n", ""), &[]);
    wide("A|fork(B)|\nB|acq(l)|\nB|rel(l)|\nA|acq(l)|\nA|rel(l)|\nA|jreq(B)|\nA|join(B)|\n", &[]);
    // B has the lock only after A's fork inside its section.
    wide("A|acq(l)|\nA|fork(B)|\nA|rel(l)|\nB|acq(l)|\nB|rel(l)|\nA|jreq(B)|\nA|join(B)|\n", &[]);

    // A latch, a semaphore.
    let latch = "B|acq(l)|\nB|rel(l)|\nB|post(o)|\nA|acq(l)|\nA|areq(o)|\nA|await(o)|\nA|rel(l)|\n";
    wide(latch, &[&[0, 4]]);
    // Any other thread may post; whether one post is enough is not known, unless the trace says it.
    wide(&format!("C|post(o)|\n{latch}"), &[]);
    wide(&format!("#! init o=2\nC|post(o)|\n{latch}"), &[&[1, 5]]);
    wide(&format!("#! init o=0\n{latch}"), &[]);
    // Something else than the trace shows grants it.
    wide(&format!("D|await(o)|\n{latch}"), &[]);
    let semaphore = latch.replace("post(o)", "up(s)").replace("areq(o)", "dreq(s)").replace("await(o)", "down(s)");
    wide(&semaphore, &[&[0, 4]]);
    wide(&format!("#! init s=1\n{semaphore}"), &[]);
    wide(&format!("#! init s=1\nC|down(s)|\n{semaphore}"), &[&[1, 5]]);
    wide(&format!("C|up(s)|\n{semaphore}"), &[]);

    // Semaphores as locks.
    let two = |t: &str, s: &str, q: &str| {
        format!("{t}|dreq({s})|\n{t}|down({s})|\n{t}|dreq({q})|\n{t}|down({q})|\n{t}|up({q})|\n{t}|up({s})|\n")
    };
    wide(&format!("#! init s=1 q=1\n{}{}", two("A", "s", "q"), two("B", "q", "s")), &[&[2, 8]]);
    wide(&format!("#! init s=1 q=1\n{}{}", two("A", "s", "q"), two("B", "s", "q")), &[]);
    wide(&format!("#! init s=2 q=1\n{}{}", two("A", "s", "q"), two("B", "q", "s")), &[]);

    // Nested monitors.
    let notifies = "B|acq(k)|\nB|acq(l)|\nB|notify(c)|\nB|rel(l)|\nB|rel(k)|\n";
    let nested = format!("A|acq(k)|\nA|acq(l)|\nA|wait(c,l)|\n{}", &notifies[notifies.find("B|acq(l)").unwrap()..]);
    let nested = nested.replace("B|rel(k)|\n", "A|woken(c,l)|\nA|rel(l)|\nA|rel(k)|\n");
    // B notifies without k in this run, so that no other run is known to fail.
    wide(&nested, &[]);
    let before = "B|acq(k)|\nB|rel(k)|\n";
    wide(&format!("{before}{nested}"), &[&[0, 4]]);

    // A barrier of two.
    let barrier =
        "B|acq(l)|\nB|rel(l)|\nA|acq(l)|\nA|post(b)|\nB|post(b)|\nA|areq(b)|\nB|areq(b)|\nA|await(b)|\nB|await(b)|\n";
    wide(&format!("#! init b=2\n{barrier}"), &[&[0, 5]]);
    wide(barrier, &[]);

    // Who joins a thread that has not begun does not wait.
    wide("B|acq(l)|\nB|fork(C)|\nB|rel(l)|\nC|w(x)|\nA|acq(l)|\nA|jreq(C)|\nA|join(C)|\nA|rel(l)|\n", &[]);
    // What only a thread would grant that one of them forks.
    let forks = "B|acq(l)|\nB|rel(l)|\nB|fork(C)|\nC|post(o)|\nA|acq(l)|\nA|areq(o)|\nA|await(o)|\n";
    wide(forks, &[&[0, 5]]);
    // Observed: the trace ends so.
    let end = "A|fork(B)|\nA|acq(l)|\nA|jreq(B)|\nB|req(l)|\n";
    wide(end, &[&[2, 3]]);
    assert_eq!(oracle(end).observed_wide_deadlocks().len(), 1);
}

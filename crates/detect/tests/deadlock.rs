//! The deadlock detector on programs whose deadlocks are known.

use detect::deadlock::{DeadlockOptions, Deadlocks, Evidence, deadlocks};
use detect::sync_preserving::OnDemand;
use event::{Causality, Value};
use oracle::cases;
use oracle::random::Random;
use trace::Trace;
use trace::text::TextReader;
use witness::check_deadlock;

fn found(text: &str, window: usize) -> Deadlocks {
    let trace = Trace::read(&mut TextReader::new(text.as_bytes())).expect("a trace");
    let initial = |_| Value::Unknown;
    let options = DeadlockOptions { window, ..DeadlockOptions::default() };
    let report = deadlocks(&mut OnDemand::new(&trace.names, &trace.batch), &initial, &options);
    for deadlock in &report.deadlocks {
        let (prefix, requests) = (deadlock.prefix.whole(), deadlock.requests());
        let checked = check_deadlock(Causality::Maximal, &trace.names, &trace.batch, &initial, &prefix, &requests);
        assert_eq!(checked, Ok(()), "{deadlock:?}\n{text}");
    }
    report
}

/// How each is known, and its requests.
fn reported(text: &str) -> Vec<(Evidence, Vec<u64>)> {
    let report = found(text, 10_000);
    assert_eq!((report.undecided, report.apart, report.all_patterns), (0, 0, true));
    report.deadlocks.iter().map(|deadlock| (deadlock.evidence, deadlock.requests())).collect()
}

/// A thread takes locks one in the other, and gives them back.
fn nested(thread: &str, locks: &[&str]) -> String {
    let takes = locks.iter().map(|lock| format!("{thread}|acq({lock})|{thread}:{lock}\n"));
    let gives = locks.iter().rev().map(|lock| format!("{thread}|rel({lock})|\n"));
    takes.chain(gives).collect()
}

#[test]
fn philosophers() {
    let table = |count: usize| -> String {
        let forks: Vec<String> = (0..count).map(|fork| format!("f{fork}")).collect();
        let eats = |p: usize| nested(&format!("P{p}"), &[&forks[p], &forks[(p + 1) % count]]);
        (0..count).map(eats).collect()
    };
    for count in [2, 3, 5, 12] {
        let requests = (0..count as u64).map(|p| 4 * p + 1).collect();
        assert_eq!(reported(&table(count)), [(Evidence::SyncPreserving, requests)], "{count}");
    }
    // The last one takes them in the other order.
    let last = nested("P4", &["f0", "f4"]);
    let table: String = table(5).lines().take(16).map(|line| format!("{line}\n")).chain([last]).collect();
    assert_eq!(reported(&table), []);
}

#[test]
fn what_one_of_them_does_before() {
    let (a, b) = (nested("A", &["l", "k"]), nested("B", &["k", "l"]));
    assert_eq!(reported(&format!("{a}{b}")), [(Evidence::SyncPreserving, vec![1, 5])]);
    // B's first section of l must come before A's.
    let first = nested("B", &["l"]);
    assert_eq!(reported(&format!("{a}{first}{b}")), [(Evidence::Maximal, vec![1, 7])]);
    // B begins only when A is ready.
    assert_eq!(reported(&format!("{a}A|w(x)=1|\nB|r(x)=1|\n{b}")), []);
    assert_eq!(reported(&format!("{a}A|fork(B)|\n{b}")), []);
    assert_eq!(reported(&format!("{a}A|post(o)|\nB|await(o)|\n{b}")), []);
    // A gate.
    assert_eq!(reported(&format!("{}{}", nested("A", &["g", "l", "k"]), nested("B", &["g", "k", "l"]))), []);
    assert_eq!(reported(&format!("{a}{b}").replacen("A|acq(k)", "A|tacq(k)", 1)), []);
}

#[test]
fn a_deadlock_that_happened() {
    let text = "A|acq(l)|1\nB|acq(k)|2\nA|req(k)|3\nB|req(l)|4\n";
    let report = found(text, 10_000);
    let [deadlock] = &report.deadlocks[..] else { panic!("{report:?}") };
    assert_eq!((deadlock.evidence, deadlock.requests()), (Evidence::Observed, vec![2, 3]));
    assert_eq!(deadlock.blocked[0].holds.event, 0);
    assert_eq!(deadlock.prefix.whole(), [0, 1]);
    // An access that a drop barrier holds back until one of the requests is no part of the way there.
    assert_eq!(reported(&format!("{text}C|w(x)|\n").replacen("A|acq(l)", "A|pin(x,2)|\nA|acq(l)", 1)).len(), 1);
    // With another thread that goes on, it is the same.
    assert_eq!(reported(&format!("{text}C|w(x)|\n")), [(Evidence::Observed, vec![2, 3])]);
}

#[test]
fn waits_and_readers() {
    // What a wait gave up is held again when it ends.
    let waits = "A|acq(l)|\nA|wait(c,l)|\nB|notify(c)|\nA|woken(c,l)|\nA|acq(k)|\nA|rel(k)|\nA|rel(l)|\n";
    let report = found(&format!("{waits}{}", nested("B", &["k", "l"])), 10_000);
    let [deadlock] = &report.deadlocks[..] else { panic!("{report:?}") };
    assert_eq!((deadlock.requests(), deadlock.blocked[0].holds.event), (vec![4, 8], 3));
    let reader = "A|racq(l)|\nA|acq(k)|\nA|rel(k)|\nA|rrel(l)|\n";
    let writer = nested("B", &["k", "l"]);
    assert_eq!(reported(&format!("{reader}{writer}")), [(Evidence::SyncPreserving, vec![1, 5])]);
    assert_eq!(reported(&format!("{reader}{}", writer.replace("acq(l)", "racq(l)").replace("rel(l)", "rrel(l)"))), []);
    let upgrade = |t: &str| format!("{t}|racq(l)|\n{t}|acq(l)|\n{t}|rel(l)|\n{t}|rrel(l)|\n");
    assert_eq!(reported(&format!("{}{}", upgrade("A"), upgrade("B"))), [(Evidence::SyncPreserving, vec![1, 5])]);
}

#[test]
fn requests_of_a_loop_are_one() {
    let (a, b) = (nested("A", &["l", "k"]), nested("B", &["k", "l"]));
    // Each round of B waits for the one of A before: only the last round of A meets one of B that can wait for it.
    let round = |n: usize| format!("{a}A|w(x)={n}|\nB|r(x)={n}|\n{b}");
    let rounds: String = (0..100).map(round).collect();
    let report = found(&rounds, 10_000);
    assert_eq!((report.candidates, report.patterns, report.deadlocks.len()), (1, 1, 1), "{report:?}");
    // So far apart that no window has both.
    let apart = format!("{}{a}{}{b}", nested("B", &["l"]), "C|w(y)|\n".repeat(100));
    let reversed = format!("{a}{}{}{b}", "C|w(y)|\n".repeat(100), nested("B", &["l"]));
    assert_eq!(found(&apart, 20).deadlocks.len(), 1, "sync-preserving prefixes know no windows");
    let report = found(&reversed, 20);
    assert_eq!((report.deadlocks.len(), report.apart, report.windows > 5), (0, 1, true), "{report:?}");
    assert_eq!(found(&reversed, 1000).deadlocks.len(), 1);
}

/// Whatever the trace says, nothing breaks, and what passes the checker is kept.
#[test]
fn garbage_is_survived() {
    let ops = ["acq(L)", "rel(L)", "racq(L)", "rrel(L)", "tacq(L)", "tfail(L)", "req(L)", "wait(c,L)", "woken(c,L)"];
    let more = [
        "fork(T)",
        "join(T)",
        "notify(c)",
        "r(x)",
        "w(x)",
        "up(s)",
        "down(s)",
        "alloc(x)",
        "free(x)",
        "pin(x,1)",
        "rpin(x,1)",
    ];
    let (mut good, mut refused) = (0, 0);
    for seed in 0..cases(3_000) {
        let mut r = Random::new(seed);
        let line = |r: &mut Random| {
            let op = if r.percent(85) { *r.pick(&ops) } else { *r.pick(&more) };
            let threads = ["A", "B", "C"];
            let (lock, thread, other) = (*r.pick(&["l", "k", "j"]), *r.pick(&threads), *r.pick(&threads));
            let op = op.replace('L', lock).replace('T', other);
            format!("{thread}|{op}|{}\n", r.below(5))
        };
        let text: String = (0..10 + r.below(40)).map(|_| line(&mut r)).collect();
        let trace = Trace::read(&mut TextReader::new(text.as_bytes())).expect("a trace");
        let initial = |_| Value::Unknown;
        let window = 1 + r.below(60);
        let options = DeadlockOptions { window, question_steps: 10_000, ..DeadlockOptions::default() };
        for deadlock in deadlocks(&mut OnDemand::new(&trace.names, &trace.batch), &initial, &options).deadlocks {
            let (prefix, requests) = (deadlock.prefix.whole(), deadlock.requests());
            match check_deadlock(Causality::Maximal, &trace.names, &trace.batch, &initial, &prefix, &requests) {
                Ok(()) => good += 1,
                Err(_) => refused += 1,
            }
        }
    }
    println!("{good} pass, {refused} are refused");
    assert!(good > 0);
}

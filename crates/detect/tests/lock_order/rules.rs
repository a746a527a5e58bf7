//! One rule each: readers, tries, waits, re-entrance, forks and joins, unanswered requests, bounds.

use super::support::{check, read, run, show};
use detect::lock_order::{LockOrder, LockOrderOptions};

#[test]
fn forks_and_joins_rule_out() {
    let ab = "acq(a)|1\nT|acq(b)|2\nT|rel(b)|\nT|rel(a)|\n";
    let ba = "acq(b)|3\nT|acq(a)|4\nT|rel(a)|\nT|rel(b)|\n";
    let part = |thread: &str, part: &str| format!("{thread}|{}", part.replace("T|", &format!("{thread}|")));
    let (main, child, other) = (part("M", ab), part("C", ba), part("D", ba));
    check(&format!("{main}M|fork(C)|\n{child}"), &[]);
    check(&format!("M|fork(C)|\n{child}M|join(C)|\n{main}"), &[]);
    check(&format!("M|fork(C)|\n{main}{child}"), &["M a>b 2, C b>a 4"]);
    // Only the second of three times is concurrent with the child.
    check(&format!("{main}M|fork(C)|\n{main}{child}M|join(C)|\n{main}"), &["M a>b 2, C b>a 4"]);
    // One child ends before the next begins.
    let first = part("C", ab);
    check(&format!("M|fork(C)|\n{first}M|join(C)|\nM|fork(D)|\n{other}"), &[]);
    check(&format!("M|fork(C)|\n{first}M|fork(D)|\nM|join(C)|\n{other}"), &["C a>b 2, D b>a 4"]);
}

#[test]
fn forks_and_joins_that_cannot_be_do_no_harm() {
    let ab = "T|acq(a)|1\nT|acq(b)|2\nT|rel(b)|\nT|rel(a)|\n";
    let ba = "U|acq(b)|3\nU|acq(a)|4\nU|rel(a)|\nU|rel(b)|\n";
    let odd = "T|fork(T)|\nT|join(T)|\nU|fork(T)|\nT|fork(U)|\nU|join(T)|\nT|join(U)|\n";
    check(&format!("{odd}{ab}{odd}{ba}"), &[]);
    check(&format!("T|fork(T)|\nT|join(T)|\n{ab}{ba}"), &["T a>b 2, U b>a 4"]);
}

#[test]
fn readers_do_not_wait_for_each_other() {
    let run = |first: &str, second: &str| {
        let rel = |acq: &str| if acq == "racq" { "rrel" } else { "rel" };
        let (r1, r2) = (rel(first), rel(second));
        format!(
            "T|acq(a)|1\nT|{first}(b)|2\nT|{r1}(b)|\nT|rel(a)|\nU|{second}(b)|3\nU|acq(a)|4\nU|rel(a)|\nU|{r2}(b)|\n"
        )
    };
    check(&run("racq", "racq"), &[]);
    check(&run("acq", "racq"), &["T a>b 2, U b>a 4"]);
    check(&run("racq", "acq"), &["T a>b 2, U b>a 4"]);
    // A gate that both only share is none.
    let gate = |u: &str| {
        let first = "T|racq(g)|0\nT|acq(a)|1\nT|acq(b)|2\nT|rel(b)|\nT|rel(a)|\nT|rrel(g)|\n";
        format!("{first}U|{u}(g)|0\nU|acq(b)|3\nU|acq(a)|4\n")
    };
    check(&gate("racq"), &["T a>b 2, U b>a 4"]);
    check(&gate("acq"), &[]);
}

#[test]
fn two_readers_that_want_to_write_wait_for_each_other() {
    let upgrade = |t: &str| format!("{t}|racq(l)|1\n{t}|acq(l)|2\n{t}|rel(l)|3\n{t}|rrel(l)|4\n");
    check(&format!("{}{}", upgrade("T"), upgrade("U")), &["T l>l 2, U l>l 2"]);
    check(&upgrade("T"), &[]);
    // Downgrades do not ask.
    let down = |t: &str| format!("{t}|acq(l)|1\n{t}|racq(l)|2\n{t}|rel(l)|3\n{t}|rrel(l)|4\n");
    check(&format!("{}{}", down("T"), down("U")), &[]);
}

#[test]
fn what_is_left_after_a_downgrade_is_shared() {
    let text = "T|acq(l)|1\nT|racq(l)|2\nT|rel(l)|3\nT|acq(a)|4\nT|rel(a)|\nT|rrel(l)|\n";
    check(&format!("{text}U|acq(a)|5\nU|racq(l)|6\n"), &[]);
    check(&format!("{text}U|acq(a)|5\nU|acq(l)|6\n"), &["T l>a 4, U a>l 6"]);
}

#[test]
fn a_try_does_not_wait_but_holds() {
    check("T|acq(a)|1\nT|tacq(b)|2\nT|rel(b)|\nT|rel(a)|\nU|acq(b)|3\nU|acq(a)|4\n", &[]);
    check("T|tacq(a)|1\nT|acq(b)|2\nT|rel(b)|\nT|rel(a)|\nU|tacq(b)|3\nU|acq(a)|4\n", &["T a>b 2, U b>a 4"]);
    check("T|acq(a)|1\nT|tfail(b)|2\nT|rel(a)|\nU|acq(b)|3\nU|acq(a)|4\n", &[]);
}

#[test]
fn re_entrant_acquires_have_no_effect() {
    let inner = "T|acq(a)|1\nT|acq(b)|2\nT|acq(a)|3\nT|rel(a)|\nT|rel(b)|\nT|rel(a)|\n";
    check(&format!("{inner}U|acq(a)|4\nU|acq(b)|5\nU|rel(b)|\nU|rel(a)|\n"), &[]);
    // Given back once of twice, it is still held.
    check(
        "T|acq(a)|1\nT|acq(a)|2\nT|rel(a)|\nT|acq(b)|3\nT|rel(b)|\nT|rel(a)|\nU|acq(b)|4\nU|acq(a)|5\n",
        &["T a>b 3, U b>a 5"],
    );
}

#[test]
fn locks_may_be_given_back_in_any_order() {
    // Hand over hand: when c is taken, a is no longer held.
    let hand = "T|acq(a)|1\nT|acq(b)|2\nT|rel(a)|\nT|acq(c)|3\nT|rel(b)|\nT|rel(c)|\n";
    check(&format!("{hand}U|acq(c)|4\nU|acq(a)|5\nU|rel(a)|\nU|rel(c)|\n"), &[]);
    check(&format!("{hand}U|acq(c)|4\nU|acq(b)|5\nU|rel(b)|\nU|rel(c)|\n"), &["T b>c 3, U c>b 5"]);
}

#[test]
fn a_wait_gives_the_lock_up_and_asks_for_it_again() {
    let waits = "T|acq(l)|1\nT|acq(k)|2\nT|wait(l)|3\nU|acq(l)|4\nU|notify(l)|\nU|rel(l)|\nT|woken(l)|5\n";
    let end = "T|rel(l)|\nT|rel(k)|\n";
    // Awake, it has k and asks for l.
    check(&format!("{waits}{end}V|acq(l)|6\nV|acq(k)|7\n"), &["V l>k 7, T k>l 5"]);
    // While it waits, it holds only k: m is not taken under l.
    let meanwhile = "T|acq(l)|1\nT|wait(l)|2\nT|acq(m)|3\nT|rel(m)|\n";
    check(&format!("{meanwhile}V|acq(m)|6\nV|acq(l)|7\n"), &[]);
}

#[test]
fn requests_without_an_answer_count_and_a_deadlock_can_have_happened() {
    let text = "T|acq(a)|1\nU|acq(b)|2\nT|req(b)|3\nU|req(a)|4\n";
    check(text, &["T a>b 3, U b>a 4"]);
    let trace = read(text);
    assert!(run(&trace.names, &trace.batch, LockOrderOptions::default()).cycles[0].happened());
    // Answered after all, and once before without trouble: only one of the two hangs.
    let text = "T|acq(a)|1\nT|req(b)|2\nT|acq(b)|2\nT|rel(b)|\nT|rel(a)|\nU|acq(b)|3\nU|req(a)|4\n";
    let trace = read(text);
    let report = run(&trace.names, &trace.batch, LockOrderOptions::default());
    assert_eq!(show(&trace.names, &report.cycles[0]), "T a>b 2, U b>a 4");
    assert_eq!(
        report.cycles[0].requests.iter().map(|r| (r.count, r.unanswered)).collect::<Vec<_>>(),
        [(1, false), (1, true)]
    );
    // A reader's request, answered, is a reader's.
    check("T|acq(a)|1\nT|req(b)|2\nT|racq(b)|2\nU|racq(b)|3\nU|acq(a)|4\n", &[]);
}

#[test]
fn sites_tell_cycles_apart_and_threads_do_not() {
    let ab = |t: &str, site: u32| format!("{t}|acq(a)|1\n{t}|acq(b)|{site}\n{t}|rel(b)|\n{t}|rel(a)|\n");
    let ba = "U|acq(b)|3\nU|acq(a)|4\nU|rel(a)|\nU|rel(b)|\n";
    check(&[&ab("T", 2), &ab("V", 2), ba].concat(), &["T a>b 2, U b>a 4"]);
    check(&[&ab("T", 2), &ab("V", 5), ba].concat(), &["T a>b 2, U b>a 4", "V a>b 5, U b>a 4"]);
    // U itself is no partner of U, but V is.
    check(&[&ab("U", 2), ba, &ab("V", 2)].concat(), &["V a>b 2, U b>a 4"]);
}

#[test]
fn bounds_are_reported() {
    // Every pair of six locks in both orders, by two threads.
    let mut text = String::new();
    for (a, b) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))).filter(|(a, b)| a != b) {
        let thread = if a < b { "T" } else { "U" };
        text += &format!("{thread}|acq(l{a})|\n{thread}|acq(l{b})|\n{thread}|rel(l{b})|\n{thread}|rel(l{a})|\n");
    }
    let trace = read(&text);
    let with = |options| run(&trace.names, &trace.batch, options);
    let all = with(LockOrderOptions::default());
    assert_eq!((all.cycles.len(), all.left_out, all.complete), (15, 0, true));
    let few = with(LockOrderOptions { cycles: 4, ..LockOrderOptions::default() });
    assert_eq!((few.cycles.len(), few.left_out, few.complete), (4, 11, true));
    assert_eq!(few.cycles, all.cycles[..4]);
    let short = with(LockOrderOptions { steps: 50, ..LockOrderOptions::default() });
    assert!(!short.complete && short.searched < 2 && short.cycles.len() < 15);
    let small = with(LockOrderOptions { nodes: 10, ..LockOrderOptions::default() });
    assert!(small.unrecorded > 0 && small.cycles.len() < 15);
}

#[test]
fn locks_nested_very_deep_are_counted_and_given_back() {
    let mut text = String::new();
    (0..1000).for_each(|k| text += &format!("T|acq(l{k})|\n"));
    (0..1000).for_each(|k| text += &format!("T|rel(l{k})|\n"));
    text += "T|acq(a)|1\nT|acq(b)|2\nT|rel(b)|\nT|rel(a)|\nU|acq(b)|3\nU|acq(a)|4\n";
    let trace = read(&text);
    let report = run(&trace.names, &trace.batch, LockOrderOptions::default());
    assert_eq!(report.unrecorded, 1000 - 128);
    assert_eq!(report.cycles.iter().map(|c| show(&trace.names, c)).collect::<Vec<_>>(), ["T a>b 2, U b>a 4"]);
}

/// Threads that come and go, every operation, orders against the usual: the same answer twice, and in any batches.
#[test]
fn a_generated_run_gives_the_same_answer_in_one_batch_and_in_many() {
    let options = generate::Options {
        events: 60_000,
        all_ops: true,
        churn: 0.02,
        rev: 0.05,
        nest: 0.3,
        locks: 12,
        ..generate::Options::default()
    };
    let mut source = generate::Generator::new(options.clone()).expect("options that make sense");
    let trace = trace::Trace::read(&mut source).expect("a generator does not fail");
    let whole = run(&trace.names, &trace.batch, LockOrderOptions::default());
    let mut detector = LockOrder::new(LockOrderOptions::default());
    let mut source = generate::Generator::new(options).expect("options that make sense");
    let mut batch = event::Batch::default();
    while trace::Source::next_batch(&mut source, &mut batch).expect("a generator does not fail") {
        detector.batch(trace::Source::names(&source), &batch);
    }
    let stream = detector.finish();
    assert!(!whole.cycles.is_empty());
    assert_eq!(whole.cycles, stream.cycles);
    // Each example is what it says: its events are there, and the locks go around.
    for cycle in &whole.cycles {
        let next = cycle.requests.iter().cycle().skip(1);
        for (request, next) in cycle.requests.iter().zip(next) {
            let event = trace.batch.events[request.event as usize];
            assert_eq!((event.thread(), event.site()), (request.thread, request.site));
            assert_eq!(request.lock, next.holder().lock);
            assert!(request.mode.excludes(next.holder().mode));
        }
    }
}

/// As `deadlock` and the checker have it: who wakes has the lock, even if its wait had none to give up.
#[test]
fn a_wait_without_its_lock() {
    let wakes = "T|acq(k)|1\nT|wait(l)|2\nT|woken(l)|3\nT|rel(l)|\nT|rel(k)|\n";
    check(&format!("{wakes}U|acq(l)|4\nU|acq(k)|5\n"), &["T k>l 3, U l>k 5"]);
    // What an earlier wait gave up is of no account.
    let twice = "T|acq(l)|1\nT|acq(l)|1\nT|wait(l)|2\nT|wait(l)|2\nT|acq(k)|1\nT|woken(l)|3\nT|rel(l)|\nT|acq(m)|6\n";
    check(&format!("{twice}U|acq(m)|4\nU|acq(l)|5\n"), &[]);
}

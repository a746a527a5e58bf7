//! Atomic blocks are serialisable, except for the one violation that was asked for.

use event::{Event, Op, Space};
use generate::{Generator, Options};
use std::collections::HashMap;
use trace::Trace;

/// The transaction of each event: its outermost block, or itself alone.
fn transactions(events: &[Event]) -> Vec<usize> {
    let mut open: HashMap<u32, (usize, usize)> = HashMap::new();
    let mut next = 0;
    let mut all = Vec::new();
    for e in events {
        let (transaction, depth) = open.entry(e.thread().0).or_insert((0, 0));
        if *depth == 0 {
            *transaction = next;
            next += 1;
        }
        match e.op() {
            Op::Begin => *depth += 1,
            Op::End => *depth -= 1,
            _ => {}
        }
        all.push(*transaction);
    }
    all
}

/// What an event reads (`false`) and writes (`true`), in the sense of conflicts.
fn touched(trace: &Trace, e: Event) -> Vec<(Space, u32, bool)> {
    let lock = (Space::Lock, trace.batch.extra(e).lock.0, true);
    match e.op() {
        Op::Read => vec![(Space::Var, e.object(), false)],
        Op::Write => vec![(Space::Var, e.object(), true)],
        Op::Acquire | Op::Release => vec![(Space::Lock, e.object(), true)],
        Op::ReadAcquire | Op::ReadRelease => vec![(Space::Lock, e.object(), false)],
        Op::Wait | Op::Woken => vec![(Space::Cond, e.object(), true), lock],
        Op::Notify | Op::NotifyAll => vec![(Space::Cond, e.object(), true)],
        Op::Fork | Op::Join => vec![(Space::Thread, e.object(), true)],
        Op::Begin | Op::End => vec![],
        op => panic!("{} is not part of this test", op.text()),
    }
}

/// Whether the conflicts between transactions, and the order within threads, have no cycle.
fn serialisable(trace: &Trace) -> bool {
    let events = &trace.batch.events;
    let of = transactions(events);
    let mut successors = vec![Vec::new(); of.iter().max().map_or(0, |m| m + 1)];
    let mut incoming = vec![0; successors.len()];
    for (later, &b) in events.iter().enumerate() {
        let mut mine = touched(trace, b);
        mine.push((Space::Thread, b.thread().0, true));
        for (earlier, &a) in events[..later].iter().enumerate() {
            let mut theirs = touched(trace, a);
            theirs.push((Space::Thread, a.thread().0, true));
            let conflict = mine.iter().any(|m| theirs.iter().any(|t| (m.0, m.1) == (t.0, t.1) && (m.2 || t.2)));
            if of[earlier] != of[later] && conflict {
                successors[of[earlier]].push(of[later]);
                incoming[of[later]] += 1;
            }
        }
    }
    let mut ready: Vec<usize> = (0..incoming.len()).filter(|&t| incoming[t] == 0).collect();
    let mut sorted = 0;
    while let Some(t) = ready.pop() {
        sorted += 1;
        for &s in &successors[t] {
            incoming[s] -= 1;
            if incoming[s] == 0 {
                ready.push(s);
            }
        }
    }
    sorted == incoming.len()
}

fn options(seed: u64) -> Options {
    Options {
        seed,
        events: 300,
        threads: 4,
        vars: 40,
        locks: 4,
        quantum: 3.0,
        cslen: 3.0,
        pcs: 0.3,
        racy: 0.2,
        nest: 0.5,
        rev: 0.5,
        txn: true,
        ..Options::default()
    }
}

fn generate(options: Options) -> Trace {
    let mut generator = Generator::new(options).expect("these options make sense");
    Trace::read(&mut generator).expect("a generator does not fail")
}

#[test]
fn blocks_are_serialisable() {
    for seed in 0..30 {
        let plain = options(seed);
        for options in [
            plain.clone(),
            Options { waits: 0.5, ..plain.clone() },
            Options { readers: 0.5, waits: 0.3, churn: 0.2, ..plain },
        ] {
            assert!(serialisable(&generate(options.clone())), "{options:?}");
        }
    }
}

#[test]
fn the_violation_asked_for_is_always_there() {
    for seed in 0..30 {
        for viol in [0, 150, 299] {
            let options = Options { viol: Some(viol), waits: 0.2, churn: 0.2, ..options(seed) };
            assert!(!serialisable(&generate(options.clone())), "{options:?}");
        }
    }
}

//! Every generated trace obeys the rules of well-formed traces, whatever the options.

use crate::checker::check;
use event::{Batch, Event, Extra, Op, Order, Space, Value, Wake};
use generate::{Generator, Options};
use std::collections::HashSet;
use trace::{Source, Trace};

fn generate(options: &Options) -> Trace {
    let mut generator = Generator::new(options.clone()).unwrap_or_else(|e| panic!("{options:?}: {e}"));
    Trace::read(&mut generator).expect("a generator does not fail")
}

/// A small program in which threads meet often.
fn small() -> Options {
    Options {
        events: 1000,
        threads: 4,
        vars: 60,
        locks: 5,
        quantum: 6.0,
        cslen: 3.0,
        pcs: 0.2,
        racy: 0.05,
        nest: 0.4,
        rev: 0.5,
        ..Options::default()
    }
}

fn everything() -> Options {
    Options { txn: true, values: true, readers: 0.3, waits: 0.3, churn: 0.05, all_ops: true, ..small() }
}

fn watched(options: Options) -> Options {
    Options { watch: ["a", "b", "c"].map(String::from).into(), ..options }
}

fn option_sets() -> Vec<Options> {
    let busy = Options { pcs: 0.9, nest: 1.0, locks: 3, ..small() };
    vec![
        small(),
        Options { threads: 1, ..small() },
        Options { threads: 1, all_ops: true, values: true, ..small() },
        Options { threads: 30, ..small() },
        Options { vars: 11, locks: 2, threads: 4, ..small() },
        Options { quantum: 1.0, cslen: 1.0, ..small() },
        Options { quantum: 500.0, ..small() },
        Options { txn: true, viol: Some(10), ..small() },
        Options { values: true, ..small() },
        Options { readers: 0.5, ..small() },
        Options { readers: 1.0, ..small() },
        Options { waits: 0.5, ..small() },
        Options { waits: 1.0, txn: true, readers: 0.5, ..busy.clone() },
        Options { waits: 0.5, stranded: true, ..small() },
        Options { churn: 0.3, ..small() },
        Options { churn: 1.0, waits: 0.5, quantum: 3.0, ..small() },
        Options { all_ops: true, ..small() },
        Options { all_ops: true, txn: true, ..busy.clone() },
        Options { all_ops: true, threads: 12, values: true, readers: 0.5, waits: 0.5, quantum: 2.0, ..busy },
        Options { all_ops: true, stranded: true, churn: 0.1, ..small() },
        Options { viol: Some(5), ..everything() },
        Options { watch_every: 10.0, plant: Some(30), ..watched(small()) },
        Options { watch_every: 1.0, plant: Some(49), ..watched(everything()) },
        everything(),
    ]
}

#[test]
fn all_rules_hold_for_many_seeds_and_options() {
    for (k, set) in option_sets().into_iter().enumerate() {
        let mut stranded = 0;
        for seed in 0..120 {
            // Sizes from 50 to 5000, mostly small.
            let events = 50 + (seed * 7919 + k as u64 * 31) % [200, 500, 1500, 4950][seed as usize % 4];
            let options = Options { seed, events, ..set.clone() };
            let trace = generate(&options);
            let summary = check(&trace, options.stranded).unwrap_or_else(|why| panic!("{options:?}: {why}"));
            let at_once = summary.most_live;
            assert!(at_once <= options.threads as usize, "{options:?}: {at_once} threads at once");
            assert_eq!(trace.batch.events.len() as u64, events, "{options:?}");
            stranded += summary.stranded;
        }
        assert_eq!(stranded > 0, set.stranded, "{set:?}");
    }
}

#[test]
fn even_the_shortest_lengths_are_met_exactly() {
    for set in option_sets() {
        for events in 1..60 {
            let viol = set.viol.filter(|&k| k < events);
            let plant = set.plant.filter(|&k| k < events);
            let options = Options { events, viol, plant, ..set.clone() };
            let trace = generate(&options);
            check(&trace, options.stranded).unwrap_or_else(|why| panic!("{options:?}: {why}"));
            assert_eq!(trace.batch.events.len() as u64, events, "{options:?}");
        }
    }
}

#[test]
fn all_ops_means_every_operation_in_every_form() {
    let trace = generate(&Options { events: 20_000, all_ops: true, values: true, ..small() });
    let (batch, names) = (&trace.batch, &trace.names);
    let ops: HashSet<Op> = batch.events.iter().map(|e| e.op()).collect();
    for op in Op::ALL {
        assert!(ops.contains(op), "no {}", op.text());
    }
    let orders: HashSet<(Op, Order)> =
        batch.events.iter().filter(|e| e.op().has_order()).map(|&e| (e.op(), batch.extra(e).order)).collect();
    assert_eq!(orders.len(), 3 + 3 + 5 + 4, "{orders:?}");
    let wakes: HashSet<Wake> =
        batch.events.iter().filter(|e| e.op() == Op::Woken).map(|&e| batch.extra(e).wake).collect();
    assert_eq!(wakes.len(), Wake::ALL.len());
    let kinds: HashSet<_> = batch.args.iter().map(std::mem::discriminant).collect();
    assert_eq!(kinds.len(), 4, "booleans, integers, reals and strings");
    assert!(batch.inits.iter().any(|i| names.str(i.name).starts_with('S')), "an initial count");
    assert!(batch.inits.iter().any(|i| names.str(i.name).starts_with('V')), "an initial value");

    let allocated: Vec<u32> = batch.events.iter().filter(|e| e.op() == Op::Alloc).map(|e| e.object()).collect();
    let distinct: HashSet<u32> = allocated.iter().copied().collect();
    assert!(distinct.len() > 1 && distinct.len() < allocated.len(), "fresh and reused memory");
    assert!(deepest(batch, Op::Begin, Op::End) >= 2, "nested blocks");
    assert!(batch.events.iter().any(|e| e.op() == Op::Begin && e.object() == 0), "a block without a name");
    let own_monitor = |e: &&Event| e.op() == Op::Wait && names.cond(e.cond()) == names.lock(batch.extra(**e).lock);
    assert!(batch.events.iter().any(|e| own_monitor(&e)), "a lock that is its own condition");
    assert!(waits_at_depth_two(batch), "a wait that gives a re-entrant lock up");
}

/// How deep one thread opens without closing.
fn deepest(batch: &Batch, open: Op, close: Op) -> usize {
    let mut depths = std::collections::HashMap::new();
    let mut deepest = 0;
    for e in &batch.events {
        let depth = depths.entry(e.thread()).or_insert(0);
        if e.op() == open {
            *depth += 1;
            deepest = deepest.max(*depth);
        } else if e.op() == close {
            *depth -= 1;
        }
    }
    deepest
}

fn waits_at_depth_two(batch: &Batch) -> bool {
    let mut depths = std::collections::HashMap::new();
    for &e in &batch.events {
        match e.op() {
            Op::Acquire | Op::TryAcquire => *depths.entry((e.thread(), e.lock())).or_insert(0) += 1,
            Op::Release => *depths.entry((e.thread(), e.lock())).or_insert(0) -= 1,
            Op::Wait if depths[&(e.thread(), batch.extra(e).lock)] == 2 => return true,
            _ => {}
        }
    }
    false
}

#[test]
fn the_checker_notices_what_is_missing() {
    let trace = generate(&Options { events: 5000, ..everything() });
    check(&trace, false).expect("whole, it is well formed");
    let paired = [
        Op::Acquire,
        Op::Release,
        Op::ReadAcquire,
        Op::ReadRelease,
        Op::TryAcquire,
        Op::Fork,
        Op::Join,
        Op::Wait,
        Op::Woken,
        Op::Begin,
        Op::End,
    ];
    for op in paired {
        let mut broken = trace.clone();
        let first = broken.batch.events.iter().position(|e| e.op() == op).expect("everything is there");
        broken.batch.events.remove(first);
        assert!(check(&broken, false).is_err(), "{} may not be missing", op.text());
    }
    for ops in [&[Op::Notify, Op::NotifyAll][..], &[Op::Up], &[Op::Post], &[Op::Alloc], &[Op::Write]] {
        let mut broken = trace.clone();
        broken.batch.events.retain(|e| !ops.contains(&e.op()));
        assert!(check(&broken, false).is_err(), "{ops:?} may not all be missing");
    }
    let mut broken = trace.clone();
    let read = broken.batch.events.iter().find(|&&e| e.op() == Op::Read && e.extra() != 0).copied();
    let extra = read.expect("a read with a value").extra() as usize;
    broken.batch.extras[extra].value = Value::Int(-1);
    assert!(check(&broken, false).is_err(), "a read of what was never written");
}

#[test]
fn values_are_on_every_write_and_every_read_of_something_known() {
    let trace = generate(&Options { values: true, ..small() });
    let batch = &trace.batch;
    let known = |&&e: &&Event| batch.extra(e).value.is_known();
    let writes = batch.events.iter().filter(|e| e.op() == Op::Write);
    assert!(writes.clone().count() > 100);
    assert_eq!(writes.clone().filter(known).count(), writes.count());
    let plain = generate(&small());
    assert!(plain.batch.events.iter().all(|&e| *plain.batch.extra(e) == Extra::default()));
}

#[test]
fn churn_makes_new_threads() {
    let trace = generate(&Options { churn: 0.2, events: 20_000, ..small() });
    assert!(trace.names.space(Space::Thread).len() > 50);
    let without = generate(&Options { events: 20_000, ..small() });
    assert_eq!(without.names.space(Space::Thread).len(), 4);
}

#[test]
fn batches_follow_each_other_and_end() {
    let options = Options { events: 50_000, all_ops: true, values: true, ..small() };
    let mut generator = Generator::new(options).expect("these options make sense");
    let mut batch = Batch::default();
    let (mut next, mut batches) = (0, 0);
    while generator.next_batch(&mut batch).expect("a generator does not fail") {
        assert_eq!(batch.first, next);
        assert_eq!(batch.inits.is_empty(), batches > 0, "initial values stand at the beginning");
        next += batch.events.len() as u64;
        batches += 1;
    }
    assert!(batches > 1 && batch.is_empty());
    assert_eq!(next, 50_000);
    assert!(!generator.next_batch(&mut batch).expect("a generator does not fail"), "the end stays the end");
}

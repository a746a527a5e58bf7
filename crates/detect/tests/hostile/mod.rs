//! Traces that no recorder would write: the detectors come to an end, within their bounds, and say what they left out.

mod searches;

use detect::hb::Hb;
use detect::lock_order::{LockOrder, LockOrderOptions, LockOrderReport};
use detect::lockset::Lockset;
use detect::{Race, Races};
use event::{Batch, Event, Extra, LockId, Names, Op, Order, SiteId, Space, ThreadId, Value, Wake};

#[derive(Default)]
struct Run {
    names: Names,
    batch: Batch,
}

impl Run {
    fn new(threads: u32, others: u32) -> Run {
        let mut run = Run::default();
        for space in [Space::Thread, Space::Var, Space::Lock, Space::Cond, Space::Latch, Space::Sem, Space::Block] {
            let many = if space == Space::Thread { threads } else { others };
            (0..many).for_each(|k| _ = run.names.add(space, &format!("{k}")).expect("room"));
        }
        run.names.add(Space::Label, "e").expect("room");
        run
    }

    fn push(&mut self, thread: u32, op: Op, object: u32) {
        self.push_with(thread, op, object, Extra::default());
    }

    fn push_with(&mut self, thread: u32, op: Op, object: u32, extra: Extra) {
        let extra = self.batch.add_extra(extra);
        let site = SiteId(self.batch.events.len() as u32 % 16);
        self.batch.events.push(Event::with_extra(ThreadId(thread), op, object, site, extra));
    }

    fn hb(&self) -> Races {
        let mut hb = Hb::new();
        hb.batch(&self.names, &self.batch);
        hb.finish()
    }

    fn lockset(&self) -> Races {
        let mut lockset = Lockset::new();
        lockset.batch(&self.names, &self.batch);
        lockset.finish()
    }

    fn lock_order(&self) -> LockOrderReport {
        let mut detector = LockOrder::new(LockOrderOptions::default());
        detector.batch(&self.names, &self.batch);
        detector.finish()
    }
}

fn random(seed: &mut u64, below: u32) -> u32 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*seed >> 33) % u64::from(below)) as u32
}

/// Sixty operations by anybody, whether they could happen or not.
fn nonsense(seed: &mut u64) -> Run {
    let mut run = Run::new(4, 3);
    for _ in 0..60 {
        let op = Op::ALL[random(seed, Op::COUNT as u32) as usize];
        let object = match op.space() {
            None | Some(Space::Label) => 0,
            Some(space) => random(seed, run.names.space(space).len() as u32),
        };
        let value = if op.is_drop_barrier() { Value::Int(1) } else { Value::Unknown };
        let order = Order::ALL[random(seed, 5) as usize];
        let wake = Wake::ALL[random(seed, 3) as usize];
        let lock = LockId(random(seed, 3));
        let extra = Extra { value, lock, order, wake, ..Extra::default() };
        run.push_with(random(seed, 4), op, object, extra);
    }
    run
}

#[test]
fn nonsense_is_taken() {
    let mut seed = 5;
    for _ in 0..20_000 {
        let run = nonsense(&mut seed);
        let apart = |race: &Race| race.earlier.thread != race.later.thread && race.earlier.event < race.later.event;
        assert!(run.hb().races.iter().all(apart), "{:?}", run.batch.events);
        assert!(run.lockset().races.iter().all(apart), "{:?}", run.batch.events);
        assert!(run.lock_order().complete);
    }
}

/// A clock for each thread would take tens of gigabytes.
#[test]
fn a_hundred_thousand_threads_at_a_time() {
    let threads = 100_000;
    let mut run = Run::new(threads, 2);
    (1..threads).for_each(|thread| run.push(0, Op::Fork, thread));
    (1..threads).for_each(|thread| run.push(thread, Op::Read, 0));
    (1..100).for_each(|thread| run.push(thread, Op::Write, 1));
    let found = run.hb();
    assert_eq!((found.racy_events, found.forgot_before), (98, None));
    assert_eq!(found.taken_for_one, 100_000 - 4096);
}

/// To look through all waits at each of them would take minutes.
#[test]
fn waits_that_never_end() {
    let locks = 400_000;
    let mut run = Run::new(1, locks);
    for lock in 0..locks {
        run.push_with(0, Op::Wait, 0, Extra { lock: LockId(lock), ..Extra::default() });
    }
    assert!(run.lock_order().complete);
    assert_eq!((run.hb().racy_events, run.lockset().racy_events), (0, 0));
}

/// Half a million locks, each taken inside a hundred others: a pair of locks for each of these would take minutes.
#[test]
fn locks_inside_many() {
    let (many, below) = (500_000, 100);
    let mut run = Run::new(2, many + below);
    (0..below).for_each(|lock| run.push(0, Op::Acquire, lock));
    for lock in below..many + below {
        run.push(0, Op::Acquire, lock);
        run.push(0, Op::Release, lock);
    }
    run.push(1, Op::Acquire, many);
    run.push(1, Op::Acquire, 0);
    let report = run.lock_order();
    assert_eq!((report.cycles.len(), report.complete, report.unrecorded), (1, true, 0));
}

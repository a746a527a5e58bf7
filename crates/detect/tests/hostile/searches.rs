//! Hostile traces for the detectors that search: nonsense, locks nested deep, waits without end.

use super::{Run, nonsense};
use detect::atomicity::{self, Atomicity};
use detect::deadlock::{DeadlockOptions, Deadlocks, deadlocks};
use detect::lost_wakeup::{self, LostWakeups};
use detect::maximal::{self, Maximal};
use detect::sync_preserving::{self, OnDemand, SyncPreserving};
use detect::{Race, Search};
use event::{Extra, LockId, Op, Value, VarId};
use reach::Windows;
use std::time::{Duration, Instant};

const WINDOW: usize = 4000;

fn unknown(_: VarId) -> Value {
    Value::Unknown
}

/// A second for each search: whatever the trace is, none of them may go on much longer.
fn soon() -> Option<Instant> {
    Some(Instant::now() + Duration::from_secs(1))
}

fn in_time<T>(what: &str, search: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let found = search();
    let took = begun.elapsed();
    println!("{what}: {took:?}");
    assert!(took < Duration::from_secs(8), "{what} took {took:?}");
    found
}

impl Run {
    fn sync_preserving(&self) -> sync_preserving::Predicted {
        let mut analysis = SyncPreserving::new(&self.names, &self.batch).expect("few threads");
        analysis.races(&sync_preserving::Options { deadline: soon(), ..sync_preserving::Options::default() })
    }

    fn maximal(&self) -> maximal::Report {
        let options = maximal::Options { deadline: soon(), ..maximal::Options::default() };
        let mut maximal = Maximal::new(options, maximal::KnownRaces::default());
        for window in Windows::new(&self.names, &self.batch, WINDOW) {
            maximal.window(&self.names, &window, &unknown);
        }
        maximal.finish()
    }

    fn deadlock(&self) -> Deadlocks {
        let options = DeadlockOptions { deadline: soon(), window: WINDOW, ..DeadlockOptions::default() };
        deadlocks(&mut OnDemand::new(&self.names, &self.batch), &unknown, &options)
    }

    fn search(&self) -> Search<'static> {
        Search { window: WINDOW, deadline: soon(), ..Search::default() }
    }

    fn atomicity(&self) -> (atomicity::Violations, atomicity::Predictions) {
        let mut streaming = Atomicity::new();
        streaming.batch(&self.names, &self.batch);
        let observed = streaming.finish();
        let predicted = atomicity::predict(&self.names, &self.batch, &unknown, None, &observed, &self.search());
        (observed, predicted)
    }

    fn lost_wakeups(&self) -> (lost_wakeup::Waits, lost_wakeup::Predicted) {
        let mut streaming = LostWakeups::new();
        streaming.batch(&self.names, &self.batch);
        let waits = streaming.finish();
        let predicted = lost_wakeup::predict(&self.names, &self.batch, &unknown, &waits, &self.search());
        (waits, predicted)
    }
}

#[test]
fn nonsense_is_searched() {
    let mut seed = 7;
    let apart = |race: &Race| race.earlier.thread != race.later.thread && race.earlier.event < race.later.event;
    for _ in 0..400 {
        let run = nonsense(&mut seed);
        let events = run.batch.events.len() as u64;
        let predicted = run.sync_preserving();
        assert!(predicted.sync_preserving.races.iter().chain(&predicted.optimistic.races).all(apart));
        assert!(run.maximal().races.races.iter().all(apart));
        assert!(run.deadlock().deadlocks.iter().all(|one| one.blocked.len() > 1));
        let (_, predicted) = run.atomicity();
        assert!(predicted.found.iter().all(|one| one.leaves[0].thread != one.leaves[1].thread));
        let (waits, predicted) = run.lost_wakeups();
        assert!(waits.candidates.iter().all(|one| one.wait.event < one.notify.event && one.notify.event < events));
        assert!(predicted.lost.iter().all(|one| waits.candidates.contains(&one.wakeup)));
    }
}

/// Two threads take the same locks, each inside all before it, and access a variable each time, and once more without a
/// lock.
fn nested(depth: u32) -> Run {
    let mut run = Run::new(2, depth.max(2));
    for thread in 0..2 {
        run.push(thread, Op::Begin, 1);
        for lock in 0..depth {
            run.push(thread, Op::Acquire, lock);
            run.push(thread, Op::Write, 0);
        }
        for lock in 0..depth {
            run.push(thread, Op::Release, lock);
        }
        run.push(thread, Op::Write, 1);
        run.push(thread, Op::End, 1);
    }
    run
}

/// What is held, copied with every lock, would be a gigabyte; compared with every other, minutes.
#[test]
fn ten_thousand_locks_inside_each_other() {
    let run = nested(10_000);
    let predicted = in_time("sync-preserving", || run.sync_preserving());
    assert!(predicted.racy_events == 1 || predicted.unexamined > 0, "{predicted:?}");
    in_time("maximal", || run.maximal());
    let found = in_time("deadlock", || run.deadlock());
    assert!(found.deadlocks.is_empty() && found.unrecorded > 0);
    let (observed, _) = in_time("atomicity", || run.atomicity());
    assert!(observed.found.is_empty());
    in_time("lost-wakeup", || run.lost_wakeups());
}

/// The race on the last variable is found, however deep the locks of the others were.
#[test]
fn a_race_behind_nested_locks() {
    let run = nested(1000);
    let predicted = in_time("sync-preserving", || run.sync_preserving());
    assert_eq!((predicted.racy_events, predicted.unexamined), (1, 0));
}

/// One thread waits for ever, the others are notified again and again: only what is of use to a waiting thread may be
/// kept.
#[test]
fn waits_without_end() {
    let rounds = 30_000;
    let mut run = Run::new(3, 3);
    let lock = |lock| Extra { lock: LockId(lock), ..Extra::default() };
    run.push_with(0, Op::Wait, 0, lock(0));
    for _ in 0..rounds {
        run.push(1, Op::Read, 0);
        run.push(1, Op::Acquire, 1);
        run.push_with(1, Op::Wait, 0, lock(1));
        run.push(2, Op::Write, 0);
        run.push(2, Op::Notify, 0);
        run.push_with(1, Op::Woken, 0, lock(1));
        run.push(1, Op::Release, 1);
    }
    let (waits, predicted) = in_time("lost-wakeup", || run.lost_wakeups());
    let asked = waits.candidates.len() as u64;
    assert_eq!(asked + waits.left_out, rounds, "{waits:?}");
    assert!(predicted.lost.len() as u64 + predicted.unasked + predicted.undecided <= asked);
    in_time("sync-preserving", || run.sync_preserving());
    in_time("maximal", || run.maximal());
    in_time("deadlock", || run.deadlock());
    let (observed, _) = in_time("atomicity", || run.atomicity());
    assert!(observed.found.is_empty());
}

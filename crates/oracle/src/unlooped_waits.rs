//! Waits without a loop, as docs/detectors.md defines them.

use crate::recorded::{Recorded, Section};
use event::{Batch, Names, Op};
use std::collections::{BTreeMap, BTreeSet};

/// The wait, its wake-up, and the write by which its thread takes what it waited for.
pub type UnloopedWait = (usize, usize, usize);

/// All waits without a loop of a trace.
pub fn unlooped_waits(names: &Names, batch: &Batch) -> BTreeSet<UnloopedWait> {
    let run = Recorded::new(names, batch);
    let found = run.woken_by.iter().filter_map(|(&woken, &(wait, notify))| {
        let take = take(&run, batch, wait, woken, notify)?;
        Some((wait, woken, take))
    });
    found.collect()
}

fn is_read(op: Op) -> bool {
    matches!(op, Op::Read | Op::AtomicLoad)
}

fn is_write(op: Op) -> bool {
    matches!(op, Op::Write | Op::AtomicStore | Op::AtomicRmw)
}

/// Whether the thread of an event holds a lock exclusively then.
fn holds(run: &Recorded, e: usize, lock: u32) -> bool {
    let of = |s: &&Section| s.lock == lock && s.thread == run.events[e].thread && !s.shared;
    let around = |s: &Section| s.opens.is_some_and(|o| o < e) && s.closes.is_none_or(|c| c > e);
    run.sections.iter().filter(of).any(around)
}

fn take(run: &Recorded, batch: &Batch, wait: usize, woken: usize, notify: usize) -> Option<usize> {
    let (thread, lock) = (run.events[wait].thread, run.events[wait].lock?);
    let site = |e: usize| batch.events[e].site();
    let own = |e: &usize| run.events[*e].thread == thread;
    let mine = |s: &&Section| s.lock == lock && s.thread == thread && !s.shared;
    let before = run.sections.iter().filter(mine).find(|s| s.closes == Some(wait))?.opens?;
    let end = run.sections.iter().filter(mine).find(|s| s.opens == Some(woken))?.closes?;

    // The last access of each variable in the section before the wait; it is a test if it reads.
    let mut last: BTreeMap<u32, usize> = BTreeMap::new();
    for e in (before + 1..wait).filter(own) {
        if is_read(run.events[e].op) || is_write(run.events[e].op) {
            last.insert(run.events[e].object, e);
        }
    }
    let tests: BTreeMap<u32, usize> = last.into_iter().filter(|&(_, e)| is_read(run.events[e].op)).collect();

    // Which of them the notifier wrote.
    let announces = |e: usize, x: u32| {
        run.events[e].thread == run.events[notify].thread
            && is_write(run.events[e].op)
            && run.events[e].object == x
            && holds(run, e, lock)
    };
    let news: BTreeSet<u32> = tests.keys().copied().filter(|&x| (wait + 1..notify).any(|e| announces(e, x))).collect();
    if news.is_empty() {
        return None;
    }

    // Whether the thread looks again.
    let after: Vec<usize> = (woken + 1..=end).filter(own).collect();
    let looks = |k: usize| {
        let (e, op, x) = (after[k], run.events[after[k]].op, run.events[after[k]].object);
        let acts = is_read(op) || is_write(op) || matches!(op, Op::Alloc | Op::Free | Op::Pin | Op::ReadPin);
        if !acts || !tests.contains_key(&x) || op == Op::Write {
            return false;
        }
        let changes_it = after.get(k + 1).is_some_and(|&next| {
            run.events[next].op == Op::Write && run.events[next].object == x && site(next) == site(e)
        });
        !(op == Op::Read && site(e) != site(tests[&x]) && changes_it)
    };
    if (0..after.len()).any(looks) {
        return None;
    }

    // The first write of something tested, and another thread's like it.
    let takes = |e: &usize| run.events[*e].op == Op::Write && tests.contains_key(&run.events[*e].object);
    let take = after.iter().copied().find(takes)?;
    let is_alike = |e: usize| {
        let other = &run.events[e];
        let same = other.object == run.events[take].object && site(e) == site(take);
        same && other.thread != thread && is_write(other.op) && holds(run, e, lock)
    };
    let known = !batch_site_is_unknown(batch, take);
    (known && (wait + 1..run.events.len()).any(is_alike)).then_some(take)
}

fn batch_site_is_unknown(batch: &Batch, e: usize) -> bool {
    batch.events[e].site() == event::SiteId(0)
}

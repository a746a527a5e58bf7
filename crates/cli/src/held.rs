//! Which locks each thread holds along the recorded run, for what is said of an event.

use event::{Batch, Event, LockId, Names, Op, SiteId, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Locks of a thread that are named at an event: more would make reports as large as events times locks.
const NAMED: usize = 128;

/// The locks of every thread, in the order they were taken.
#[derive(Default)]
pub(crate) struct HeldLocks {
    threads: Vec<Held>,
}

/// The locks of one thread. Nothing here takes longer the more locks are held, but for telling them.
#[derive(Default)]
struct Held {
    /// By lock: which acquisition took it, and how deep it is held.
    depths: FxHashMap<LockId, (u64, u64)>,
    /// By acquisition: the lock, and where it was taken.
    order: BTreeMap<u64, (LockId, SiteId)>,
    /// How deep locks were held that a wait gave up.
    waiting: FxHashMap<LockId, u64>,
    /// Acquisitions so far.
    taken: u64,
}

impl Held {
    fn take(&mut self, lock: LockId, depth: u64, site: SiteId) {
        let (number, held) = self.depths.entry(lock).or_insert((self.taken, 0));
        *held += depth;
        self.order.entry(*number).or_insert((lock, site));
        self.taken += 1;
    }

    fn give(&mut self, lock: LockId, depth: u64) {
        let Some((number, held)) = self.depths.get_mut(&lock) else { return };
        *held = held.saturating_sub(depth);
        if *held == 0 {
            self.order.remove(number);
            self.depths.remove(&lock);
        }
    }
}

impl HeldLocks {
    /// Takes the next event.
    #[inline]
    pub(crate) fn step(&mut self, batch: &Batch, event: Event) {
        let lock = match event.op() {
            Op::Acquire | Op::TryAcquire | Op::ReadAcquire | Op::Release | Op::ReadRelease => event.lock(),
            Op::Wait | Op::Woken => batch.extra(event).lock,
            _ => return,
        };
        let thread = event.thread().0 as usize;
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Held::default);
        }
        let held = &mut self.threads[thread];
        match event.op() {
            Op::Release | Op::ReadRelease => held.give(lock, 1),
            Op::Wait => {
                let depth = held.depths.get(&lock).map_or(0, |&(_, depth)| depth);
                held.give(lock, depth);
                held.waiting.insert(lock, depth);
            }
            Op::Woken => {
                let depth = held.waiting.remove(&lock).unwrap_or(0);
                held.take(lock, depth.max(1), event.site());
            }
            _ => held.take(lock, 1, event.site()),
        }
    }

    /// The names of the locks that a thread holds, and of how many more, if they are too many.
    pub(crate) fn names(&self, names: &Names, thread: ThreadId) -> Vec<String> {
        let held = self.by(thread);
        let more = held.len().saturating_sub(NAMED);
        let more = (more > 0).then(|| format!("… and {more} more"));
        held.take(NAMED).map(|(lock, _)| names.lock(lock).to_owned()).chain(more).collect()
    }

    /// Where it took those that are named.
    pub(crate) fn sites(&self, names: &Names, thread: ThreadId) -> Vec<String> {
        let held = self.by(thread);
        let more = (held.len() > NAMED).then(String::new);
        held.take(NAMED).map(|(_, site)| names.site(site).to_owned()).chain(more).collect()
    }

    /// The locks that a thread holds, each once, and where it took them.
    fn by(&self, thread: ThreadId) -> impl ExactSizeIterator<Item = (LockId, SiteId)> {
        static NONE: BTreeMap<u64, (LockId, SiteId)> = BTreeMap::new();
        self.threads.get(thread.0 as usize).map_or(&NONE, |held| &held.order).values().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Trace;
    use trace::text::TextReader;

    /// What the first thread of a trace holds at its end, by name.
    fn held(text: &str) -> Vec<String> {
        held_and_where(text).0
    }

    fn held_and_where(text: &str) -> (Vec<String>, Vec<String>) {
        let trace = Trace::read(&mut TextReader::new(text.as_bytes())).unwrap();
        let mut held = HeldLocks::default();
        trace.batch.events.iter().for_each(|&event| held.step(&trace.batch, event));
        (held.names(&trace.names, ThreadId(0)), held.sites(&trace.names, ThreadId(0)))
    }

    #[test]
    fn where_they_were_taken() {
        let told = |text| held_and_where(text).1;
        assert_eq!(told("A|acq(k)|1\nA|acq(l)|2\nA|acq(k)|3\n"), ["1", "2"]);
        assert_eq!(told("A|acq(k)|1\nA|wait(c,k)|2\nA|woken(c,k)|3\nA|racq(l)|\n"), ["3", ""]);
        let many: String = (0..=NAMED).map(|n| format!("A|acq(l{n})|1\n")).collect();
        let (names, sites) = held_and_where(&many);
        assert_eq!((names.len(), sites.last()), (sites.len(), Some(&String::new())));
    }

    #[test]
    fn in_the_order_taken_and_each_once() {
        assert_eq!(held("A|acq(k)|1\nA|acq(l)|1\nA|acq(k)|1\nA|rel(k)|1\n"), ["k", "l"]);
        assert_eq!(held("A|acq(k)|1\nA|acq(l)|1\nA|rel(k)|1\nA|acq(k)|1\n"), ["l", "k"]);
        assert_eq!(held("A|rel(k)|1\nA|racq(l)|1\nA|rrel(l)|1\n"), [""; 0]);
    }

    #[test]
    fn of_too_many_the_first_are_named() {
        let locks: String = (0..=NAMED).map(|n| format!("A|acq(l{n})|1\n")).collect();
        let told = held(&(locks.clone() + "A|acq(l)|1\n"));
        assert_eq!((told.len(), told[NAMED].as_str()), (NAMED + 1, "… and 2 more"));
        assert_eq!(held(&(locks + "A|rel(l7)|1\n")).len(), NAMED);
    }

    #[test]
    fn who_is_woken_holds_the_lock_as_deep_as_before() {
        let waits = "A|acq(l)|1\nA|acq(l)|1\nA|wait(c,l)|1\n";
        assert_eq!(held(waits), [""; 0]);
        let woken = format!("{waits}A|woken(c,l)|1\nA|rel(l)|1\n");
        assert_eq!(held(&woken), ["l"]);
        assert_eq!(held(&(woken + "A|rel(l)|1\n")), [""; 0]);
        assert_eq!(held("A|wait(c,l)|1\nA|woken(c,l)|1\n"), ["l"]);
    }
}

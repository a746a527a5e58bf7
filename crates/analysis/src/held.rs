//! Which locks each thread holds along the recorded run, for the context of events.

use event::{Batch, Event, LockId, Names, SiteId, ThreadId};

/// Locks of a thread that are named at an event: more would make reports as large as events times locks.
const NAMED: usize = 128;

/// The locks of every thread, with the site of each outermost acquisition.
#[derive(Default)]
pub(crate) struct HeldLocks {
    held: sync::HeldLocks<SiteId>,
}

impl HeldLocks {
    /// Follows the next event.
    #[inline]
    pub(crate) fn step(&mut self, batch: &Batch, event: Event) {
        let op = event.op();
        if op.opens_section() || op.closes_section() {
            self.held.step(batch, event, |_| event.site());
        }
    }

    /// Whether a thread holds just these locks, ascending.
    pub(crate) fn is_held(&self, thread: ThreadId, locks: &[LockId]) -> bool {
        let mut held: Vec<LockId> = self.held.locks(thread).map(|hold| hold.lock).collect();
        held.sort_unstable();
        held == locks
    }

    /// The names of the locks that a thread holds, in the order they were taken, and of how many more, if they are too
    /// many.
    pub(crate) fn names(&self, names: &Names, thread: ThreadId) -> Vec<String> {
        let more = self.held.count(thread).saturating_sub(NAMED);
        let more = (more > 0).then(|| format!("… and {more} more"));
        let held = self.held.locks(thread).take(NAMED);
        held.map(|hold| names.lock(hold.lock).to_owned()).chain(more).collect()
    }

    /// Where the thread took those that are named.
    pub(crate) fn sites(&self, names: &Names, thread: ThreadId) -> Vec<String> {
        let more = (self.held.count(thread) > NAMED).then(String::new);
        let held = self.held.locks(thread).take(NAMED);
        held.map(|hold| names.site(hold.data).to_owned()).chain(more).collect()
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
        let sites = |text| held_and_where(text).1;
        assert_eq!(sites("A|acq(k)|1\nA|acq(l)|2\nA|acq(k)|3\n"), ["1", "2"]);
        assert_eq!(sites("A|acq(k)|1\nA|wait(c,k)|2\nA|woken(c,k)|3\nA|racq(l)|\n"), ["3", ""]);
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
        let names = held(&(locks.clone() + "A|acq(l)|1\n"));
        assert_eq!((names.len(), names[NAMED].as_str()), (NAMED + 1, "… and 2 more"));
        assert_eq!(held(&(locks + "A|rel(l7)|1\n")).len(), NAMED);
    }

    #[test]
    fn a_woken_thread_holds_the_lock_as_deep_as_before() {
        let waits = "A|acq(l)|1\nA|acq(l)|1\nA|wait(c,l)|1\n";
        assert_eq!(held(waits), [""; 0]);
        let woken = format!("{waits}A|woken(c,l)|1\nA|rel(l)|1\n");
        assert_eq!(held(&woken), ["l"]);
        assert_eq!(held(&(woken + "A|rel(l)|1\n")), [""; 0]);
        assert_eq!(held("A|wait(c,l)|1\nA|woken(c,l)|1\n"), ["l"]);
    }
}

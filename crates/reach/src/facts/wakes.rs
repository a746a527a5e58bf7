//! Which notify woke whom.

use event::Batch;

/// A wake-up with its wait and the notify that it is paired with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wakeup {
    pub(crate) wait: u32,
    pub(crate) notify: u32,
    pub(crate) woken: u32,
}

/// All pairs, in the order of the wake-ups.
pub(crate) fn wakeups(trace: &Batch) -> Vec<Wakeup> {
    let offset = |index: u64| (index - trace.first) as u32;
    let pairs = sync::wakeups(trace).into_iter();
    pairs
        .map(|pair| Wakeup { wait: offset(pair.wait), notify: offset(pair.notify), woken: offset(pair.woken) })
        .collect()
}

//! Which locks each thread holds along the recorded run, for what is said of an event.

use event::{Batch, Event, LockId, Op, ThreadId};

/// The locks of every thread, in the order they were taken; one that is held twice is there twice.
#[derive(Default)]
pub(crate) struct HeldLocks {
    threads: Vec<Vec<LockId>>,
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
            self.threads.resize_with(thread + 1, Vec::new);
        }
        let held = &mut self.threads[thread];
        match event.op() {
            Op::Release | Op::ReadRelease => {
                if let Some(at) = held.iter().rposition(|&l| l == lock) {
                    held.remove(at);
                }
            }
            Op::Wait => held.retain(|&l| l != lock),
            _ => held.push(lock),
        }
    }

    /// The locks that a thread holds, each once.
    pub(crate) fn by(&self, thread: ThreadId) -> impl Iterator<Item = LockId> {
        let held = self.threads.get(thread.0 as usize).map_or(&[][..], Vec::as_slice);
        held.iter().enumerate().filter(|(at, lock)| !held[..*at].contains(lock)).map(|(_, &lock)| lock)
    }
}

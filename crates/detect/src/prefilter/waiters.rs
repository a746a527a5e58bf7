//! Which threads wait for something else than a lock while others may wait for them: without one there is no deadlock
//! around more than locks.

/// By thread: what it has done.
#[derive(Default, Debug)]
pub(super) struct Waiters {
    threads: Vec<Known>,
    /// Some thread waits, and holds a lock, or will let others go on, or is joined.
    pub(super) awaited: bool,
}

#[derive(Clone, Copy, Default, Debug)]
struct Known {
    waits: bool,
    joined: bool,
}

impl Waiters {
    pub(super) fn grow(&mut self, threads: usize) {
        self.threads.resize(threads.max(self.threads.len()), Known::default());
    }

    /// A thread waits, or is about to; whether it holds a lock.
    pub(super) fn waits(&mut self, thread: usize, holds_one: bool) {
        let known = &mut self.threads[thread];
        known.waits = true;
        self.awaited |= holds_one || known.joined;
    }

    /// A wait for the end of a thread is announced.
    pub(super) fn joins(&mut self, child: usize) {
        let known = &mut self.threads[child];
        known.joined = true;
        self.awaited |= known.waits;
    }

    /// A thread lets others go on, or forks one that may.
    #[inline]
    pub(super) fn grants(&mut self, thread: usize) {
        self.awaited |= self.threads[thread].waits;
    }
}

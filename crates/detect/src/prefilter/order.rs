//! The order that forks and joins give in every run.

/// Entries of all rows together, 4 bytes each; what finds no room is taken for unordered.
const MOST: usize = 1 << 24;

#[derive(Default, Debug)]
struct Thread {
    /// Counts its forks and joins, from 1 on.
    segment: u32,
    /// By thread: the last segment of it that comes before this one. 0: none.
    row: Vec<u32>,
    forked: bool,
}

/// A segment of a thread, between its forks and joins. Segment 0 is none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct ThreadSegment {
    pub(super) thread: u32,
    pub(super) segment: u32,
}

/// All threads.
#[derive(Default, Debug)]
pub(super) struct Order {
    threads: Vec<Thread>,
    kept: usize,
    /// Something happened that cannot.
    pub(super) odd: bool,
}

impl Order {
    pub(super) fn grow(&mut self, threads: usize) {
        let new = || Thread { segment: 1, ..Thread::default() };
        self.threads.resize_with(threads.max(self.threads.len()), new);
    }

    #[inline]
    pub(super) fn now(&self, thread: u32) -> ThreadSegment {
        ThreadSegment { thread, segment: self.threads[thread as usize].segment }
    }

    /// Whether what happened in a segment comes before what the thread does now, in every run.
    #[inline]
    pub(super) fn is_before(&self, earlier: ThreadSegment, thread: u32) -> bool {
        let row = &self.threads[thread as usize].row;
        earlier.thread == thread || row.get(earlier.thread as usize).is_some_and(|&segment| segment >= earlier.segment)
    }

    pub(super) fn fork(&mut self, parent: usize, child: usize) {
        self.odd |= std::mem::replace(&mut self.threads[child].forked, true) || parent == child;
        let row = self.threads[parent].row.clone();
        let now = self.now(parent as u32);
        self.learn(child, &row, now);
        self.threads[parent].segment += 1;
    }

    pub(super) fn join(&mut self, parent: usize, child: usize) {
        let row = std::mem::take(&mut self.threads[child].row);
        self.kept -= row.len();
        let end = self.now(child as u32);
        self.learn(parent, &row, end);
        self.threads[parent].segment += 1;
    }

    /// A thread comes after this segment, and after all in this row.
    fn learn(&mut self, thread: usize, row: &[u32], segment: ThreadSegment) {
        let own = &mut self.threads[thread].row;
        let wanted = row.len().max(segment.thread as usize + 1).max(own.len());
        let more = wanted - own.len();
        if self.kept + more > MOST {
            return;
        }
        self.kept += more;
        own.resize(wanted, 0);
        for (own, &other) in own.iter_mut().zip(row) {
            *own = (*own).max(other);
        }
        let known = &mut own[segment.thread as usize];
        *known = (*known).max(segment.segment);
    }
}

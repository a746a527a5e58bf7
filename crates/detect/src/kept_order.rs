//! The order that every run keeps: that of forks, joins, posts and awaits.

/// Entries of all rows together, 4 bytes each; what finds no room is taken for unordered.
const MOST: usize = 1 << 24;

#[derive(Default, Debug)]
struct Thread {
    /// Counts its forks, joins, posts and awaits, from 1 on.
    segment: u32,
    /// By thread: the last segment of it that comes before this one. 0: none.
    row: Vec<u32>,
    forked: bool,
}

/// A segment of a thread, between two such events. Within one, the thread learns nothing. Segment 0 is none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct ThreadSegment {
    pub(crate) thread: u32,
    pub(crate) segment: u32,
}

/// All threads.
#[derive(Default, Debug)]
pub(crate) struct KeptOrder {
    threads: Vec<Thread>,
    /// By latch: what comes before its next await.
    posts: Vec<Vec<u32>>,
    kept: usize,
    /// Something happened that cannot.
    pub(crate) odd: bool,
}

impl KeptOrder {
    pub(crate) fn grow(&mut self, threads: usize) {
        let new = || Thread { segment: 1, ..Thread::default() };
        self.threads.resize_with(threads.max(self.threads.len()), new);
    }

    #[inline]
    pub(crate) fn now(&self, thread: u32) -> ThreadSegment {
        ThreadSegment { thread, segment: self.threads[thread as usize].segment }
    }

    /// Whether what happened in a segment comes before what the thread does now, in every run.
    #[inline]
    pub(crate) fn is_before(&self, earlier: ThreadSegment, thread: u32) -> bool {
        let row = &self.threads[thread as usize].row;
        earlier.thread == thread || row.get(earlier.thread as usize).is_some_and(|&segment| segment >= earlier.segment)
    }

    pub(crate) fn fork(&mut self, parent: usize, child: usize) {
        self.odd |= std::mem::replace(&mut self.threads[child].forked, true) || parent == child;
        let row = self.threads[parent].row.clone();
        let now = self.now(parent as u32);
        self.learn(child, &row, now);
        self.threads[parent].segment += 1;
    }

    pub(crate) fn join(&mut self, parent: usize, child: usize) {
        // It may be joined once more; but what ended threads knew must not fill the memory.
        let row = if self.kept > MOST / 2 {
            let row = std::mem::take(&mut self.threads[child].row);
            self.kept -= row.len();
            row
        } else {
            self.threads[child].row.clone()
        };
        let end = self.now(child as u32);
        self.learn(parent, &row, end);
        self.threads[parent].segment += 1;
    }

    pub(crate) fn post(&mut self, thread: usize, latch: usize) {
        if latch >= self.posts.len() {
            self.posts.resize_with(latch + 1, Vec::new);
        }
        let now = self.now(thread as u32);
        merge(&mut self.posts[latch], &self.threads[thread].row, now, &mut self.kept);
        self.threads[thread].segment += 1;
    }

    pub(crate) fn awaits(&mut self, thread: usize, latch: usize) {
        let Some(row) = self.posts.get(latch) else { return };
        let none = ThreadSegment { thread: thread as u32, segment: 0 };
        merge(&mut self.threads[thread].row, row, none, &mut self.kept);
        self.threads[thread].segment += 1;
    }

    /// A thread comes after this segment, and after all in this row.
    fn learn(&mut self, thread: usize, row: &[u32], segment: ThreadSegment) {
        merge(&mut self.threads[thread].row, row, segment, &mut self.kept);
    }
}

/// Adds a row and a segment to a row, if there is room.
fn merge(own: &mut Vec<u32>, row: &[u32], segment: ThreadSegment, kept: &mut usize) {
    let wanted = row.len().max(segment.thread as usize + 1).max(own.len());
    let more = wanted - own.len();
    if *kept + more > MOST {
        return;
    }
    *kept += more;
    own.resize(wanted, 0);
    for (own, &other) in own.iter_mut().zip(row) {
        *own = (*own).max(other);
    }
    let known = &mut own[segment.thread as usize];
    *known = (*known).max(segment.segment);
}

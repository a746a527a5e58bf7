//! What threads have read of late: the reads that can have been the test of a wait.

use super::writes::Notify;
use crate::place::Place;
use event::{Event, Id, ThreadId, VarId};

/// Variables of which a thread's last read is remembered; one that shares its place with another drives it out.
const READS: usize = 64;

/// The last read of a variable by a thread.
#[derive(Clone, Copy, Debug)]
struct Read {
    variable: VarId,
    place: Place,
}

/// The reads of all threads, as far as they are remembered.
#[derive(Default, Debug)]
pub(super) struct Reads {
    by_thread: Vec<Vec<Option<Read>>>,
    /// By variable: who may have written it, a bit for every 32nd thread.
    writers: Vec<u32>,
}

/// The bit of a thread.
pub(super) fn bit(thread: usize) -> u32 {
    1 << (thread % 32)
}

impl Reads {
    pub(super) fn grow(&mut self, threads: usize, variables: usize) {
        self.by_thread.resize_with(threads, Vec::new);
        self.writers.resize(variables, 0);
    }

    pub(super) fn read(&mut self, event: Event, index: u64) {
        let (thread, variable) = (event.thread().index(), event.var());
        let reads = &mut self.by_thread[thread];
        if reads.is_empty() {
            reads.resize(READS, None);
        }
        reads[variable.index() % READS] = Some(Read { variable, place: Place::new(event, index) });
    }

    pub(super) fn write(&mut self, event: Event) {
        let (writer, variable) = (event.thread(), event.var());
        self.writers[variable.index()] |= bit(writer.index());
        // Who writes it itself knows better than what it read.
        if let Some(own) = self.by_thread[writer.index()].get_mut(variable.index() % READS) {
            own.take_if(|read| read.variable == variable);
        }
    }

    /// A thread goes on from a wait: what it read before was the test of that one.
    pub(super) fn forget(&mut self, thread: ThreadId) {
        self.by_thread[thread.index()].fill(None);
    }

    /// The test of a wait of `thread`, which has done nothing since: the last read of something that it has not
    /// accessed again, and that the notify announces; if who notifies wrote it between that read and the notify. Which
    /// it is may depend on what comes later. `given`: when it last gave the lock of the wait back.
    pub(super) fn test(&self, thread: ThreadId, given: Option<u64>, notify: &Notify) -> Option<Test> {
        let by = notify.place.thread;
        if by == thread {
            return None;
        }
        let reads = self.by_thread[thread.index()].iter().flatten();
        let since = reads.clone().filter(|read| Some(read.place.event) > given);
        let may_write = |variable: VarId| self.writers[variable.index()] & bit(by.index()) != 0;
        let find = |known: &mut dyn Iterator<Item = (VarId, u64)>| {
            let known: Vec<(VarId, u64)> = known.collect();
            let test = notify.test(&known, may_write)?;
            reads.clone().map(|read| read.place).find(|place| place.event == test)
        };
        let known = |read: &Read| (read.variable, read.place.event);
        let (any, last) = (find(&mut reads.clone().map(known)), find(&mut since.clone().map(known)));
        let looked = || since.map(|read| read.variable).collect();
        (any.is_some() || last.is_some()).then(|| Test { thread, any, last, looked: looked() })
    }

    /// When all is known: the test, if those have notified the condition ([`bit`]s).
    pub(super) fn decide(&self, test: &Test, notifiers: u32) -> Option<Place> {
        // With more threads than bits, its own may be another's, too.
        let others = if self.by_thread.len() > 32 { notifiers } else { notifiers & !bit(test.thread.index()) };
        let is_news = |variable: &VarId| self.writers[variable.index()] & others != 0;
        if test.looked.iter().any(is_news) { test.last } else { test.any }
    }
}

/// What the test of a wait may be.
#[derive(Clone, Debug)]
pub(super) struct Test {
    thread: ThreadId,
    /// Among all reads, and among those since it last gave the lock back.
    pub(super) any: Option<Place>,
    pub(super) last: Option<Place>,
    /// What these are of: if who notifies writes any of it, they alone count.
    looked: Vec<VarId>,
}

//! What threads have read of late: the reads that can have been the test of a wait.
//!
//! Each thread has a log of its accesses since its last wait. When the log is full, the last access of each variable is
//! kept, and of too many the later ones. So what is remembered is always everything since some time, and the test of a
//! wait is given only if what is forgotten could not change it.

use super::writes::Notify;
use crate::place::Place;
use event::{Event, Id, SiteId, ThreadId, VarId};

/// Accesses in the log of a thread.
const LOG: usize = 512;

/// The last access of a variable by a thread.
#[derive(Clone, Copy, Debug)]
struct Access {
    event: u64,
    variable: VarId,
    site: SiteId,
    /// Who writes a variable itself knows better than what it read.
    writes: bool,
}

#[derive(Clone, Default, Debug)]
struct Log {
    accesses: Vec<Access>,
    /// The last read that is not remembered.
    forgotten: Option<u64>,
}

/// The reads of all threads, as far as they are remembered.
#[derive(Debug)]
pub(super) struct Reads {
    by_thread: Vec<Log>,
    /// By variable: who may have written it, a bit for every [`BITS`]th thread.
    writers: Vec<u64>,
    /// By variable: in which of the looks through a log it was met last.
    met: Vec<u32>,
    look: u32,
    /// Accesses in a log, at least 2.
    most: usize,
}

impl Default for Reads {
    fn default() -> Reads {
        Reads::remembering(LOG)
    }
}

/// Bits for threads.
const BITS: usize = 64;

/// The bit of a thread.
pub(super) fn bit(thread: usize) -> u64 {
    1 << (thread % BITS)
}

impl Reads {
    /// With room for so many accesses in each log.
    pub(super) fn remembering(most: usize) -> Reads {
        Reads { by_thread: Vec::new(), writers: Vec::new(), met: Vec::new(), look: 0, most: most.max(2) }
    }

    pub(super) fn grow(&mut self, threads: usize, variables: usize) {
        self.by_thread.resize_with(threads, Log::default);
        self.writers.resize(variables, 0);
        self.met.resize(variables, 0);
    }

    pub(super) fn read(&mut self, event: Event, index: u64) {
        self.log(event, index, false);
    }

    pub(super) fn write(&mut self, event: Event, index: u64) {
        self.writers[event.var().index()] |= bit(event.thread().index());
        if !self.by_thread[event.thread().index()].accesses.is_empty() {
            self.log(event, index, true);
        }
    }

    #[inline]
    fn log(&mut self, event: Event, index: u64, writes: bool) {
        let access = Access { event: index, variable: event.var(), site: event.site(), writes };
        let log = &mut self.by_thread[event.thread().index()].accesses;
        match log.last_mut() {
            Some(last) if last.variable == access.variable => *last = access,
            _ => {
                log.push(access);
                if log.len() >= self.most {
                    self.shorten(event.thread());
                }
            }
        }
    }

    /// Keeps at most half of a log that is full.
    #[cold]
    fn shorten(&mut self, thread: ThreadId) {
        let known = self.known(thread);
        let log = &mut self.by_thread[thread.index()];
        let (kept, forgotten) = known.split_at(known.len().min(self.most / 2));
        log.forgotten = forgotten.first().map(|access| access.event).or(log.forgotten);
        log.accesses.clear();
        log.accesses.extend(kept.iter().rev());
    }

    /// The variables whose last access by the thread is a read, as far as remembered, each with that read. The last
    /// read comes first.
    fn known(&mut self, thread: ThreadId) -> Vec<Access> {
        self.look = self.look.wrapping_add(1);
        if self.look == 0 {
            self.met.fill(0);
            self.look = 1;
        }
        let (met, look) = (&mut self.met, self.look);
        let is_last = |access: &&Access| std::mem::replace(&mut met[access.variable.index()], look) != look;
        let log = self.by_thread[thread.index()].accesses.iter().rev();
        log.filter(is_last).filter(|access| !access.writes).copied().collect()
    }

    /// A thread goes on from a wait: what it read before was the test of that one.
    pub(super) fn forget(&mut self, thread: ThreadId) {
        let log = &mut self.by_thread[thread.index()];
        log.accesses.clear();
        log.forgotten = None;
    }

    /// The test of a wait of `thread`, which has done nothing since: the last read of something that it has not
    /// accessed again, and that the notify announces; if who notifies wrote it between that read and the notify. Which
    /// it is may depend on what comes later. `given`: when it last gave the lock of the wait back.
    pub(super) fn test(&mut self, thread: ThreadId, given: Option<u64>, notify: &Notify) -> Option<Test> {
        let by = notify.place.thread;
        if by == thread {
            return None;
        }
        let known = self.known(thread);
        // If a read since then is forgotten, the log has nothing older: both searches are the same.
        let since = &known[..known.partition_point(|read| Some(read.event) > given)];
        let forgotten = self.by_thread[thread.index()].forgotten;
        let may_write = |variable: VarId| self.writers[variable.index()] & bit(by.index()) != 0;
        let find = |reads: &[Access], is_all: bool| {
            let known: Vec<(VarId, u64)> = reads.iter().map(|read| (read.variable, read.event)).collect();
            let test = notify.test(&known, is_all, may_write)?;
            let read = reads.iter().find(|read| read.event == test)?;
            Some(Place { event: read.event, thread, site: read.site })
        };
        let (any, last) = (find(&known, forgotten.is_none()), find(since, forgotten <= given));
        let looked = || since.iter().map(|read| read.variable).collect();
        (any.is_some() || last.is_some()).then(|| Test { thread, any, last, looked: looked() })
    }

    /// When all is known: the test, if those have notified the condition ([`bit`]s).
    pub(super) fn decide(&self, test: &Test, notifiers: u64) -> Option<Place> {
        // With more threads than bits, its own bit may be another's, too, and who wrote may not be who notified.
        let is_exact = self.by_thread.len() <= BITS;
        let others = if is_exact { notifiers & !bit(test.thread.index()) } else { notifiers };
        let is_news = |variable: &VarId| self.writers[variable.index()] & others != 0;
        if !test.looked.iter().any(is_news) {
            return test.any;
        }
        test.last.filter(|_| is_exact || test.any == test.last)
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

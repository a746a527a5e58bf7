//! What threads have read of late, and who wrote it since: the reads that can have been the test of a wait.

use super::writes::Notify;
use crate::place::Place;
use event::{Event, Id, ThreadId, VarId};

/// Variables of which a thread's last read is remembered; one that shares its place with another drives it out.
const READS: usize = 64;
/// Threads whose writes after a read are remembered.
const WRITERS: usize = 16;

/// The last read of a variable by a thread.
#[derive(Clone, Debug)]
struct Read {
    variable: VarId,
    place: Place,
    /// Threads that wrote the variable since, each with its first write.
    writers: Vec<(ThreadId, u64)>,
}

/// The reads of all threads, as far as they are remembered.
#[derive(Default, Debug)]
pub(super) struct Reads {
    by_thread: Vec<Vec<Option<Read>>>,
    /// By variable: who may have read it, a bit for every 32nd thread.
    readers: Vec<u32>,
    /// And who may have written it.
    writers: Vec<u32>,
}

fn bit(thread: usize) -> u32 {
    1 << (thread % 32)
}

impl Reads {
    pub(super) fn grow(&mut self, threads: usize, variables: usize) {
        self.by_thread.resize_with(threads, Vec::new);
        self.readers.resize(variables, 0);
        self.writers.resize(variables, 0);
    }

    pub(super) fn read(&mut self, event: Event, index: u64) {
        let (thread, variable) = (event.thread().index(), event.var());
        self.readers[variable.index()] |= bit(thread);
        let reads = &mut self.by_thread[thread];
        if reads.is_empty() {
            reads.resize(READS, None);
        }
        let place = Place::new(event, index);
        match &mut reads[variable.index() % READS] {
            Some(read) if read.variable == variable => {
                read.place = place;
                read.writers.clear();
            }
            other => *other = Some(Read { variable, place, writers: Vec::new() }),
        }
    }

    pub(super) fn write(&mut self, event: Event, index: u64) {
        let (writer, variable) = (event.thread(), event.var());
        self.writers[variable.index()] |= bit(writer.index());
        // Who writes it itself knows better than what it read.
        if let Some(own) = self.by_thread[writer.index()].get_mut(variable.index() % READS) {
            own.take_if(|read| read.variable == variable);
        }
        let mut bits = self.readers[variable.index()];
        while bits != 0 {
            let first = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            for thread in (first..self.by_thread.len()).step_by(32).filter(|&thread| thread != writer.index()) {
                let Some(Some(read)) = self.by_thread[thread].get_mut(variable.index() % READS) else { continue };
                if read.variable == variable
                    && read.writers.len() < WRITERS
                    && read.writers.iter().all(|(known, _)| *known != writer)
                {
                    read.writers.push((writer, index));
                }
            }
        }
    }

    /// A thread goes on from a wait: what it read before was the test of that one.
    pub(super) fn forget(&mut self, thread: ThreadId) {
        self.by_thread[thread.index()].fill(None);
    }

    /// The test of a wait of `thread`, which has done nothing since: the last read of something that it has not accessed again, and that the
    /// notify tells of; if who notifies wrote it between that read and the notify.
    pub(super) fn test(&self, thread: ThreadId, notify: &Notify) -> Option<Place> {
        let by = notify.place.thread;
        let may_tell = |read: &&Read| {
            notify.tells(read.variable) || notify.is_more && self.writers[read.variable.index()] & bit(by.index()) != 0
        };
        let reads = self.by_thread[thread.index()].iter().flatten();
        let test = reads.filter(may_tell).max_by_key(|read| read.place.event)?;
        let wrote = test.writers.iter().any(|&(writer, at)| writer == by && at < notify.place.event);
        (wrote && notify.tells(test.variable)).then_some(test.place)
    }
}

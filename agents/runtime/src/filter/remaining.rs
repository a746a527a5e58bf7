//! Writes what is still deferred when the process ends.
//!
//! A deferred access is recorded when another thread's access conflicts with it. For the last thread that used a word,
//! no such access comes. Still, in another run its accesses can race with what the trace already has of the word. For
//! example, one thread does `acq(l) w(x) rel(l)`, and then another one `acq(l) w(x) rel(l) w(x)`: the last write races
//! with the first one. So the cells of contended words are written out at the end. Of other words, the trace has
//! nothing that could race with them.

use super::bits::is_known;
use super::cell::Cell;
use super::memory::Filter;
use super::recorder::Recorder;
use super::{CONFLICT_ROOM, Sink};

impl Recorder {
    /// Writes what is deferred of a contended word. The records go with this thread's next timed record. `biased` is
    /// as for accesses.
    pub fn write_remaining(
        &mut self,
        filter: &Filter,
        sink: &mut impl Sink,
        cell: Cell,
        biased: impl FnOnce() -> bool,
        word: u64,
    ) {
        sink.reserve(CONFLICT_ROOM);
        let Ok(a) = cell.lock(sink, biased(), is_known) else { return };
        let mut contents = cell.contents(a);
        if contents.contended {
            self.write_out(filter, sink, word, &contents);
            self.need_clock();
            contents.nodes = 0;
            contents.first.set_recorded();
            contents.second.set_recorded();
        }
        cell.set(&contents);
    }
}

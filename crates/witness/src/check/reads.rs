//! `maximal`: every read sees its recorded writer, or a value equal to the recorded one.

use super::places::Places;
use super::refused::{Broken, Written};
use crate::ops::{is_access, is_barrier, is_read};
use crate::sections::NONE;
use event::{Batch, Event, Names, Op, Space, Value, VarId};

/// What each variable holds, and what each read saw when recorded.
pub(super) struct Reads<'a> {
    initial: &'a dyn Fn(VarId) -> Value,
    /// By event: the write that a read or read-modify-write saw; [`NONE`] for an initial value.
    writers: Vec<u32>,
    /// By variable: the last write since the last barrier, or [`NONE`].
    last: Vec<u32>,
    /// By variable: whether there was a barrier, so that the initial value is not known any more.
    renewed: Vec<bool>,
}

impl<'a> Reads<'a> {
    /// Finds out which write each read saw.
    pub(super) fn new(names: &Names, trace: &Batch, initial: &'a dyn Fn(VarId) -> Value) -> Reads<'a> {
        let vars = names.space(Space::Var).len();
        let mut last = vec![NONE; vars];
        let mut writers = vec![NONE; trace.events.len()];
        for (at, &event) in (0u32..).zip(&trace.events) {
            if !is_access(event.op()) {
                continue;
            }
            let last = &mut last[event.object() as usize];
            writers[at as usize] = *last;
            if !is_read(event.op()) {
                *last = if is_barrier(event.op()) { NONE } else { at };
            }
        }
        last.fill(NONE);
        Reads { initial, writers, last, renewed: vec![false; vars] }
    }

    /// The next event of the schedule; whether it sees something that it may see.
    #[inline]
    pub(super) fn step(&mut self, trace: &Batch, at: u32, event: Event, places: &Places) -> Result<(), Broken> {
        let op = event.op();
        if !is_access(op) {
            return Ok(());
        }
        let var = event.object() as usize;
        let last = self.last[var];
        match op {
            Op::Alloc | Op::Free => {
                self.last[var] = NONE;
                self.renewed[var] = true;
            }
            Op::Write | Op::AtomicStore => self.last[var] = at,
            _ => {
                let writer = self.writers[at as usize];
                if last != writer && (op == Op::AtomicRmw || !self.equal(trace, event, last)) {
                    let written = |write| match write {
                        NONE => Written::Initially,
                        write => Written::By(places.index(write)),
                    };
                    return Err(Broken::Sees { sees: written(last), recorded: written(writer) });
                }
                if op == Op::AtomicRmw {
                    self.last[var] = at;
                }
            }
        }
        Ok(())
    }

    /// Whether a read recorded the value that this write left.
    fn equal(&self, trace: &Batch, read: Event, write: u32) -> bool {
        let left = match write {
            NONE if self.renewed[read.object() as usize] => Value::Unknown,
            NONE => (self.initial)(read.var()),
            write => trace.extra(trace.events[write as usize]).value,
        };
        left.is_known() && trace.extra(read).value == left
    }
}

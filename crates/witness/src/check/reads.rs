//! `maximal`, "Reads": every read sees its recorded writer, or a write with an equal value.

use super::positions::Positions;
use super::refusal::{Reason, Written};
use crate::ops::{is_access, is_read};
use crate::sections::NONE;
use event::{Batch, Event, Names, Op, Space, Value, VarId};

/// What each variable holds along the schedule, and what each read saw in the recorded run.
pub(super) struct ReadCheck<'a> {
    initial: &'a dyn Fn(VarId) -> Value,
    /// By event: the write that a read or read-modify-write saw; [`NONE`] for an initial value.
    writers: Vec<u32>,
    /// By variable: the last write since the last boundary, or [`NONE`].
    last: Vec<u32>,
    /// By variable: whether there was an `alloc` or `free`, after which the initial value is unknown.
    renewed: Vec<bool>,
}

impl<'a> ReadCheck<'a> {
    /// Finds the recorded writer of each read.
    pub(super) fn new(names: &Names, trace: &Batch, initial: &'a dyn Fn(VarId) -> Value) -> ReadCheck<'a> {
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
                *last = if event.op().bounds_lifetime() { NONE } else { at };
            }
        }
        last.fill(NONE);
        ReadCheck { initial, writers, last, renewed: vec![false; vars] }
    }

    /// Takes the next event of the schedule. It is an error if it sees a value that it may not see.
    #[inline]
    pub(super) fn step(&mut self, trace: &Batch, at: u32, event: Event, positions: &Positions) -> Result<(), Reason> {
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
                        write => Written::By(positions.index(write)),
                    };
                    return Err(Reason::Sees { sees: written(last), recorded: written(writer) });
                }
                if op == Op::AtomicRmw {
                    self.last[var] = at;
                }
            }
        }
        Ok(())
    }

    /// Whether the recorded value of a read is known to be the one that this write left.
    fn equal(&self, trace: &Batch, read: Event, write: u32) -> bool {
        let left = match write {
            NONE if self.renewed[read.object() as usize] => Value::Unknown,
            NONE => (self.initial)(read.var()),
            write => trace.extra(trace.events[write as usize]).value,
        };
        left.is_known() && trace.extra(read).value == left
    }
}

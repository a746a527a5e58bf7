//! Which variables may be warned of: one pass with a small state for each variable, which most traces need no more
//! than.
//!
//! A variable has one owner, until a thread comes that the kept order does not put after the owner. From then on it is
//! shared. It is a candidate if it is shared, some access writes, some is not atomic, and no lock protects all accesses
//! since the last owner came; or if a thread comes that is not after the owners before. That is Eraser's state machine
//! with a hand-over of ownership. What the variable's first thread does alone needs no lock here, as in the definition:
//! what is to be kept apart from it is a write without any lock, and that alone leaves no lock that protects all.
//!
//! A variable that is no candidate has no pair to warn of; of a candidate, the exact pass has to say.

use super::guards::Guards;
use crate::kept_order::ThreadSegment;
use crate::locksets::SetId;
use event::{Batch, Event, Id, Names, Op, Space, ThreadId, VarId};

/// Events whose variables are fetched together.
const TOGETHER: usize = 64;

/// So few variables are in a near cache anyway.
const NEAR: usize = 1 << 12;

const WRITTEN: u32 = 1;
const PLAIN: u32 = 2;
/// Threads access it in no order.
const SHARED: u32 = 4;
const CANDIDATE: u32 = 8;

#[derive(Clone, Copy, Debug)]
struct Var {
    /// The last owner at its last access. No thread has come if its segment is 0.
    owner: ThreadSegment,
    /// All that other threads did before the owner came is before this. Segment 0: there were none.
    base: ThreadSegment,
    /// What protects all accesses since the owner came, but for those of the first thread alone.
    locks: SetId,
    flags: u32,
}

impl Default for Var {
    fn default() -> Self {
        let none = ThreadSegment::default();
        Var { owner: none, base: none, locks: SetId::ALL, flags: 0 }
    }
}

/// Looks for candidates, batch by batch.
#[derive(Default, Debug)]
pub struct Screen {
    vars: Vec<Var>,
    guards: Guards,
}

impl Guards {
    /// Makes a variable a candidate if the thread is not after these owners.
    #[inline]
    fn unless_after(&self, owners: ThreadSegment, thread: ThreadId) -> u32 {
        if owners.segment == 0 || self.order.is_before(owners, thread.0) { 0 } else { CANDIDATE }
    }
}

impl Screen {
    /// Before the first event.
    pub fn new() -> Screen {
        Screen::default()
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        self.batch_of(names, batch, |_| true);
    }

    /// Takes the next events; of accesses, only those of some variables. The others are no candidates.
    pub fn batch_of(&mut self, names: &Names, batch: &Batch, looks_at: impl Fn(VarId) -> bool) {
        self.grow(names);
        self.events(batch, &batch.events, looks_at);
    }

    /// Makes room for what has these names.
    pub(crate) fn grow(&mut self, names: &Names) {
        self.vars.resize(names.space(Space::Var).len(), Var::default());
        self.guards.grow(names);
    }

    /// Takes the next events, which are of this batch.
    pub(crate) fn events(&mut self, batch: &Batch, events: &[Event], looks_at: impl Fn(VarId) -> bool) {
        for events in events.chunks(TOGETHER) {
            if self.vars.len() > NEAR {
                // All come from memory at once, and not one after the other.
                let vars = events.iter().filter_map(|event| self.vars.get(event.object() as usize));
                std::hint::black_box(vars.fold(0, |all, var| all ^ var.flags));
            }
            for &event in events {
                match event.op() {
                    op if op.is_access() && !looks_at(event.var()) => {}
                    Op::Read => self.access(event, PLAIN),
                    Op::Write => self.access(event, PLAIN | WRITTEN),
                    Op::AtomicLoad => self.access(event, 0),
                    Op::AtomicStore | Op::AtomicRmw => self.access(event, WRITTEN),
                    Op::Free => {}
                    Op::Alloc => {
                        let var = &mut self.vars[event.object() as usize];
                        *var = Var { flags: var.flags & CANDIDATE, ..Var::default() };
                    }
                    _ => self.guards.step(batch, event),
                }
            }
        }
    }

    #[inline]
    fn access(&mut self, event: Event, kind: u32) {
        let var = &mut self.vars[event.object() as usize];
        let guards = &mut self.guards;
        let thread = event.thread();
        match var.flags & (SHARED | CANDIDATE) {
            0 => {
                let now = guards.now(thread);
                if var.owner.segment == 0 || var.owner.thread == thread.0 {
                    var.owner = now;
                    if var.base.segment == 0 {
                        var.flags |= kind & PLAIN;
                        return;
                    }
                } else if guards.order.is_before(var.owner, thread.0) {
                    *var = Var { owner: now, base: var.owner, ..Var::default() };
                } else {
                    var.flags |= SHARED;
                    var.flags |= guards.unless_after(var.base, thread);
                }
            }
            SHARED => var.flags |= guards.unless_after(var.base, thread),
            _ => return,
        }
        var.flags |= kind;
        let protecting = guards.protecting(thread, kind & WRITTEN != 0);
        if protecting != var.locks {
            var.locks = guards.sets.meet(var.locks, protecting);
        }
        const UNPROTECTED: u32 = SHARED | WRITTEN | PLAIN;
        if var.locks == SetId::EMPTY && var.flags & UNPROTECTED == UNPROTECTED {
            var.flags |= CANDIDATE;
        }
    }

    /// The trace has ended.
    pub fn finish(self) -> Candidates {
        let mut count = 0;
        let places = self.vars.iter().map(|var| {
            let is_candidate = var.flags & CANDIDATE != 0;
            count += u32::from(is_candidate);
            if is_candidate { count } else { 0 }
        });
        let places = places.collect();
        Candidates { places, count: count as usize }
    }
}

/// The variables that may be warned of.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Candidates {
    /// By variable: its number among them, from 1 on, or 0.
    places: Vec<u32>,
    count: usize,
}

impl Candidates {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether a variable is one of them.
    #[inline]
    pub fn has(&self, var: VarId) -> bool {
        self.place(var).is_some()
    }

    /// Which of them a variable is, if it is one.
    #[inline]
    pub(super) fn place(&self, var: VarId) -> Option<usize> {
        (*self.places.get(var.index())? as usize).checked_sub(1)
    }
}

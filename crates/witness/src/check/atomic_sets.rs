//! `weak-hb`, "Atomic sets": no other access of the variable comes between a write and the accesses that saw it.

use super::positions::{Latest, Positions};
use super::refusal::{Reason, Rule};
use crate::ops::{is_access, is_read};
use crate::sections::NONE;
use event::{Batch, Event, Names, Op, Space};

/// An atomic set of the recorded run.
struct Set {
    /// The write that opens it; [`NONE`] for the reads of an initial value.
    opened: u32,
    /// The number of accesses that belong to it.
    members: u32,
    /// If an `armw` opens it: the set before, to which the `armw` belongs, too.
    before: u32,
}

/// A variable along the recorded run.
#[derive(Clone)]
struct VariableState {
    /// The set to which the next read belongs; [`NONE`] between a boundary and the first access after it.
    set: u32,
    members: Latest,
    write: Latest,
    /// The last boundary.
    boundary: u32,
}

/// The atomic sets of a trace, and which of them are open along the schedule.
pub(super) struct AtomicSetCheck {
    sets: Vec<Set>,
    /// By access: its set (of an `armw`: the one that it opens). By boundary: the initial set after it.
    set_of: Vec<u32>,
    /// By variable: its open set, and the number of members that are still to come.
    open: Vec<(u32, u32)>,
}

impl AtomicSetCheck {
    /// Finds the sets in the recorded run. Checks that members come after the write that opens their set, and an `armw`
    /// after all other members of the set before.
    pub(super) fn new(names: &Names, trace: &Batch, positions: &mut Positions) -> AtomicSetCheck {
        let vars = names.space(Space::Var).len();
        let fresh = VariableState { set: NONE, members: Latest::default(), write: Latest::default(), boundary: NONE };
        let mut variables = vec![fresh.clone(); vars];
        let mut all =
            AtomicSetCheck { sets: Vec::new(), set_of: vec![NONE; trace.events.len()], open: vec![(NONE, 0); vars] };
        for (at, &event) in (0u32..).zip(&trace.events) {
            let op = event.op();
            if !is_access(op) {
                continue;
            }
            let var = event.object() as usize;
            let variable = &mut variables[var];
            if op.bounds_lifetime() {
                *variable = VariableState { boundary: at, ..fresh.clone() };
                continue;
            }
            if variable.set == NONE && op != Op::Write && op != Op::AtomicStore {
                variable.set = all.add(NONE, NONE);
                match variable.boundary {
                    NONE => all.open[var].0 = variable.set,
                    boundary => all.set_of[boundary as usize] = variable.set,
                }
            }
            let here = positions.get(at);
            if is_read(op) {
                positions.require(at, variable.write, Rule::ReadsFrom);
                variable.members.add(here);
                all.sets[variable.set as usize].members += 1;
            } else {
                let mut before = NONE;
                if op == Op::AtomicRmw {
                    positions.require(at, variable.write, Rule::ReadsFrom);
                    positions.require(at, variable.members, Rule::Reads);
                    before = variable.set;
                    all.sets[before as usize].members += 1;
                }
                *variable = VariableState { set: all.add(at, before), write: here, members: here, ..*variable };
                all.sets[variable.set as usize].members += 1;
            }
            all.set_of[at as usize] = variable.set;
        }
        for (set, members) in &mut all.open {
            if *set != NONE {
                *members = all.sets[*set as usize].members;
            }
        }
        all
    }

    fn add(&mut self, opened: u32, before: u32) -> u32 {
        self.sets.push(Set { opened, members: 0, before });
        self.sets.len() as u32 - 1
    }

    /// Takes the next event of the schedule, after the predecessors that the other rules give it.
    #[inline]
    pub(super) fn step(&mut self, at: u32, event: Event, positions: &mut Positions) {
        let op = event.op();
        if !is_access(op) {
            return;
        }
        let own = self.set_of[at as usize];
        let (open, to_come) = &mut self.open[event.object() as usize];
        if op.bounds_lifetime() {
            (*open, *to_come) = (own, if own == NONE { 0 } else { self.sets[own as usize].members });
            return;
        }
        let set = &self.sets[own as usize];
        if *open != NONE {
            if own != *open && set.before != *open {
                let reason = match self.sets[*open as usize].opened {
                    NONE => Reason::InitialSetOpen,
                    opened => Reason::SetOpen { opened: positions.index(opened) },
                };
                positions.refuse(at, reason);
                return;
            }
            *to_come -= 1;
        }
        if set.opened == at {
            (*open, *to_come) = (own, set.members - 1);
        }
        if *to_come == 0 {
            *open = NONE;
        }
    }
}

//! `weak-hb`: atomic sets. A write and the accesses that saw it are undivided by other accesses of the variable.

use super::places::{Latest, Places};
use super::refused::{Broken, Rule};
use crate::ops::{is_access, is_barrier, is_read};
use crate::sections::NONE;
use event::{Batch, Event, Names, Op, Space};

/// An atomic set of the recorded run.
struct Set {
    /// The write that opens it; [`NONE`] for the reads of an initial value.
    opened: u32,
    /// How many accesses belong to it.
    members: u32,
    /// For a set that an `armw` opens: the set before, which the `armw` also belongs to.
    before: u32,
}

/// A variable in the recorded order.
#[derive(Clone)]
struct Variable {
    /// The set that the next read belongs to; [`NONE`] behind a barrier, until there is a read.
    set: u32,
    members: Latest,
    write: Latest,
    /// The last barrier.
    barrier: u32,
}

/// The atomic sets of a trace.
pub(super) struct Sets {
    sets: Vec<Set>,
    /// By access: the set it belongs to (an `armw`: the one it opens); by barrier: the initial set behind it.
    of: Vec<u32>,
    /// By variable: the set that is open, and how many of its members are still to come.
    open: Vec<(u32, u32)>,
}

impl Sets {
    /// Finds the sets, and checks that members come after the write that opened theirs, and an `armw` after all
    /// others of the set before.
    pub(super) fn new(names: &Names, trace: &Batch, places: &mut Places) -> Sets {
        let vars = names.space(Space::Var).len();
        let fresh = Variable { set: NONE, members: Latest::default(), write: Latest::default(), barrier: NONE };
        let mut variables = vec![fresh.clone(); vars];
        let mut all = Sets { sets: Vec::new(), of: vec![NONE; trace.events.len()], open: vec![(NONE, 0); vars] };
        for (at, &event) in (0u32..).zip(&trace.events) {
            let op = event.op();
            if !is_access(op) {
                continue;
            }
            let var = event.object() as usize;
            let variable = &mut variables[var];
            if is_barrier(op) {
                *variable = Variable { barrier: at, ..fresh.clone() };
                continue;
            }
            if variable.set == NONE && op != Op::Write && op != Op::AtomicStore {
                variable.set = all.add(NONE, NONE);
                match variable.barrier {
                    NONE => all.open[var].0 = variable.set,
                    barrier => all.of[barrier as usize] = variable.set,
                }
            }
            let here = places.of(at);
            if is_read(op) {
                places.need(at, variable.write, Rule::ReadsFrom);
                variable.members.add(here);
                all.sets[variable.set as usize].members += 1;
            } else {
                let mut before = NONE;
                if op == Op::AtomicRmw {
                    places.need(at, variable.write, Rule::ReadsFrom);
                    places.need(at, variable.members, Rule::Reads);
                    before = variable.set;
                    all.sets[before as usize].members += 1;
                }
                *variable = Variable { set: all.add(at, before), write: here, members: here, ..*variable };
                all.sets[variable.set as usize].members += 1;
            }
            all.of[at as usize] = variable.set;
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

    /// The next event of the schedule, whose predecessors by the orders above all came.
    #[inline]
    pub(super) fn step(&mut self, at: u32, event: Event, places: &mut Places) {
        let op = event.op();
        if !is_access(op) {
            return;
        }
        let of = self.of[at as usize];
        let (open, to_come) = &mut self.open[event.object() as usize];
        if is_barrier(op) {
            (*open, *to_come) = (of, if of == NONE { 0 } else { self.sets[of as usize].members });
            return;
        }
        let set = &self.sets[of as usize];
        if *open != NONE {
            if of != *open && set.before != *open {
                let broken = match self.sets[*open as usize].opened {
                    NONE => Broken::InitialSetOpen,
                    opened => Broken::SetOpen { opened: places.index(opened) },
                };
                places.refuse(at, broken);
                return;
            }
            *to_come -= 1;
        }
        if set.opened == at {
            (*open, *to_come) = (of, set.members - 1);
        }
        if *to_come == 0 {
            *open = NONE;
        }
    }
}

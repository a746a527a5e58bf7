//! `full-hb` and `sync-only`: conflicting events keep their recorded order.
//!
//! No transitive closure is needed: if all direct predecessors of each event come before it, their predecessors do,
//! too.

use super::positions::{Latest, Positions};
use super::refusal::Rule;
use crate::ops::{LockRole, is_access, is_read, lock_role};
use crate::sections::{Sections, lock_of};
use event::{Batch, Names, Op, Space};

#[derive(Clone, Copy, Default)]
struct VariableLatest {
    reads: Latest,
    others: Latest,
}

#[derive(Clone, Copy, Default)]
struct LockLatest {
    exclusive: Latest,
    shared: Latest,
    failed: Latest,
}

/// Checks these rules in one pass along the recorded run. `plain`: whether plain accesses keep their order, too.
pub(super) fn check(plain: bool, names: &Names, trace: &Batch, positions: &mut Positions) {
    let mut variables = vec![VariableLatest::default(); names.space(Space::Var).len()];
    let mut locks = LockOrder::new(names);
    let mut conditions = vec![Latest::default(); names.space(Space::Cond).len()];
    let mut semaphores = vec![Latest::default(); names.space(Space::Sem).len()];
    for (at, &event) in (0u32..).zip(&trace.events) {
        let op = event.op();
        let here = positions.get(at);
        if is_access(op) {
            if plain || op.is_atomic() {
                let variable = &mut variables[event.object() as usize];
                positions.require(at, variable.others, Rule::Variable);
                if is_read(op) {
                    variable.reads.add(here);
                } else {
                    positions.require(at, variable.reads, Rule::Variable);
                    variable.others.add(here);
                }
            }
            continue;
        }
        let (chain, rule) = match op {
            Op::Up | Op::Down => (&mut semaphores[event.object() as usize], Rule::Semaphore),
            Op::Wait | Op::Woken | Op::Notify | Op::NotifyAll => {
                (&mut conditions[event.object() as usize], Rule::Condition)
            }
            _ => {
                locks.step(trace, at, positions);
                continue;
            }
        };
        positions.require(at, *chain, rule);
        chain.add(here);
        locks.step(trace, at, positions);
    }
}

struct LockOrder {
    sections: Sections,
    locks: Vec<LockLatest>,
    /// By condition: the lock with the same name.
    namesakes: Vec<Option<u32>>,
}

impl LockOrder {
    fn new(names: &Names) -> LockOrder {
        let locks = names.space(Space::Lock);
        let conds = names.space(Space::Cond);
        let namesake = |cond| locks.find(conds.get(cond)?.as_bytes());
        LockOrder {
            sections: Sections::default(),
            locks: vec![LockLatest::default(); locks.len()],
            namesakes: (0..conds.len() as u32).map(namesake).collect(),
        }
    }

    fn step(&mut self, trace: &Batch, at: u32, positions: &mut Positions) {
        let event = trace.events[at as usize];
        let op = event.op();
        let effect = self.sections.step(trace, at, event).effect;
        let lock = match op {
            Op::Notify | Op::NotifyAll => self.namesakes[event.object() as usize],
            Op::Wait | Op::Woken | Op::TryFail => lock_of(trace, event),
            _ => lock_of(trace, event).filter(|_| changes(effect)),
        };
        let Some(lock) = lock else { return };
        let here = positions.get(at);
        let lock = &mut self.locks[lock as usize];
        let LockLatest { exclusive, shared, failed } = *lock;
        let (own, needed) = match lock_role(op) {
            LockRole::Exclusive => (&mut lock.exclusive, exclusive.max(shared).max(failed)),
            LockRole::Shared => (&mut lock.shared, exclusive.max(failed)),
            LockRole::Failed => (&mut lock.failed, exclusive.max(shared)),
        };
        positions.require(at, needed, Rule::Lock);
        own.add(here);
    }
}

/// Whether an event opens or closes a section.
fn changes(effect: u8) -> bool {
    use crate::sections::effect::{CLOSES, CLOSES_SHARED, OPENS, OPENS_SHARED};
    effect & (OPENS | CLOSES | OPENS_SHARED | CLOSES_SHARED) != 0
}

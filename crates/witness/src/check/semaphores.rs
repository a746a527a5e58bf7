//! Semaphores: `weak-hb` keeps the recorded order of their events, `maximal` counts.

use super::positions::{Latest, Positions};
use super::refusal::{Reason, Rule};
use crate::sections::NONE;
use event::{Batch, Event, Names, Op, Space, Value};

/// Checks the recorded order (`weak-hb`).
pub(super) fn check_order(names: &Names, trace: &Batch, positions: &mut Positions) {
    let mut semaphores = vec![Latest::default(); names.space(Space::Sem).len()];
    for (at, &event) in (0u32..).zip(&trace.events) {
        if event.op().counts() {
            let semaphore = &mut semaphores[event.sem().0 as usize];
            positions.require(at, *semaphore, Rule::Semaphore);
            semaphore.add(positions.get(at));
        }
    }
}

/// By semaphore: its count along the schedule (`maximal`).
pub(super) struct SemaphoreCheck(Vec<u64>);

impl SemaphoreCheck {
    /// Before the first event.
    pub(super) fn new(names: &Names, trace: &Batch) -> SemaphoreCheck {
        SemaphoreCheck(initial_counts(names, trace))
    }

    /// Takes the next event of the schedule.
    #[inline]
    pub(super) fn step(&mut self, at: u32, event: Event, positions: &mut Positions) {
        match event.op() {
            Op::Up => {
                let count = &mut self.0[event.sem().0 as usize];
                *count = count.saturating_add(1);
            }
            Op::Down => {
                let count = &mut self.0[event.sem().0 as usize];
                if *count == 0 {
                    positions.refuse(at, Reason::SemaphoreEmpty);
                } else {
                    *count -= 1;
                }
            }
            _ => {}
        }
    }
}

/// By semaphore: its initial count: what `#! init` says last before its first use, else 0.
pub(super) fn initial_counts(names: &Names, trace: &Batch) -> Vec<u64> {
    let semaphores = names.space(Space::Sem);
    let mut counts = vec![0; semaphores.len()];
    let mut used = vec![NONE; semaphores.len()];
    for (at, event) in (0u32..).zip(&trace.events) {
        if event.op().counts() {
            let first = &mut used[event.sem().0 as usize];
            *first = at.min(*first);
        }
    }
    for init in &trace.inits {
        let name = names.str(init.name);
        if let Some(number) = semaphores.find(name.as_bytes())
            && init.before <= used[number as usize]
        {
            counts[number as usize] = match init.value {
                Value::Int(count) => u64::try_from(count).unwrap_or(0),
                _ => 0,
            };
        }
    }
    counts
}

//! Small random traces, random schedules of them, and the definitions of docs/causality.md by brute force.

#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

pub mod definition;
pub mod maker;

use event::{Batch, Causality, Names, Value, VarId};

/// Random draws.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % bound
    }

    pub fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A trace with the initial values of its variables.
pub struct Sample {
    pub names: Names,
    pub batch: Batch,
    pub initial: Vec<Value>,
}

impl Sample {
    pub fn initial(&self) -> impl Fn(VarId) -> Value + '_ {
        |var| self.initial.get(var.0 as usize).copied().unwrap_or_default()
    }

    pub fn check(
        &self,
        model: Causality,
        schedule: &[u64],
        terminal: bool,
    ) -> Result<witness::Checked, witness::Refusal> {
        witness::check(model, &self.names, &self.batch, &self.initial(), schedule, terminal)
    }

    /// The trace as text, for messages of failed tests.
    pub fn show(&self) -> String {
        let line = |(k, &event): (usize, &event::Event)| {
            let extra = self.batch.extra(event);
            format!("{k}: {event:?} value {:?} lock {} {:?}\n", extra.value, extra.lock.0, extra.wake)
        };
        self.batch.events.iter().enumerate().map(line).collect()
    }
}

/// A random change of a schedule.
pub fn mutate(random: &mut Random, schedule: &mut Vec<u64>, events: usize) {
    let n = schedule.len();
    match random.below(6) {
        0 | 1 if n > 1 => {
            let k = random.below(n - 1);
            schedule.swap(k, k + 1);
        }
        2 if n > 1 => {
            let moved = schedule.remove(random.below(n));
            schedule.insert(random.below(n), moved);
        }
        3 if n > 0 => {
            schedule.remove(random.below(n));
        }
        4 => schedule.insert(random.below(n + 1), random.below(events + 1) as u64),
        _ => schedule.truncate(random.below(n + 1)),
    }
}

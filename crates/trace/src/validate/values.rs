//! What each variable holds and what each semaphore counts, as far as the trace says.

use crate::text::value_text;
use event::{Batch, Event, Init, Names, Op, SemId, Space, Value, VarId};
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Values {
    /// Whether any value was given so far: without one there is nothing to compare.
    pub(super) any: bool,
    /// By variable: the value of its last write, or its initial value.
    last: Vec<Value>,
    counts: Vec<i64>,
    /// Initial values of names not used yet.
    inits: BTreeMap<String, Value>,
    /// By variable and by semaphore: whether it was used, 64 to a word. A trace may name things long before.
    used_vars: Vec<u64>,
    used_sems: Vec<u64>,
}

impl Values {
    pub(super) fn grow(&mut self, names: &Names, batch: &Batch) {
        let sems = names.space(Space::Sem);
        self.used_sems.resize(sems.len().div_ceil(64), 0);
        self.used_vars.resize(names.space(Space::Var).len().div_ceil(64), 0);
        for number in self.counts.len()..sems.len() {
            let init = self.inits.get(names.sem(SemId(number as u32)));
            self.counts.push(init.map_or(0, |&value| count(value)));
        }
        if !self.any && batch.extras.len() == 1 && batch.inits.is_empty() && self.inits.is_empty() {
            return;
        }
        self.any = true;
        let vars = names.space(Space::Var).len();
        for number in self.last.len()..vars {
            let known = if self.inits.is_empty() { None } else { self.inits.get(names.var(VarId(number as u32))) };
            self.last.push(known.copied().unwrap_or_default());
        }
    }

    /// Notes that a variable is used.
    #[inline]
    pub(super) fn touch(&mut self, var: VarId) {
        self.used_vars[var.0 as usize / 64] |= 1 << (var.0 % 64);
    }

    /// An initial value. It must come before the first use of its name.
    pub(super) fn init(&mut self, names: &Names, init: &Init) -> Result<(), String> {
        let name = names.str(init.name);
        let late = || Err(format!("the initial value of {name} comes after its first use, and is not used"));
        let semaphore = names.space(Space::Sem).find(name.as_bytes());
        if let Some(number) = semaphore {
            if is_set(&self.used_sems, number) {
                return late();
            }
            self.counts[number as usize] = count(init.value);
        }
        if let Some(number) = names.space(Space::Var).find(name.as_bytes()) {
            if !is_set(&self.used_vars, number) {
                self.last[number as usize] = init.value;
            } else if semaphore.is_none() && names.space(Space::Latch).find(name.as_bytes()).is_none() {
                // The lifetime of an object is a variable of its name, which its initialisation writes.
                return late();
            }
        }
        self.inits.insert(name.to_owned(), init.value);
        Ok(())
    }

    pub(super) fn access(&mut self, names: &Names, batch: &Batch, event: Event) -> Option<String> {
        let value = batch.extra(event).value;
        let var = event.var();
        let last = &mut self.last[var.0 as usize];
        if event.op().writes() {
            *last = value;
            return None;
        }
        // An inexact read may have happened elsewhere, where the variable held another value.
        if !value.is_known() || !last.is_known() || value == *last || batch.extra(event).inexact {
            return None;
        }
        let (t, x) = (names.thread(event.thread()), names.var(var));
        let message =
            format!("{t} reads {x} as {}, but it holds {}", value_text(names, value), value_text(names, *last));
        *last = value;
        Some(message)
    }

    /// Memory is given or taken back: what it holds is no longer known.
    pub(super) fn forget(&mut self, var: VarId) {
        self.touch(var);
        if let Some(last) = self.last.get_mut(var.0 as usize) {
            *last = Value::Unknown;
        }
    }

    pub(super) fn semaphore(&mut self, names: &Names, event: Event) -> Option<String> {
        let number = event.sem().0;
        self.used_sems[number as usize / 64] |= 1 << (number % 64);
        let count = &mut self.counts[event.sem().0 as usize];
        if *count == NOT_A_COUNT {
            *count = i64::from(event.op() == Op::Up);
            return Some(format!("the initial count of semaphore {} is not a count", names.sem(event.sem())));
        }
        if event.op() == Op::Up {
            *count = count.saturating_add(1);
            return None;
        }
        if *count > 0 {
            *count -= 1;
            return None;
        }
        let (t, s) = (names.thread(event.thread()), names.sem(event.sem()));
        Some(format!("{t} takes semaphore {s} down though its count is 0 (an initial count? then say: #! init {s}=1)"))
    }
}

fn is_set(bits: &[u64], number: u32) -> bool {
    bits[number as usize / 64] >> (number % 64) & 1 == 1
}

/// Stands for an initial count that is none, until the semaphore is first used.
const NOT_A_COUNT: i64 = -1;

fn count(value: Value) -> i64 {
    match value {
        Value::Int(n) if n >= 0 => n,
        _ => NOT_A_COUNT,
    }
}

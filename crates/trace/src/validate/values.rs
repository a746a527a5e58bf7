//! What each variable holds and what each semaphore counts, as far as the trace says.

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
    /// Variables and semaphores used so far: ids are given in order of first use.
    used_vars: usize,
    used_sems: usize,
}

impl Values {
    pub(super) fn grow(&mut self, names: &Names, batch: &Batch) {
        let sems = names.space(Space::Sem);
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

    pub(super) fn batch_done(&mut self, names: &Names) {
        self.used_vars = names.space(Space::Var).len();
        self.used_sems = names.space(Space::Sem).len();
    }

    /// Notes which names a part of a batch uses; needed only before an initial value within the batch.
    pub(super) fn used(&mut self, events: &[Event]) {
        for event in events {
            let used = match event.op().space() {
                Some(Space::Var) => &mut self.used_vars,
                Some(Space::Sem) => &mut self.used_sems,
                _ => continue,
            };
            *used = (*used).max(event.object() as usize + 1);
        }
    }

    /// An initial value. It must come before the first use of its name.
    pub(super) fn init(&mut self, names: &Names, init: &Init) -> Result<(), String> {
        let name = names.str(init.name);
        let late = || Err(format!("the initial value of {name} comes after its first use, and is not used"));
        if let Some(number) = names.space(Space::Sem).find(name.as_bytes()) {
            if (number as usize) < self.used_sems {
                return late();
            }
            self.counts[number as usize] = count(init.value);
        }
        if let Some(number) = names.space(Space::Var).find(name.as_bytes()) {
            if (number as usize) < self.used_vars {
                return late();
            }
            self.last[number as usize] = init.value;
        }
        self.inits.insert(name.to_owned(), init.value);
        Ok(())
    }

    pub(super) fn access(&mut self, names: &Names, batch: &Batch, event: Event) -> Option<String> {
        let value = batch.extra(event).value;
        let var = event.var();
        let last = &mut self.last[var.0 as usize];
        if matches!(event.op(), Op::Write | Op::AtomicStore | Op::AtomicRmw) {
            *last = value;
            return None;
        }
        if !value.is_known() || !last.is_known() || value == *last {
            return None;
        }
        let (t, x) = (names.thread(event.thread()), names.var(var));
        let message = format!("{t} reads {x} as {}, but it holds {}", shown(names, value), shown(names, *last));
        *last = value;
        Some(message)
    }

    pub(super) fn forget(&mut self, var: VarId) {
        if let Some(last) = self.last.get_mut(var.0 as usize) {
            *last = Value::Unknown;
        }
    }

    pub(super) fn semaphore(&mut self, names: &Names, event: Event) -> Option<String> {
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

/// Stands for an initial count that is none, until the semaphore is first used.
const NOT_A_COUNT: i64 = -1;

fn count(value: Value) -> i64 {
    match value {
        Value::Int(n) if n >= 0 => n,
        _ => NOT_A_COUNT,
    }
}

fn shown(names: &Names, value: Value) -> String {
    match value {
        Value::Unknown => "unknown".into(),
        Value::Bool(b) => b.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Real(r) => format!("{r:?}"),
        Value::Str(id) => format!("{:?}", names.str(id)),
    }
}

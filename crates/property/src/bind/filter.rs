//! Which events can matter to a specification at all, by operation and object: most cannot.

use super::Bindings;
use super::matching::operations;
use super::subject::Subject;
use crate::check::{EventPattern, LockPattern, Property, Spec, VariableKind};
use event::{Event, Op, Space};

const fn ops(list: &[Op]) -> u64 {
    let (mut set, mut i) = (0, 0);
    while i < list.len() {
        set |= 1 << list[i] as u32;
        i += 1;
    }
    set
}

const CHANGES: u64 = ops(&[Op::Write, Op::AtomicStore, Op::AtomicRmw, Op::Alloc, Op::Free]);
const CROSSINGS: u64 = ops(&[Op::Begin, Op::End]);

/// The operations that matter, as bits: on anything, on what is declared, and on the objects of the trace.
pub(super) struct EventFilter {
    /// Some property asks for the first events of threads.
    pub(super) started: bool,
    /// Some property has parameters: that an object is gone ends instances.
    parametric: bool,
    /// All operations that matter on any object at all.
    possible: u64,
    anything: u64,
    variables: Vec<u64>,
    locks: Vec<u64>,
    events: Vec<u64>,
    by_object: [Vec<u64>; Space::ALL.len()],
}

impl EventFilter {
    /// `follow`: what variables hold counts, too, where only accesses of them do.
    pub(super) fn new<'p>(
        spec: &Spec,
        properties: impl IntoIterator<Item = &'p Property>,
        follow: bool,
    ) -> EventFilter {
        let mut filter = EventFilter {
            started: false,
            parametric: false,
            possible: 0,
            anything: 0,
            variables: vec![0; spec.variables.len()],
            locks: vec![0; spec.locks.len()],
            events: vec![0; spec.events.len()],
            by_object: Default::default(),
        };
        for property in properties {
            filter.parametric |= !property.params.is_empty();
            for var in &property.relevant.variables {
                let region = spec.variables[var.var as usize].kind == VariableKind::Region;
                filter.variables[var.var as usize] |= if region { CROSSINGS } else { CHANGES };
            }
            for pattern in &property.relevant.events {
                filter.pattern(pattern);
                if let (true, EventPattern::Read(var, _) | EventPattern::Write(var, _)) = (follow, pattern) {
                    filter.variables[var.var as usize] |= CHANGES;
                }
            }
        }
        let declared = filter.variables.iter().chain(&filter.locks).chain(&filter.events);
        filter.possible = declared.fold(filter.anything | filter.freed(), |all, set| all | set);
        filter
    }

    /// What matters on an object that instances stand for, whatever its declaration.
    fn freed(&self) -> u64 {
        if self.parametric { 1 << Op::Free as u32 } else { 0 }
    }

    fn pattern(&mut self, pattern: &EventPattern) {
        let ops = operations(pattern);
        match pattern {
            EventPattern::Read(var, _) | EventPattern::Write(var, _) => self.variables[var.var as usize] |= ops,
            // Depths count both.
            EventPattern::Enter(region, _) | EventPattern::Exit(region, _) => {
                self.variables[*region as usize] |= CROSSINGS;
            }
            EventPattern::Acquire(LockPattern::Lock(lock, _), _)
            | EventPattern::Release(LockPattern::Lock(lock, _), _)
            | EventPattern::Notify(LockPattern::Lock(lock, _), _) => self.locks[*lock as usize] |= ops,
            EventPattern::Started(_) => self.started = true,
            EventPattern::User(event, _) => self.events[*event as usize] |= ops,
            // Waiting has two objects, the condition and the lock.
            _ => self.anything |= ops,
        }
    }

    /// Looks at what new names mean.
    pub(super) fn grow(&mut self, bindings: &Bindings) {
        let freed = self.freed();
        let table = &mut self.by_object[Space::Var as usize];
        for meant in &bindings.vars[table.len()..] {
            table.push(meant.iter().fold(0, |set, m| {
                let object = matches!(m.index, Some(Subject::Object(_)));
                set | self.variables[m.number as usize] | if object { freed } else { 0 }
            }));
        }
        for (space, locks) in [(Space::Lock, &bindings.locks), (Space::Cond, &bindings.conds)] {
            let table = &mut self.by_object[space as usize];
            for (meant, _) in &locks[table.len()..] {
                table.push(meant.iter().fold(0, |set, m| set | self.locks[m.number as usize]));
            }
        }
        let numbered =
            [(Space::Block, &bindings.blocks, &self.variables), (Space::Label, &bindings.labels, &self.events)];
        for (space, meant, declared) in numbered {
            let table = &mut self.by_object[space as usize];
            for numbers in &meant[table.len()..] {
                table.push(numbers.iter().fold(0, |set, &n| set | declared[n as usize]));
            }
        }
    }

    /// Whether an event can matter, but for being the first of its thread. This is asked about every event.
    #[inline(always)]
    pub(super) fn matters(&self, event: Event) -> bool {
        let op = event.op();
        self.possible >> op as u32 & 1 == 1 && self.matters_on_its_object(op, event)
    }

    #[inline]
    fn matters_on_its_object(&self, op: Op, event: Event) -> bool {
        let of_object = op.space().and_then(|space| self.by_object[space as usize].get(event.object() as usize));
        (self.anything | of_object.copied().unwrap_or(0)) >> op as u32 & 1 == 1
    }
}

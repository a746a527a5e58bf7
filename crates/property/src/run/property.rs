//! One property on the recorded run: its instances, their steps and what becomes of them.

use super::compile::Compiled;
use super::instances::{Instance, Instances};
use super::matching::{Conditions, Seen, operations};
use super::subject::{Objects, Subject};
use super::values::{Key, Values, View};
use crate::check::{Arg, Atom, Expr, Knobs, Property, Spec, Steps, Unknown, VarRef, holds};
use crate::logic::LogicError;
use crate::monitor::{AnyMonitor, Asked, Letter, Monitor, Verdict};
use event::Names;
use std::collections::BTreeMap;

/// Instances that do not hold and are shown; the others are counted.
const SHOWN: usize = 1000;

/// What became of a property, or of one of its instances.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The number of the property in its specification.
    pub property: usize,
    /// What its parameters stand for, by name; empty for the property as a whole.
    pub instance: Vec<(String, String)>,
    /// What is known of the recorded run.
    pub shown: Shown,
    /// Instances that do not hold and have no outcome of their own, or could not be made.
    pub omitted: u64,
    /// Not all instances could be made.
    pub truncated: bool,
}

/// What is known of a property on the recorded run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// Violated at this event; `None`: at step 0.
    Violated(Option<u64>),
    /// Violated only because the trace ended.
    Unfulfilled,
    /// Not violated, but unknown at some step.
    Unknown,
    /// Not violated; what the end says: satisfied, fulfilled or pending.
    Holds(Verdict),
}

impl Shown {
    /// The worse of two comes first.
    fn rank(self) -> u8 {
        match self {
            Shown::Violated(_) => 0,
            Shown::Unfulfilled => 1,
            Shown::Unknown => 2,
            Shown::Holds(_) => 3,
        }
    }
}

pub(super) struct PropertyRun {
    number: usize,
    property: Property,
    monitor: AnyMonitor,
    asked: Option<Asked>,
    all_steps: bool,
    instances: Instances,
    /// The operations that event atoms can be about, as bits: most events are none of them.
    operations: u64,
    /// State atoms by the variable they mention, as bits.
    by_variable: BTreeMap<u32, u64>,
    ended: Vec<(Vec<Option<Subject>>, Shown)>,
    unknowns: Vec<Unknown>,
    /// Scratch: the instances that an event concerns, and the event atoms that hold for some of them.
    concerned: Vec<u32>,
}

impl PropertyRun {
    pub(super) fn new(number: usize, property: &Property, knobs: Knobs, compiled: Compiled) -> PropertyRun {
        let mut by_variable: BTreeMap<u32, u64> = BTreeMap::new();
        for (bit, (atom, _)) in property.atoms.iter().enumerate() {
            if let Atom::State(expr) = atom {
                for var in expr.variables() {
                    *by_variable.entry(var.var).or_default() |= 1 << bit;
                }
            }
        }
        PropertyRun {
            number,
            property: property.clone(),
            monitor: compiled.monitor,
            asked: compiled.asked,
            all_steps: knobs.steps == Some(Steps::All),
            instances: Instances::default(),
            operations: property.atoms.iter().fold(0, |set, (atom, _)| match atom {
                Atom::Event(pattern) => set | operations(pattern),
                _ => set,
            }),
            by_variable,
            ended: Vec::new(),
            unknowns: Vec::new(),
            concerned: Vec::new(),
        }
    }

    /// Step 0.
    pub(super) fn begin(&mut self, spec: &Spec, names: &Names, values: &Values, objects: &Objects) {
        let binding = vec![None; self.property.params.len()];
        let view = View { spec, names, values, objects, binding: &binding };
        let lasting = self.lasting(u64::MAX, Letter::default(), &view);
        let q = self.monitor.init(lasting);
        let mut instance = Instance { binding, q, lasting, last: lasting, unknown: false, done: false };
        self.judge(&mut instance, None);
        self.instances.add(instance);
    }

    /// The atoms of these bits that do not depend on the event, evaluated anew; the others stay.
    fn lasting(&mut self, bits: u64, old: Letter, view: &View<'_>) -> Letter {
        let mut letter = old;
        for (number, (atom, _)) in self.property.atoms.iter().enumerate() {
            let bit = 1u64 << number;
            if bits & bit == 0 {
                continue;
            }
            let truth = match atom {
                Atom::State(expr) => holds(expr, view),
                // Parameters that stand for nothing make their atoms false.
                Atom::Instance(expr) => Ok(holds(expr, view).unwrap_or(false)),
                Atom::Event(_) => continue,
            };
            letter.holds &= !bit;
            letter.unknown &= !bit;
            match truth {
                Ok(true) => letter.holds |= bit,
                Ok(false) => {}
                Err(reason) => {
                    letter.unknown |= bit;
                    if !matches!(reason, Unknown::NotRecorded(_)) && !self.unknowns.contains(&reason) {
                        self.unknowns.push(reason);
                    }
                }
            }
        }
        letter
    }

    /// Takes note of what the monitor says.
    fn judge(&mut self, instance: &mut Instance, event: Option<u64>) {
        match self.monitor.verdict(instance.q) {
            Verdict::Violated => {
                instance.done = true;
                self.ended.push((instance.binding.clone(), Shown::Violated(event)));
            }
            Verdict::Satisfied => {
                instance.done = true;
                let shown = if instance.unknown { Shown::Unknown } else { Shown::Holds(Verdict::Satisfied) };
                self.ended.push((instance.binding.clone(), shown));
            }
            Verdict::Unknown => instance.unknown = true,
            _ => {}
        }
    }

    /// One event, after what it wrote was written.
    /// Whether it violated the property for some instance.
    pub(super) fn step(&mut self, spec: &Spec, values: &Values, seen: &Seen<'_>, written: &[Key], event: u64) -> bool {
        if written.is_empty() && self.operations >> seen.event.op() as u32 & 1 == 0 && !self.all_steps {
            return false;
        }
        // Which event atoms hold, for whom.
        let mut held: Vec<(u32, Conditions)> = Vec::new();
        for (number, (atom, _)) in self.property.atoms.iter().enumerate() {
            if let Atom::Event(pattern) = atom
                && let Some(conditions) = seen.matches(pattern)
            {
                held.push((number as u32, conditions));
            }
        }
        // Which variables that matter were written, for whom.
        let mut wrote: Vec<Conditions> = Vec::new();
        for &(number, index) in written {
            for var in self.property.relevant.variables.iter().filter(|var| var.var == number) {
                wrote.extend(conditions_of(var, index, seen));
            }
        }
        if held.is_empty() && wrote.is_empty() && !self.all_steps {
            return false;
        }
        let ended = self.ended.len();
        let named: Vec<Conditions> = held.iter().map(|(_, c)| c.clone()).chain(wrote.iter().cloned()).collect();
        for (param, subject) in named.into_iter().flatten() {
            if self.instances.is_new(param, subject) {
                self.copy_for(param, subject, spec, values, seen);
            }
        }
        self.refresh(spec, values, seen, written);
        let mut concerned = std::mem::take(&mut self.concerned);
        concerned.clear();
        if self.all_steps {
            self.instances.agreeing(&[], &mut concerned);
        } else {
            for conditions in held.iter().map(|(_, c)| c).chain(&wrote) {
                self.instances.agreeing(conditions, &mut concerned);
            }
            concerned.sort_unstable();
            concerned.dedup();
        }
        for &number in &concerned {
            let mut instance = self.instances.all[number as usize].clone();
            let mut letter = instance.lasting;
            for (atom, conditions) in &held {
                if instance.agrees(conditions) {
                    letter.holds |= 1 << atom;
                }
            }
            instance.q = self.monitor.step(instance.q, letter);
            instance.last = letter;
            self.judge(&mut instance, Some(event));
            self.instances.all[number as usize] = instance;
        }
        self.concerned = concerned;
        self.ended[ended..].iter().any(|(_, shown)| matches!(shown, Shown::Violated(_)))
    }

    pub(super) fn is_violated(&self, number: usize) -> bool {
        let full = |binding: &[Option<Subject>]| binding.iter().all(Option::is_some);
        self.number == number && self.ended.iter().any(|(b, s)| full(b) && matches!(s, Shown::Violated(_)))
    }

    /// A subject is named for a parameter for the first time.
    fn copy_for(&mut self, param: u32, subject: Subject, spec: &Spec, values: &Values, seen: &Seen<'_>) {
        for number in self.instances.without(param) {
            let mut copy = self.instances.all[number as usize].clone();
            copy.binding[param as usize] = Some(subject);
            let view = View { spec, names: seen.names, values, objects: seen.objects, binding: &copy.binding };
            if copy.is_full() && !passes(self.property.filter.as_ref(), &view) {
                continue;
            }
            let lasting = self.lasting(u64::MAX, copy.lasting, &view);
            // What was decided without this parameter is decided for every instance of it.
            if copy.done {
                let said = self.ended.iter().find(|(b, _)| *b == self.instances.all[number as usize].binding);
                if let Some((_, shown)) = said {
                    let shown = *shown;
                    self.ended.push((copy.binding.clone(), shown));
                }
            }
            copy.lasting = lasting;
            self.instances.add(copy);
        }
    }

    /// Evaluates the atoms over variables that were written, wherever they are seen.
    fn refresh(&mut self, spec: &Spec, values: &Values, seen: &Seen<'_>, written: &[Key]) {
        for &(number, index) in written {
            let Some(&bits) = self.by_variable.get(&number) else { continue };
            let mut affected = Vec::new();
            for var in self.property.relevant.variables.clone().iter().filter(|var| var.var == number) {
                if let Some(conditions) = conditions_of(var, index, seen) {
                    self.instances.agreeing(&conditions, &mut affected);
                }
            }
            affected.sort_unstable();
            affected.dedup();
            for i in affected {
                let binding = self.instances.all[i as usize].binding.clone();
                let old = self.instances.all[i as usize].lasting;
                let view = View { spec, names: seen.names, values, objects: seen.objects, binding: &binding };
                self.instances.all[i as usize].lasting = self.lasting(bits, old, &view);
            }
        }
    }

    /// The memory of an object was taken back: its instances come to their end.
    pub(super) fn gone(&mut self, subject: Option<Subject>) {
        let Some(subject) = subject.filter(|_| !self.property.params.is_empty()) else { return };
        for number in 0..self.instances.all.len() {
            let instance = &self.instances.all[number];
            if !instance.done && instance.is_full() && instance.binding.contains(&Some(subject)) {
                let shown = self.end_of(instance);
                self.ended.push((instance.binding.clone(), shown));
                self.instances.all[number].done = true;
            }
        }
    }

    /// What is said of an instance if nothing more comes.
    fn end_of(&self, instance: &Instance) -> Shown {
        match self.monitor.at_end(instance.q, instance.last) {
            Verdict::Violated => Shown::Violated(None),
            Verdict::Unfulfilled => Shown::Unfulfilled,
            _ if instance.unknown => Shown::Unknown,
            Verdict::Unknown => Shown::Unknown,
            verdict => Shown::Holds(verdict),
        }
    }

    /// At the end: the property as a whole, then each instance that does not hold.
    pub(super) fn finish(&mut self, spec: &Spec, names: &Names, objects: &Objects) -> Vec<Outcome> {
        for number in 0..self.instances.all.len() {
            let instance = &self.instances.all[number];
            if !instance.done {
                let shown = self.end_of(instance);
                self.ended.push((instance.binding.clone(), shown));
            }
        }
        let full = |(binding, _): &&(Vec<Option<Subject>>, Shown)| binding.iter().all(Option::is_some);
        let mut ended: Vec<(Vec<Option<Subject>>, Shown)> = self.ended.iter().filter(full).cloned().collect();
        // In the order in which they went wrong, then by name.
        ended.sort_by_key(|(binding, shown)| {
            let at = if let Shown::Violated(event) = shown { event.map_or(0, |e| e + 1) } else { 0 };
            (shown.rank(), at, binding.clone())
        });
        let worst = ended.first().map_or(Shown::Holds(Verdict::Pending), |(_, shown)| *shown);
        let parametric = !self.property.params.is_empty();
        let bad: Vec<_> = ended.iter().filter(|(_, shown)| parametric && shown.rank() < 3).collect();
        let _ = spec;
        let omitted = bad.len().saturating_sub(SHOWN) as u64;
        let truncated = self.instances.omitted > 0;
        let whole = Outcome { property: self.number, instance: Vec::new(), shown: worst, omitted, truncated };
        let instances = bad.into_iter().take(SHOWN).map(|(binding, shown)| {
            let subjects = self.property.params.iter().zip(binding);
            let instance = subjects.map(|(param, subject)| {
                (param.name.clone(), subject.map_or_else(String::new, |subject| objects.text(names, subject)))
            });
            Outcome { instance: instance.collect(), shown: *shown, omitted: 0, ..whole.clone() }
        });
        std::iter::once(whole.clone()).chain(instances).collect()
    }

    pub(super) fn unknowns(&self) -> Vec<Unknown> {
        self.unknowns.clone()
    }

    pub(super) fn logic_error(&self) -> Option<(usize, LogicError)> {
        Some((self.number, self.asked.as_ref()?.error()?))
    }
}

/// For whom a write of a variable of this index is a write of `var`; `None` for nobody.
fn conditions_of(var: &VarRef, index: Option<Subject>, seen: &Seen<'_>) -> Option<Conditions> {
    match (&var.index, index) {
        (None, _) | (Some(Arg::Free), _) => Some(Vec::new()),
        (Some(Arg::Param(param)), Some(subject)) => Some(vec![(*param, subject)]),
        (Some(Arg::Const(constant)), Some(subject)) => seen.objects.is(subject, constant).then(Vec::new),
        (Some(Arg::Thread(name)), Some(Subject::Thread(thread))) => (seen.names.thread(thread) == name).then(Vec::new),
        _ => None,
    }
}

/// Whether an instance counts: its filter, if there is one, holds.
fn passes(filter: Option<&Expr>, view: &View<'_>) -> bool {
    filter.is_none_or(|filter| holds(filter, view).unwrap_or(false))
}

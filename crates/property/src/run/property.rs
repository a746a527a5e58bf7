//! One property on the recorded run: its instances, their steps and what becomes of them.

use super::instances::{Instance, Instances};
use super::unseen::unseen;
use crate::bind::Bindings;
use crate::bind::matching::{Concern, EventView, conditions_of, operations};
use crate::bind::reader::EventEffect;
use crate::bind::subject::{Objects, Subject};
use crate::bind::values::{Key, Values, View};
use crate::check::{Atom, Expr, Property, Settings, Spec, Steps, Unknown, holds};
use crate::compile::Compiled;
use crate::logic::LogicError;
use crate::monitor::{Letter, Monitor, Verdict};
use event::Names;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Instances that do not hold and are shown; the others are counted.
const SHOWN: usize = 1000;

/// What became of a property, or of one of its instances.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The number of the property in its specification.
    pub property: usize,
    /// What its parameters stand for, by name; empty for the property as a whole.
    pub instance: Vec<(String, String)>,
    /// The verdict on the recorded run.
    pub verdict: Verdict,
    /// The event that violated it; `None` if step 0 or the end did, or nothing.
    pub event: Option<u64>,
    /// Instances that do not hold and have no outcome of their own, or could not be made.
    pub omitted: u64,
    /// Not everything was looked at: the run did not come to its end, instances could not be made, or a monitor hit
    /// its bounds.
    pub truncated: bool,
    /// If it never had a step: what it speaks of that did not happen, each in words.
    pub unseen: Option<Vec<String>>,
}

/// What was decided about an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decision {
    pub(super) verdict: Verdict,
    /// The event that decided it; `None` for step 0 and the end.
    pub(super) event: Option<u64>,
}

impl From<Verdict> for Decision {
    fn from(verdict: Verdict) -> Decision {
        Decision { verdict, event: None }
    }
}

pub(super) struct PropertyRun {
    number: usize,
    property: Property,
    compiled: Arc<Compiled>,
    all_steps: bool,
    instances: Instances,
    /// The operations that event atoms can be about, as bits: most events are none of them.
    operations: u64,
    /// State atoms by the variable they mention, as bits.
    by_variable: BTreeMap<u32, u64>,
    /// Full instances that do not hold, as they went wrong: the first ones, and how many more.
    bad: Vec<(Box<[Option<Subject>]>, Decision)>,
    more_bad: u64,
    /// Threads that names speak of and that have not appeared, and what was decided of their instances. If they never
    /// do, these are instances of nothing.
    absent: Vec<Subject>,
    held_back: Vec<(Instance, Decision)>,
    /// What was said of full instances that hold: the least that is true of all of them.
    good: Option<Verdict>,
    /// A monitor hit its bounds.
    gave_up: bool,
    unknowns: Vec<Unknown>,
    /// It had a step that concerned it: in some instance, if it has parameters.
    stepped: bool,
    /// The event atoms that held at some event, as bits.
    met: u64,
    /// Scratch: whom an event concerns, and those instances.
    concern: Concern,
    concerned: Vec<u32>,
}

impl PropertyRun {
    pub(super) fn new(number: usize, property: &Property, settings: Settings, compiled: Arc<Compiled>) -> PropertyRun {
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
            compiled,
            all_steps: settings.steps == Some(Steps::All),
            instances: Instances::default(),
            operations: property.atoms.iter().fold(0, |set, (atom, _)| match atom {
                Atom::Event(pattern) => set | operations(pattern),
                _ => set,
            }),
            by_variable,
            bad: Vec::new(),
            more_bad: 0,
            absent: Vec::new(),
            held_back: Vec::new(),
            good: None,
            gave_up: false,
            unknowns: Vec::new(),
            stepped: false,
            met: 0,
            concern: Concern::default(),
            concerned: Vec::new(),
        }
    }

    /// Step 0.
    pub(super) fn begin(&mut self, spec: &Spec, names: &Names, values: &Values, objects: &Objects) {
        let binding = vec![None; self.property.params.len()].into_boxed_slice();
        let view = View { spec, names, values, objects, binding: &binding };
        // Conditions on parameters are the same at every step, but not known before the parameters stand for something:
        // one instance for each way they can turn out.
        let mut letters = vec![self.lasting(u64::MAX, Letter::default(), &view)];
        for bit in self.conditions().map(|(number, _)| 1u64 << number) {
            let ways = |l: &Letter| {
                [
                    Letter::new(l.holds & !bit, l.unknown),
                    Letter::new(l.holds | bit, l.unknown & !bit),
                    Letter::new(l.holds, l.unknown | bit),
                ]
            };
            letters = letters.iter().flat_map(ways).collect();
        }
        letters.retain(|&letter| self.turned_out(letter, &view));
        for lasting in letters {
            let q = self.compiled.monitor.init(lasting);
            let binding = binding.clone();
            let mut instance = Instance { binding, q, lasting, last: lasting, unknown: false, decided: None };
            self.judge(&mut instance, None);
            self.instances.add(instance);
        }
    }

    /// The conditions on parameters, and their numbers as atoms.
    fn conditions(&self) -> impl Iterator<Item = (usize, &Expr)> {
        self.property.atoms.iter().enumerate().filter_map(|(number, (atom, _))| match atom {
            Atom::Instance(expr) => Some((number, expr)),
            _ => None,
        })
    }

    /// Whether the conditions on parameters, as far as these stand for something, are as a letter has them.
    fn turned_out(&self, letter: Letter, view: &View<'_>) -> bool {
        let full = view.binding.iter().all(Option::is_some);
        self.conditions().all(|(number, expr)| match holds(expr, view) {
            Ok(truth) => letter.truth(number as u32) == Some(truth),
            Err(Unknown::NotRecorded(_)) if !full => true,
            Err(_) => letter.truth(number as u32).is_none(),
        })
    }

    /// The atoms of these bits that do not depend on the event, evaluated again; the others stay.
    fn lasting(&mut self, bits: u64, old: Letter, view: &View<'_>) -> Letter {
        let mut letter = old;
        let mut reasons = Vec::new();
        for (number, (atom, _)) in self.property.atoms.iter().enumerate() {
            let bit = 1u64 << number;
            if bits & bit == 0 {
                continue;
            }
            let truth = match atom {
                Atom::State(expr) => holds(expr, view),
                Atom::Instance(_) | Atom::Event(_) => continue,
            };
            letter.holds &= !bit;
            letter.unknown &= !bit;
            match truth {
                Ok(true) => letter.holds |= bit,
                Ok(false) => {}
                Err(reason) => {
                    letter.unknown |= bit;
                    reasons.push(reason);
                }
            }
        }
        reasons.into_iter().for_each(|reason| self.could_not(reason));
        letter
    }

    /// Takes note of what the monitor says.
    fn judge(&mut self, instance: &mut Instance, event: Option<u64>) {
        instance.decided = match self.compiled.monitor.verdict(instance.q) {
            Verdict::Violated => Some(Decision { verdict: Verdict::Violated, event }),
            Verdict::Satisfied if instance.unknown => Some(Verdict::Unknown.into()),
            Verdict::Satisfied => Some(Verdict::Satisfied.into()),
            verdict => {
                if verdict == Verdict::Unknown {
                    instance.unknown = true;
                    self.gave_up |= self.compiled.monitor.gave_up(instance.q);
                }
                None
            }
        };
        if let Some(decision) = instance.decided {
            self.note(instance, decision);
        }
    }

    /// Keeps what is said of a full instance.
    fn note(&mut self, instance: &Instance, decision: Decision) {
        if !instance.is_full() {
            return;
        }
        if self.is_absent(instance) {
            self.held_back.push((instance.clone(), decision));
            return;
        }
        match decision.verdict {
            verdict if verdict.holds() => {
                let rank = |v| [Verdict::Satisfied, Verdict::Fulfilled].iter().position(|&x| x == v).unwrap_or(2);
                self.good =
                    Some(self.good.map_or(verdict, |old| if rank(verdict) > rank(old) { verdict } else { old }));
            }
            _ if self.bad.len() < SHOWN => self.bad.push((instance.binding.clone(), decision)),
            _ => self.more_bad += 1,
        }
    }

    fn is_absent(&self, instance: &Instance) -> bool {
        !self.absent.is_empty() && instance.binding.iter().flatten().any(|subject| self.absent.contains(subject))
    }

    /// Only these threads that names speak of have not appeared. Gives the events that had violated an instance of one
    /// that has.
    pub(super) fn expect(&mut self, absent: &[Subject]) -> Vec<u64> {
        self.absent.clear();
        self.absent.extend_from_slice(absent);
        let (held_back, bad) = (std::mem::take(&mut self.held_back), self.bad.len());
        held_back.iter().for_each(|(instance, decision)| self.note(instance, *decision));
        let violated = self.bad[bad..].iter().filter(|(_, decision)| decision.verdict == Verdict::Violated);
        violated.filter_map(|(_, decision)| decision.event).collect()
    }

    /// One event, after its effect on the variables. Returns whether it violated the property for some instance.
    pub(super) fn step(
        &mut self,
        spec: &Spec,
        values: &Values,
        seen: &EventView<'_>,
        effect: &EventEffect,
        event: u64,
    ) -> bool {
        // That a variable was forgotten is no step, but the next step sees it.
        self.refresh(spec, values, seen, effect.forgotten.iter().copied());
        if effect.written.is_empty() && self.operations >> seen.event.op() as u32 & 1 == 0 && !self.all_steps {
            return false;
        }
        let mut concern = std::mem::take(&mut self.concern);
        concern.find(&self.property, seen, &effect.written);
        let violated = if concern.is_empty() && !self.all_steps {
            false
        } else {
            self.step_of(spec, values, seen, effect, &concern, event)
        };
        self.concern = concern;
        violated
    }

    fn step_of(
        &mut self,
        spec: &Spec,
        values: &Values,
        seen: &EventView<'_>,
        effect: &EventEffect,
        concern: &Concern,
        event: u64,
    ) -> bool {
        let bad = self.bad.len();
        // With parameters, the event that makes an instance whole is its first step.
        self.stepped |= self.property.params.is_empty() && !concern.is_empty();
        self.met |= concern.held.iter().fold(0, |met, (atom, _)| met | 1 << atom);
        for &(param, subject) in concern.all().flatten() {
            if self.instances.is_new(param, subject) {
                self.copy_for(param, subject, spec, values, seen);
            }
        }
        self.refresh(spec, values, seen, effect.written.iter().map(|(key, _)| *key));
        let mut concerned = std::mem::take(&mut self.concerned);
        concerned.clear();
        if self.all_steps {
            self.instances.agreeing(&[], &mut concerned);
        } else {
            for conditions in concern.all() {
                self.instances.agreeing(conditions, &mut concerned);
            }
            concerned.sort_unstable();
            concerned.dedup();
        }
        for &number in &concerned {
            // Taken out while it is judged: its memory comes back with it.
            let slot = &mut self.instances.all[number as usize];
            let binding = std::mem::take(&mut slot.binding);
            let mut instance = Instance { binding, ..slot.clone() };
            let mut letter = instance.lasting;
            for (atom, conditions) in &concern.held {
                if instance.agrees(conditions) {
                    letter.holds |= 1 << atom;
                }
            }
            instance.q = self.compiled.monitor.step(instance.q, letter);
            instance.last = letter;
            self.judge(&mut instance, Some(event));
            self.instances.all[number as usize] = instance;
        }
        self.concerned = concerned;
        self.bad[bad..].iter().any(|(_, decision)| decision.verdict == Verdict::Violated)
    }

    pub(super) fn all_steps(&self) -> bool {
        self.all_steps
    }

    pub(super) fn is_violated(&self, number: usize) -> bool {
        self.number == number && self.bad.iter().any(|(_, decision)| decision.verdict == Verdict::Violated)
    }

    /// A subject is named for a parameter for the first time.
    fn copy_for(&mut self, param: u32, subject: Subject, spec: &Spec, values: &Values, seen: &EventView<'_>) {
        for number in self.instances.without(param) {
            let mut copy = self.instances.all[number as usize].clone();
            copy.binding[param as usize] = Some(subject);
            let view = View { spec, names: seen.names, values, objects: seen.objects, binding: &copy.binding };
            if !self.turned_out(copy.lasting, &view) || (copy.is_full() && !self.passes(&view)) {
                continue;
            }
            if copy.is_full() {
                self.stepped = true;
                let reasons: Vec<Unknown> =
                    self.conditions().filter_map(|(_, expr)| holds(expr, &view).err()).collect();
                reasons.into_iter().for_each(|reason| self.could_not(reason));
            }
            copy.lasting = self.lasting(u64::MAX, copy.lasting, &view);
            // What was decided without this parameter is decided for every instance of it.
            if let Some(decision) = copy.decided {
                self.note(&copy, decision);
            }
            self.instances.add(copy);
        }
    }

    /// Whether an instance counts: its filter, if there is one, holds.
    fn passes(&mut self, view: &View<'_>) -> bool {
        match self.property.filter.as_ref().map_or(Ok(true), |filter| holds(filter, view)) {
            Ok(passes) => passes,
            Err(reason) => {
                self.could_not(reason);
                false
            }
        }
    }

    /// Notes why something could not be evaluated.
    fn could_not(&mut self, reason: Unknown) {
        if !matches!(reason, Unknown::NotRecorded(_)) && !self.unknowns.contains(&reason) {
            self.unknowns.push(reason);
        }
    }

    /// Evaluates the atoms over variables that changed, wherever they are seen.
    fn refresh(&mut self, spec: &Spec, values: &Values, seen: &EventView<'_>, changed: impl Iterator<Item = Key>) {
        for (number, index) in changed {
            let Some(&bits) = self.by_variable.get(&number) else { continue };
            let mut affected = std::mem::take(&mut self.concerned);
            affected.clear();
            for var in self.property.relevant.variables.iter().filter(|var| var.var == number) {
                if let Some(conditions) = conditions_of(var, index, seen, &self.property.params) {
                    self.instances.agreeing(&conditions, &mut affected);
                }
            }
            affected.sort_unstable();
            affected.dedup();
            for &i in &affected {
                // Taken out while its atoms are evaluated: its memory comes back.
                let slot = &mut self.instances.all[i as usize];
                let (binding, old) = (std::mem::take(&mut slot.binding), slot.lasting);
                let view = View { spec, names: seen.names, values, objects: seen.objects, binding: &binding };
                let lasting = self.lasting(bits, old, &view);
                let slot = &mut self.instances.all[i as usize];
                (slot.binding, slot.lasting) = (binding, lasting);
            }
            self.concerned = affected;
        }
    }

    /// The memory of an object was taken back: its instances come to their end.
    pub(super) fn gone(&mut self, subject: Subject) {
        for number in self.instances.forget(subject, self.property.params.len()) {
            let instance = self.instances.all[number as usize].clone();
            if instance.decided.is_none() && instance.is_full() {
                let verdict = self.end_of(&instance);
                self.note(&instance, verdict.into());
            }
            self.instances.remove(number);
        }
    }

    /// What is said of an instance if nothing more comes.
    fn end_of(&self, instance: &Instance) -> Verdict {
        match self.compiled.monitor.at_end(instance.q, instance.last) {
            verdict if verdict.is_bad() => verdict,
            _ if instance.unknown => Verdict::Unknown,
            verdict => verdict,
        }
    }

    /// The property as a whole, then each instance that does not hold. Only if the run came to its end, the end says
    /// something.
    pub(super) fn finish(
        &mut self,
        spec: &Spec,
        bindings: &Bindings,
        (names, objects): (&Names, &Objects),
        at_end: bool,
    ) -> Vec<Outcome> {
        let undecided: Vec<Instance> = self.instances.all.iter().filter(|i| i.decided.is_none()).cloned().collect();
        for instance in &undecided {
            let verdict = if at_end {
                self.end_of(instance)
            } else if instance.unknown {
                Verdict::Unknown
            } else {
                Verdict::Pending
            };
            self.note(instance, verdict.into());
        }
        // In the order in which they went wrong, then by name.
        self.bad.sort_by_key(|(binding, decision)| {
            (decision.verdict.severity(), decision.event.map_or(0, |event| event + 1), binding.clone())
        });
        let good = self.good.unwrap_or(Verdict::Pending).into();
        let Decision { verdict, event } = self.bad.first().map_or(good, |(_, decision)| *decision);
        let omitted = self.more_bad + self.instances.omitted;
        let decided = verdict == Verdict::Satisfied;
        let truncated = self.instances.omitted > 0 || self.gave_up || (!at_end && !decided);
        let unseen = (!self.stepped).then(|| unseen(&self.property, self.met, spec, bindings));
        let whole = Outcome { property: self.number, instance: Vec::new(), verdict, event, omitted, truncated, unseen };
        let mut outcomes = vec![whole.clone()];
        if !self.property.params.is_empty() {
            outcomes.extend(self.bad.iter().map(|(binding, decision)| {
                let subjects = self.property.params.iter().zip(binding);
                let instance = subjects.map(|(param, subject)| {
                    (param.name.clone(), subject.map_or_else(String::new, |subject| objects.text(names, subject)))
                });
                let Decision { verdict, event } = *decision;
                let instance = instance.collect();
                Outcome { instance, verdict, event, omitted: 0, truncated: false, unseen: None, ..whole.clone() }
            }));
        }
        outcomes
    }

    pub(super) fn unknowns(&self) -> Vec<Unknown> {
        self.unknowns.clone()
    }

    pub(super) fn questions(&self) -> Option<(usize, u64)> {
        Some((self.number, self.compiled.asked.as_ref()?.questions()))
    }

    pub(super) fn logic_error(&self) -> Option<(usize, LogicError)> {
        Some((self.number, self.compiled.asked.as_ref()?.error()?))
    }
}

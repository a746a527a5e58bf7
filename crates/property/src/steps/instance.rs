//! One instance of a property: its variables, the classes of its events, and which parameters have to be watched.
//!
//! Until a subject is first named, the recorded run knows nothing of it: a variable of it holds what any would, not
//! what the trace gives for this one, and a comparison with it is unknown. Where that makes a difference, and for
//! objects whose memory is taken back, an instance's state says which parameters are named.

use super::SpecContext;
use super::class::{Class, Classifier};
use super::slot::{At, Slot, StateAtoms, judge};
use super::trace::Occurrences;
use crate::bind::subject::Subject;
use crate::bind::values::{HeldValue, Key};
use crate::check::{Atom, Property, VarRef};
use crate::monitor::Letter;
use crate::monitor::intern::FastMap;
use std::collections::HashMap;
use std::sync::Arc;

/// Combinations of values for which atoms over several variables are tried, to see whether they can be unknown.
const MAX_TRIED: usize = 1 << 12;
/// Parameters whose subjects may be gone: the state has a part for every set of them.
const MAX_FREED: u32 = 6;

/// One instance, all but the monitor.
pub(super) struct Instance {
    pub(super) context: Arc<SpecContext>,
    pub(super) atoms: Arc<StateAtoms>,
    pub(super) binding: Box<[Option<Subject>]>,
    pub(super) slots: Vec<Slot>,
    pub(super) classes: Vec<Class>,
    /// The conditions on parameters.
    pub(super) conditions: Letter,
    /// Parameters of which it matters whether they are named.
    pub(super) tracked: u64,
    /// Parameters whose subjects are gone somewhere.
    pub(super) freed: u64,
}

/// An instance, and the classes of its events.
pub(super) struct Classified {
    pub(super) instance: Instance,
    /// The events that do something to it, and their classes; not in order.
    pub(super) events: Vec<(u64, u32)>,
    /// The class of every other event, if they are steps, too.
    pub(super) idle: Option<u32>,
}

impl Classified {
    /// `None` if it cannot be followed: too many parameters.
    pub(super) fn new(
        context: &Arc<SpecContext>,
        property: &Property,
        atoms: &Arc<StateAtoms>,
        found: &Occurrences,
        binding: Box<[Option<Subject>]>,
        all_steps: bool,
    ) -> Option<Classified> {
        if binding.len() > 64 {
            return None;
        }
        let variables = property.relevant.variables.iter().enumerate();
        let slots = variables.map(|(number, var)| Slot::new(context, atoms, number, var, &binding)).collect();
        let (context, atoms) = (context.clone(), atoms.clone());
        let conditions = Letter::default();
        let mut instance =
            Instance { context, atoms, binding, slots, classes: Vec::new(), conditions, tracked: 0, freed: 0 };
        (instance.tracked, instance.freed) = instance.tracked(found);
        if instance.freed.count_ones() > MAX_FREED {
            return None;
        }
        instance.conditions = instance.conditions(property);
        let (mut raw, mut events) = instance.classify(found, all_steps);
        // What always holds the same need not be written.
        let constant = |slot: u32| instance.slots[slot as usize].values.len() == 1;
        raw.iter_mut().for_each(|class| class.writes.retain(|(slot, _)| !constant(*slot)));

        let mut numbers: HashMap<Class, u32> = HashMap::new();
        let classes = &mut instance.classes;
        let mut number = |class: Class| {
            *numbers.entry(class).or_insert_with_key(|class| {
                classes.push(class.clone());
                classes.len() as u32 - 1
            })
        };
        let idle = all_steps.then(|| number(Class::idle()));
        let of_raw: Vec<Option<u32>> =
            raw.into_iter().map(|class| (!class.is_nothing()).then(|| number(class))).collect();
        events.retain_mut(|(_, class)| match of_raw[*class as usize] {
            Some(number) => {
                *class = number;
                true
            }
            None => false,
        });
        Some(Classified { instance, events, idle })
    }
}

impl Instance {
    /// The conditions on parameters.
    fn conditions(&self, property: &Property) -> Letter {
        let mut conditions = Letter::default();
        let at = At { context: &self.context, binding: &self.binding, held: |_: &VarRef| HeldValue::Unknown };
        for (number, (atom, _)) in property.atoms.iter().enumerate() {
            if let Atom::Instance(expr) = atom {
                judge(&mut conditions, 1 << number, expr, &at);
            }
        }
        conditions
    }

    /// What events do to it; equal ones may come more than once. Numbers all that variables can hold.
    fn classify(&mut self, found: &Occurrences, all_steps: bool) -> (Vec<Class>, Vec<(u64, u32)>) {
        let Instance { context, atoms, binding, slots, tracked, .. } = self;
        let classifier = Classifier { binding, tracked: *tracked, all_steps };
        let mut classes: Vec<Class> = Vec::new();
        let mut events: Vec<(u64, u32)> = Vec::new();
        let mut known: FastMap<Vec<(u32, u32)>, u32> = FastMap::default();
        let mut writes = Vec::new();
        for (number, effect) in found.effects.iter().enumerate() {
            let class = classifier.class(effect);
            let changes = |key: &Key| effect.written.contains(key) || effect.forgotten.contains(key);
            let changed = slots.iter().enumerate().filter_map(|(slot, made)| Some((slot, made.key.filter(changes)?)));
            let changed: Vec<(usize, Key)> = changed.collect();
            if class.is_nothing() && changed.is_empty() {
                continue;
            }
            known.clear();
            for occurrence in found.of_effect(number) {
                writes.clear();
                for &(slot, key) in &changed {
                    let made = &mut slots[slot];
                    if let Some(held) = found.change(occurrence, key, made.generic) {
                        let value = made.number(context, atoms.alone[slot].as_deref(), binding, held);
                        writes.push((slot as u32, value));
                    }
                }
                let class = match known.get(&writes) {
                    Some(&known) => known,
                    None => {
                        let fresh = classes.len() as u32;
                        classes.push(Class { writes: writes.clone(), ..class.clone() });
                        known.insert(writes.clone(), fresh);
                        fresh
                    }
                };
                events.push((occurrence.event, class));
            }
        }
        (classes, events)
    }

    /// The parameters of which it matters whether they are named, and those whose subjects are gone somewhere.
    fn tracked(&self, found: &Occurrences) -> (u64, u64) {
        let gone = |subject: &Option<Subject>| subject.is_some_and(|subject| found.gone.contains(&subject));
        let freed = self.binding.iter().enumerate().filter(|(_, subject)| gone(subject));
        let freed = freed.fold(0u64, |set, (param, _)| set | 1 << param);
        if freed != 0 {
            // An instance of such an object is there only if all its subjects were named in the object's time.
            return (u64::MAX >> (64 - self.binding.len()), freed);
        }
        let mut tracked = self.atoms.all().fold(0, |set, atom| set | atom.params);
        for (slot, alone) in self.slots.iter().zip(&self.atoms.alone) {
            let (held, letter) = slot.values[slot.initial as usize];
            let is_given = letter != slot.generic_letter || (alone.is_none() && held != slot.generic);
            if let (true, Some(param)) = (is_given, slot.param) {
                tracked |= 1 << param;
            }
        }
        (tracked, 0)
    }

    /// The atoms that do not depend on the event, when these parameters are unnamed and variables hold these.
    pub(super) fn lasting(&self, unnamed: u64, values: &[u64]) -> Letter {
        let mut letter = self.conditions;
        let hidden = |slot: &Slot| slot.param.is_some_and(|param| unnamed >> param & 1 == 1);
        for (slot, &value) in self.slots.iter().zip(values) {
            let part = if hidden(slot) { slot.generic_letter } else { slot.values[value as usize].1 };
            letter.holds |= part.holds;
            letter.unknown |= part.unknown;
        }
        let held =
            |var: &VarRef| {
                let found = self.slots.iter().zip(values).find(|(slot, _)| slot.var == *var);
                found.map_or(HeldValue::Unknown, |(slot, &value)| {
                    if hidden(slot) { slot.generic } else { slot.values[value as usize].0 }
                })
            };
        let at = At { context: &self.context, binding: &self.binding, held };
        self.atoms.over_several.iter().for_each(|atom| judge(&mut letter, atom.bit, &atom.expr, &at));
        if unnamed != 0 {
            // A comparison with what is not named yet is unknown.
            let hidden = self.atoms.all().filter(|atom| atom.params & unnamed != 0);
            letter.unknown |= hidden.fold(0, |bits, atom| bits | atom.bit);
        }
        Letter::new(letter.holds, letter.unknown)
    }

    /// The atoms that can be unknown on some path.
    pub(super) fn can_be_unknown(&self) -> u64 {
        let mut unknown = self.conditions.unknown;
        for slot in &self.slots {
            unknown |= slot.values.iter().fold(slot.generic_letter.unknown, |bits, (_, l)| bits | l.unknown);
        }
        unknown |= self.atoms.all().filter(|a| a.params & self.tracked != 0).fold(0, |bits, a| bits | a.bit);
        let over_several = self.atoms.over_several.iter().fold(0, |bits, atom| bits | atom.bit);
        if unknown & over_several == over_several {
            return unknown;
        }
        let shared: Vec<usize> = (0..self.slots.len()).filter(|&s| self.atoms.alone[s].is_none()).collect();
        let tried = shared.iter().try_fold(1usize, |n, &s| n.checked_mul(self.slots[s].values.len()));
        if self.tracked != 0 || tried.is_none_or(|n| n > MAX_TRIED) {
            return unknown | over_several;
        }
        let mut values = vec![0u64; self.slots.len()];
        loop {
            unknown |= self.lasting(0, &values).unknown & over_several;
            let more = shared.iter().find(|&&slot| {
                values[slot] += 1;
                let fits = values[slot] < self.slots[slot].values.len() as u64;
                if !fits {
                    values[slot] = 0;
                }
                fits
            });
            if more.is_none() {
                return unknown;
            }
        }
    }
}

//! The events of a trace that do something to a property, and what; equal ones are kept once.

use crate::bind::matching::{Concern, EventView, operations};
use crate::bind::reader::EventEffect;
use crate::bind::subject::Subject;
use crate::bind::values::{HeldValue, Key};
use crate::check::{Atom, EventPattern, ParamId, Property, Spec, VarRef};
use std::collections::{HashMap, HashSet};

/// What an event does to a property, for all its instances; all but the values.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct Effect {
    pub(super) concern: Concern,
    pub(super) written: Vec<Key>,
    pub(super) forgotten: Vec<Key>,
    pub(super) gone: Vec<Subject>,
}

/// An event that does something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurrence {
    pub(super) event: u64,
    pub(super) effect: u32,
    /// Where the values of what it wrote begin in [`Occurrences::held`].
    values: u32,
}

/// All that the events of a trace do to a property.
#[derive(Default)]
pub(super) struct Occurrences {
    pub(super) effects: Vec<Effect>,
    /// Events and what they do, in recorded order.
    pub(super) events: Vec<Occurrence>,
    held: Vec<HeldValue>,
    /// Places in `events` by effect: those of effect `e` are `places[starts[e]..starts[e + 1]]`.
    places: Vec<u32>,
    starts: Vec<u32>,
    /// By parameter: the subjects that are named for it, in the order in which they first are.
    pub(super) named: Vec<Vec<Subject>>,
    /// Objects whose memory is taken back somewhere.
    pub(super) gone: HashSet<Subject>,
}

impl Occurrences {
    /// The events with an effect.
    pub(super) fn of_effect(&self, effect: usize) -> impl Iterator<Item = &Occurrence> {
        let places = &self.places[self.starts[effect] as usize..self.starts[effect + 1] as usize];
        places.iter().map(|&place| &self.events[place as usize])
    }

    /// What an event wrote, in the order of [`Effect::written`].
    pub(super) fn written(&self, occurrence: &Occurrence) -> &[HeldValue] {
        let from = occurrence.values as usize;
        &self.held[from..from + self.effects[occurrence.effect as usize].written.len()]
    }

    /// What an event makes a variable hold, if anything; `generic` is what variables hold that are forgotten.
    pub(super) fn change(&self, occurrence: &Occurrence, key: Key, generic: HeldValue) -> Option<HeldValue> {
        let effect = &self.effects[occurrence.effect as usize];
        match effect.written.iter().rposition(|&written| written == key) {
            Some(at) => Some(self.written(occurrence)[at]),
            None => effect.forgotten.contains(&key).then_some(generic),
        }
    }
}

/// The variables that a property mentions, in whatever way.
pub(super) fn mentioned(property: &Property) -> Vec<VarRef> {
    let mut mentioned = property.relevant.variables.clone();
    for pattern in &property.relevant.events {
        if let EventPattern::Read(var, _) | EventPattern::Write(var, _) = pattern
            && !mentioned.contains(var)
        {
            mentioned.push(var.clone());
        }
    }
    mentioned
}

/// Collects them.
pub(super) struct Collector {
    found: Occurrences,
    numbers: HashMap<Effect, u32>,
    /// Effects met last: most events do what one shortly before did.
    recent: [u32; 4],
    seen: HashSet<(ParamId, Subject)>,
    scratch: Effect,
    operations: u64,
    /// By variable: whether the property mentions it.
    ours: Vec<bool>,
}

impl Collector {
    pub(super) fn new(spec: &Spec, property: &Property) -> Collector {
        let mut ours = vec![false; spec.variables.len()];
        mentioned(property).iter().for_each(|var| ours[var.var as usize] = true);
        let named = vec![Vec::new(); property.params.len()];
        Collector {
            found: Occurrences { named, ..Occurrences::default() },
            numbers: HashMap::new(),
            recent: [0; 4],
            seen: HashSet::new(),
            scratch: Effect::default(),
            operations: property.atoms.iter().fold(0, |set, (atom, _)| match atom {
                Atom::Event(pattern) => set | operations(pattern),
                _ => set,
            }),
            ours,
        }
    }

    pub(super) fn event(&mut self, property: &Property, seen: &EventView<'_>, effect: &EventEffect, event: u64) {
        let Effect { concern, written, forgotten, gone } = &mut self.scratch;
        let ours = |number: u32| self.ours[number as usize];
        written.clear();
        let held = effect.written.iter().filter(|((number, _), _)| ours(*number));
        written.extend(held.clone().map(|(key, _)| *key));
        let values = self.found.held.len() as u32;
        self.found.held.extend(held.map(|(_, held)| *held));
        forgotten.clear();
        forgotten.extend(effect.forgotten.iter().filter(|(number, _)| ours(*number)));
        gone.clear();
        if !property.params.is_empty() {
            gone.extend(&effect.gone);
        }
        if !written.is_empty() || self.operations >> seen.event.op() as u32 & 1 == 1 {
            concern.find(property, seen, &effect.written);
        } else {
            *concern = Concern::default();
        }
        if concern.is_empty() && written.is_empty() && forgotten.is_empty() && gone.is_empty() {
            return;
        }
        let number = self.number();
        self.found.events.push(Occurrence { event, effect: number, values });
    }

    /// The number of the effect that was just found.
    fn number(&mut self) -> u32 {
        let effects = &mut self.found.effects;
        let recent = self.recent.iter().find(|&&number| effects.get(number as usize) == Some(&self.scratch));
        if let Some(&number) = recent {
            return number;
        }
        let fresh = effects.len() as u32;
        let number = match self.numbers.get(&self.scratch) {
            Some(&number) => number,
            None => {
                for &(param, subject) in self.scratch.concern.all().flatten() {
                    if self.seen.insert((param, subject)) {
                        self.found.named[param as usize].push(subject);
                    }
                }
                self.found.gone.extend(&self.scratch.gone);
                self.numbers.insert(self.scratch.clone(), fresh);
                effects.push(self.scratch.clone());
                fresh
            }
        };
        self.recent.rotate_right(1);
        self.recent[0] = number;
        number
    }

    pub(super) fn finish(self) -> Occurrences {
        let mut found = self.found;
        let mut starts = vec![0u32; found.effects.len() + 1];
        for occurrence in &found.events {
            starts[occurrence.effect as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        found.places = vec![0; found.events.len()];
        for (place, occurrence) in found.events.iter().enumerate() {
            let at = &mut next[occurrence.effect as usize];
            found.places[*at as usize] = place as u32;
            *at += 1;
        }
        found.starts = starts;
        found
    }
}

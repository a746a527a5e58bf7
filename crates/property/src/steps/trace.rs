//! The events of a trace that do something to a property, and what; equal ones are kept once.

use crate::check::{Atom, ParamId, Property};
use crate::run::matching::{Concern, Seen, operations};
use crate::run::reader::Deed;
use crate::run::subject::Subject;
use crate::run::values::{Held, Key};
use std::collections::{HashMap, HashSet};

/// What an event does to a property, for all its instances.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct Effect {
    pub(super) concern: Concern,
    pub(super) written: Vec<(Key, Held)>,
    pub(super) forgotten: Vec<Key>,
    pub(super) gone: Vec<Subject>,
}

/// All that the events of a trace do to a property.
#[derive(Default)]
pub(super) struct Occurrences {
    pub(super) effects: Vec<Effect>,
    /// Events and what they do, in recorded order.
    pub(super) events: Vec<(u64, u32)>,
    /// Places in `events` by effect: those of effect `e` are `places[starts[e]..starts[e + 1]]`.
    pub(super) places: Vec<u32>,
    pub(super) starts: Vec<u32>,
    /// By parameter: the subjects that are named for it, in the order in which they first are.
    pub(super) named: Vec<Vec<Subject>>,
    /// Objects whose memory is taken back somewhere.
    pub(super) gone: HashSet<Subject>,
}

/// Collects them.
pub(super) struct Collector {
    found: Occurrences,
    numbers: HashMap<Effect, u32>,
    seen: HashSet<(ParamId, Subject)>,
    scratch: Effect,
    operations: u64,
}

impl Collector {
    pub(super) fn new(property: &Property) -> Collector {
        let named = vec![Vec::new(); property.params.len()];
        Collector {
            found: Occurrences { named, ..Occurrences::default() },
            numbers: HashMap::new(),
            seen: HashSet::new(),
            scratch: Effect::default(),
            operations: property.atoms.iter().fold(0, |set, (atom, _)| match atom {
                Atom::Event(pattern) => set | operations(pattern),
                _ => set,
            }),
        }
    }

    pub(super) fn event(&mut self, property: &Property, seen: &Seen<'_>, deed: &Deed, event: u64) {
        let Effect { concern, written, forgotten, gone } = &mut self.scratch;
        let ours = |number: u32| property.relevant.variables.iter().any(|var| var.var == number);
        written.clear();
        written.extend(deed.written.iter().filter(|((number, _), _)| ours(*number)));
        forgotten.clear();
        forgotten.extend(deed.forgotten.iter().filter(|(number, _)| ours(*number)));
        gone.clear();
        if !property.params.is_empty() {
            gone.extend(&deed.gone);
        }
        if !written.is_empty() || self.operations >> seen.event.op() as u32 & 1 == 1 {
            concern.find(property, seen, written);
        } else {
            *concern = Concern::default();
        }
        if concern.is_empty() && written.is_empty() && forgotten.is_empty() && gone.is_empty() {
            return;
        }
        for &(param, subject) in concern.all().flatten() {
            if self.seen.insert((param, subject)) {
                self.found.named[param as usize].push(subject);
            }
        }
        self.found.gone.extend(gone.iter());
        let number = match self.numbers.get(&self.scratch) {
            Some(&number) => number,
            None => {
                let number = self.numbers.len() as u32;
                self.numbers.insert(self.scratch.clone(), number);
                number
            }
        };
        self.found.events.push((event, number));
    }

    pub(super) fn finish(self) -> Occurrences {
        let mut found = self.found;
        let mut effects: Vec<(Effect, u32)> = self.numbers.into_iter().collect();
        effects.sort_unstable_by_key(|(_, number)| *number);
        found.effects = effects.into_iter().map(|(effect, _)| effect).collect();
        let mut starts = vec![0u32; found.effects.len() + 1];
        for (_, effect) in &found.events {
            starts[*effect as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        found.places = vec![0; found.events.len()];
        for (place, (_, effect)) in found.events.iter().enumerate() {
            let at = &mut next[*effect as usize];
            found.places[*at as usize] = place as u32;
            *at += 1;
        }
        found.starts = starts;
        found
    }
}

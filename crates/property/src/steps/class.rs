//! What an event does to one instance.

use super::trace::Effect;
use crate::bind::matching::Conditions;
use crate::bind::subject::Subject;

/// What an event does to one instance. Events that do the same are of one class.
///
/// Masks are sets of parameters: what has a mask counts only where none of these parameters is unnamed.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct Class {
    /// Variables and the numbers of what they hold now.
    pub(super) writes: Vec<(u32, u32)>,
    /// The event atoms that hold, by mask.
    pub(super) held: Vec<(u64, u64)>,
    /// It is a step; by mask.
    pub(super) steps: Vec<u64>,
    /// Parameters whose subject it names.
    pub(super) named: u64,
    /// Parameters whose subject is gone after it.
    pub(super) gone: u64,
}

impl Class {
    /// A step at which nothing happens.
    pub(super) fn idle() -> Class {
        Class { steps: vec![0], ..Class::default() }
    }

    /// Nothing at all.
    pub(super) fn is_nothing(&self) -> bool {
        *self == Class::default()
    }

    pub(super) fn is_step(&self, unnamed: u64) -> bool {
        self.steps.iter().any(|mask| mask & unnamed == 0)
    }

    pub(super) fn held(&self, unnamed: u64) -> u64 {
        let held = self.held.iter().filter(|(mask, _)| mask & unnamed == 0);
        held.fold(0, |bits, (_, bit)| bits | bit)
    }
}

/// The set of parameters that conditions are about, if an instance meets them.
fn met(conditions: &Conditions, binding: &[Option<Subject>]) -> Option<u64> {
    conditions
        .iter()
        .try_fold(0, |mask, &(param, subject)| (binding[param as usize] == Some(subject)).then_some(mask | 1 << param))
}

/// Finds classes for one instance.
pub(super) struct Classifier<'a> {
    pub(super) binding: &'a [Option<Subject>],
    /// The parameters of which it matters whether they are named.
    pub(super) tracked: u64,
    pub(super) all_steps: bool,
}

impl Classifier<'_> {
    /// The class of events with an effect, all but what they write.
    pub(super) fn class(&self, effect: &Effect) -> Class {
        let mut class = Class::default();
        if self.all_steps {
            class.steps.push(0);
        }
        for (atom, conditions) in &effect.concern.held {
            if let Some(mask) = met(conditions, self.binding) {
                let mask = mask & self.tracked;
                class.steps.push(mask);
                match class.held.iter_mut().find(|(m, _)| *m == mask) {
                    Some((_, bits)) => *bits |= 1 << atom,
                    None => class.held.push((mask, 1 << atom)),
                }
            }
        }
        class.held.sort_unstable();
        class.steps.extend(effect.concern.wrote.iter().filter_map(|c| Some(met(c, self.binding)? & self.tracked)));
        class.steps.sort_unstable();
        class.steps.dedup();
        let all = class.steps.clone();
        class.steps.retain(|&mask| !all.iter().any(|&other| other != mask && other & mask == other));
        if self.tracked != 0 {
            for &(param, subject) in effect.concern.all().flatten() {
                if self.binding[param as usize] == Some(subject) {
                    class.named |= 1 << param;
                }
            }
            class.named &= self.tracked;
            for (param, subject) in self.binding.iter().enumerate() {
                if subject.is_some_and(|subject| effect.gone.contains(&subject)) {
                    class.gone |= 1 << param;
                }
            }
        }
        class
    }
}

//! The instances of a parametric property, by JavaMOP's slicing.
//!
//! An instance says what each parameter stands for; some of its parameters may stand for nothing yet. When an event is
//! the first to name a subject for a parameter, every instance in which that parameter stands for nothing is copied with
//! the subject in its place: until then the subject did nothing, so the copy's past is the original's. A property without
//! parameters has one instance.

use super::subject::Subject;
use crate::check::ParamId;
use crate::monitor::{Letter, Q};
use std::collections::{HashMap, HashSet};

/// The most instances of one property; further ones are left out, and that is told.
pub(super) const MAX_INSTANCES: usize = 1 << 20;

/// One instance.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) binding: Vec<Option<Subject>>,
    pub(super) q: Q,
    /// The atoms that do not depend on the event.
    pub(super) lasting: Letter,
    /// The letter of the last step.
    pub(super) last: Letter,
    /// Whether the verdict was unknown at some step.
    pub(super) unknown: bool,
    /// It needs no more steps: what it said is final.
    pub(super) done: bool,
}

impl Instance {
    /// Every parameter stands for something.
    pub(super) fn is_full(&self) -> bool {
        self.binding.iter().all(Option::is_some)
    }

    /// Whether all of these parameters stand for these subjects.
    pub(super) fn agrees(&self, conditions: &[(ParamId, Subject)]) -> bool {
        conditions.iter().all(|&(param, subject)| self.binding[param as usize] == Some(subject))
    }
}

/// All instances of a property.
#[derive(Default)]
pub(super) struct Instances {
    pub(super) all: Vec<Instance>,
    by_subject: HashMap<(ParamId, Subject), Vec<u32>>,
    seen: HashSet<(ParamId, Subject)>,
    /// How many could not be made.
    pub(super) omitted: u64,
}

impl Instances {
    /// Whether a subject is new for a parameter.
    pub(super) fn is_new(&mut self, param: ParamId, subject: Subject) -> bool {
        self.seen.insert((param, subject))
    }

    /// The instances in which the parameter stands for nothing.
    pub(super) fn without(&self, param: ParamId) -> Vec<u32> {
        let open = |i: &Instance| i.binding[param as usize].is_none();
        (0..self.all.len() as u32).filter(|&i| open(&self.all[i as usize])).collect()
    }

    pub(super) fn add(&mut self, instance: Instance) {
        if self.all.len() >= MAX_INSTANCES {
            self.omitted += 1;
            return;
        }
        let number = self.all.len() as u32;
        for (param, subject) in instance.binding.iter().enumerate() {
            if let Some(subject) = subject {
                self.by_subject.entry((param as ParamId, *subject)).or_default().push(number);
            }
        }
        self.all.push(instance);
    }

    /// The instances that agree with these conditions and are not done, in order.
    pub(super) fn agreeing(&mut self, conditions: &[(ParamId, Subject)], out: &mut Vec<u32>) {
        let all = &self.all;
        let live = |i: &u32| !all[*i as usize].done;
        match conditions.first() {
            None => out.extend((0..all.len() as u32).filter(live)),
            Some(first) => {
                if let Some(list) = self.by_subject.get_mut(first) {
                    // What is done is never asked for again.
                    list.retain(live);
                    out.extend(list.iter().filter(|&&i| all[i as usize].agrees(conditions)));
                }
            }
        }
    }
}

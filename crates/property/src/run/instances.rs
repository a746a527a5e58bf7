//! The instances of a parametric property, by JavaMOP's slicing.
//!
//! An instance says what each parameter stands for; some of its parameters may stand for nothing yet. When an event
//! is the first to name a subject for a parameter, every instance in which that parameter stands for nothing is
//! copied with the subject in its place: until then the subject did nothing, so the copy's past is the original's. A
//! property without parameters has one instance.

use super::property::Decision;
use crate::bind::subject::Subject;
use crate::check::ParamId;
use crate::monitor::{Letter, Q, Verdict};
use std::collections::{HashMap, HashSet};

/// The most instances of one property at a time; further ones are counted as omitted.
const MAX_INSTANCES: usize = 1 << 20;

/// One instance.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) binding: Box<[Option<Subject>]>,
    pub(super) q: Q,
    /// The atoms that do not depend on the event.
    pub(super) lasting: Letter,
    /// The letter of the last step.
    pub(super) last: Letter,
    /// Whether the verdict was unknown at some step.
    pub(super) unknown: bool,
    /// What is final; it then needs no more steps.
    pub(super) decided: Option<Decision>,
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

/// All instances of a property. Slots of instances that are gone are used again.
#[derive(Default)]
pub(super) struct Instances {
    pub(super) all: Vec<Instance>,
    free: Vec<u32>,
    /// By parameter and subject: the instances in which it stands for that. May name slots that are free or have been
    /// used again: check each.
    by_subject: HashMap<(ParamId, Subject), Vec<u32>>,
    /// By parameter: the instances in which it stands for nothing.
    open: HashMap<ParamId, Vec<u32>>,
    seen: HashSet<(ParamId, Subject)>,
    /// How many could not be made.
    pub(super) omitted: u64,
}

impl Instances {
    fn is_full(&self) -> bool {
        self.all.len() - self.free.len() >= MAX_INSTANCES
    }

    /// Whether a subject is new for a parameter, and there is room for its instances.
    pub(super) fn is_new(&mut self, param: ParamId, subject: Subject) -> bool {
        if self.seen.contains(&(param, subject)) {
            return false;
        }
        if self.is_full() {
            self.omitted += 1;
            return false;
        }
        self.seen.insert((param, subject))
    }

    /// The instances in which the parameter stands for nothing.
    pub(super) fn without(&self, param: ParamId) -> Vec<u32> {
        self.open.get(&param).cloned().unwrap_or_default()
    }

    pub(super) fn add(&mut self, instance: Instance) {
        if self.is_full() {
            self.omitted += 1;
            return;
        }
        let number = self.free.pop().unwrap_or(self.all.len() as u32);
        for (param, subject) in instance.binding.iter().enumerate() {
            let param = param as ParamId;
            match subject {
                Some(subject) => self.by_subject.entry((param, *subject)).or_default().push(number),
                None => self.open.entry(param).or_default().push(number),
            }
        }
        match self.all.get_mut(number as usize) {
            Some(slot) => *slot = instance,
            None => self.all.push(instance),
        }
    }

    /// The undecided instances that agree with these conditions. One may come twice.
    pub(super) fn agreeing(&mut self, conditions: &[(ParamId, Subject)], out: &mut Vec<u32>) {
        let all = &self.all;
        let wanted = |i: u32| all[i as usize].decided.is_none() && all[i as usize].agrees(conditions);
        let length = |key| self.by_subject.get(key).map_or(0, Vec::len);
        let Some(shortest) = conditions.iter().min_by_key(|&key| length(key)) else {
            out.extend((0..all.len() as u32).filter(|&i| wanted(i)));
            return;
        };
        let Some(list) = self.by_subject.get_mut(shortest) else { return };
        // A decided instance that is not full is still copied from: it has to be found when its subject is gone.
        let is_stale = |i: u32| all[i as usize].decided.is_some() && all[i as usize].is_full();
        let mut stale = 0;
        for &i in list.iter() {
            if wanted(i) {
                out.push(i);
            }
            stale += usize::from(is_stale(i));
        }
        if stale > list.len() / 2 {
            list.retain(|&i| !is_stale(i));
        }
    }

    /// The full, undecided instances of a subject, which is gone: what comes under its name later is another one.
    pub(super) fn forget(&mut self, subject: Subject, params: usize) -> Vec<u32> {
        let mut found = Vec::new();
        for param in 0..params as ParamId {
            self.seen.remove(&(param, subject));
            found.extend(self.by_subject.remove(&(param, subject)).unwrap_or_default());
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|&i| self.all[i as usize].binding.contains(&Some(subject)));
        found
    }

    /// Gives a slot free.
    pub(super) fn remove(&mut self, number: u32) {
        let instance = &mut self.all[number as usize];
        let open: Vec<ParamId> =
            (0..).zip(instance.binding.iter()).filter(|(_, s)| s.is_none()).map(|(p, _)| p).collect();
        instance.binding = Box::new([]);
        instance.decided = Some(Verdict::Unknown.into());
        for param in open {
            if let Some(list) = self.open.get_mut(&param) {
                list.retain(|&i| i != number);
            }
        }
        self.free.push(number);
    }
}

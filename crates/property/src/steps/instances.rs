//! The instances of a property, each with its events.

use super::automaton::PathAutomaton;
use super::instance::{Classified, Instance};
use super::slot::StateAtoms;
use super::trace::{Occurrences, mentioned};
use super::{BoundSpec, SpecContext};
use crate::bind::subject::{Objects, Subject};
use crate::bind::values::{HeldValue, Key, value};
use crate::check::{Logic, Value, holds};
use crate::compile::NoMonitor;
use crate::monitor::{Asked, CompileError, MAX_ATOMS};
use event::Names;
use std::sync::Arc;

/// Combinations of subjects that are looked at; of more it is only assumed that they pass `where`.
const MAX_COMBINATIONS: u64 = 1 << 22;

/// An event of an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Its index in the trace.
    pub event: u64,
    /// What it does, for [`PathAutomaton::step`].
    pub class: u32,
    /// It only changes what variables hold; the monitor does not step.
    pub silent: bool,
}

/// The instances of a property.
pub struct PropertyInstances {
    /// The instances, at most as many as asked for.
    pub instances: Vec<InstanceSteps>,
    /// How many more there are; where there are millions, at most so many.
    pub omitted: u64,
    /// The questions put to a user-defined logic.
    pub asked: Option<Asked>,
}

/// One instance of a property on a trace.
pub struct InstanceSteps {
    /// What its parameters stand for, as in [`Outcome`](crate::run::Outcome).
    pub subjects: Vec<(String, String)>,
    /// The events that do something to it, in recorded order. With `steps = all`: every event of the trace.
    pub steps: Vec<Step>,
    /// Judges any order of them.
    pub automaton: PathAutomaton,
    property: usize,
    classified: Option<Arc<Instance>>,
    occurrences: Arc<Occurrences>,
}

impl InstanceSteps {
    /// What the variables of the property hold after these events (of the trace, in this order), by name:
    /// `count[Event@1]`.
    pub fn values(&self, schedule: &[u64]) -> Vec<(String, String)> {
        let Some(instance) = &self.classified else { return Vec::new() };
        let (context, found) = (&instance.context, &self.occurrences);
        let mut shown: Vec<(Key, HeldValue)> = Vec::new();
        for var in mentioned(&context.spec.properties[self.property]) {
            if let Some(key) = context.view(&instance.binding).key(&var)
                && shown.iter().all(|(other, _)| *other != key)
            {
                shown.push((key, context.values.get(key)));
            }
        }
        for event in schedule {
            let Ok(place) = found.events.binary_search_by_key(event, |occurrence| occurrence.event) else { continue };
            for ((variable, index), held) in &mut shown {
                let generic = context.values.initial(*variable);
                *held = found.change(&found.events[place], (*variable, *index), generic).unwrap_or(*held);
            }
        }
        let label = |(variable, index): Key| {
            let name = &context.spec.variables[variable as usize].name;
            match index {
                Some(index) => format!("{name}[{}]", context.objects.text(&context.threads, index)),
                None => name.clone(),
            }
        };
        shown.into_iter().map(|(key, held)| (label(key), text(context, key.0, held))).collect()
    }
}

/// What a variable holds, in words.
fn text(context: &SpecContext, variable: u32, held: HeldValue) -> String {
    let HeldValue::Known(subject) = held else { return "unknown".to_owned() };
    match value(held, context.spec.variables[variable as usize].ty, &context.objects) {
        Value::Bool(b) => b.to_string(),
        Value::Real(r) => format!("{r:?}"),
        // An identity that was recorded as a number has a name that no name looks like.
        _ => context.objects.text(&context.threads, subject).trim_start_matches('\0').to_owned(),
    }
}

/// Calls `visit` on combinations of subjects, the last parameter's changing fastest, until it says to stop.
fn combinations(named: &[Vec<Subject>], mut visit: impl FnMut(&[Option<Subject>]) -> bool) {
    if named.iter().any(Vec::is_empty) {
        return;
    }
    let mut at = vec![0usize; named.len()];
    let mut binding: Vec<Option<Subject>> = named.iter().map(|subjects| Some(subjects[0])).collect();
    while visit(&binding) {
        let mut param = named.len();
        loop {
            if param == 0 {
                return;
            }
            param -= 1;
            at[param] += 1;
            if at[param] < named[param].len() {
                binding[param] = Some(named[param][at[param]]);
                break;
            }
            at[param] = 0;
            binding[param] = Some(named[param][0]);
        }
    }
}

/// See [`BoundSpec::instances`].
pub(super) fn instances(bound: &BoundSpec, number: usize, limit: usize) -> Result<PropertyInstances, NoMonitor> {
    let property = bound.property(number);
    if matches!(property.logic, Logic::Mttl { .. }) {
        return Err(NoMonitor::Mttl);
    }
    if property.atoms.len() > MAX_ATOMS as usize {
        return Err(CompileError::TooManyAtoms(MAX_ATOMS).into());
    }
    let context = &bound.context;
    let occurrences = &bound.occurrences[number];
    let mut bindings: Vec<Box<[Option<Subject>]>> = Vec::new();
    let (mut looked, mut omitted) = (0u64, 0u64);
    combinations(&occurrences.named, |binding| {
        looked += 1;
        let passes = property.filter.as_ref().is_none_or(|filter| holds(filter, &context.view(binding)) == Ok(true));
        if passes && bindings.len() < limit {
            bindings.push(binding.into());
        } else {
            omitted += u64::from(passes);
        }
        looked < MAX_COMBINATIONS
    });
    let all = occurrences.named.iter().fold(1u64, |n, subjects| n.saturating_mul(subjects.len() as u64));
    omitted = omitted.saturating_add(all - looked.min(all));

    let atoms = Arc::new(StateAtoms::new(property));
    let all_steps = bound.all_steps(number);
    let mut made = Vec::new();
    let mut unknown = 0;
    for binding in bindings {
        let subjects = binding
            .iter()
            .zip(&property.params)
            .map(|(subject, param)| (param.name.clone(), in_words(&context.objects, &context.threads, *subject)));
        let subjects: Vec<(String, String)> = subjects.collect();
        let classified = Classified::new(context, property, &atoms, occurrences, binding, all_steps);
        unknown |= classified.as_ref().map_or(0, |classified| classified.instance.can_be_unknown());
        made.push((subjects, classified));
    }
    let compiled = bound.compiled.monitor_for(number, unknown)?;
    let instances = made.into_iter().map(|(subjects, classified)| {
        let steps = classified.as_ref().map_or_else(Vec::new, |classified| steps(bound, classified));
        let classified = classified.map(|classified| Arc::new(classified.instance));
        let automaton = PathAutomaton::new(compiled.clone(), classified.clone());
        InstanceSteps { subjects, steps, automaton, property: number, classified, occurrences: occurrences.clone() }
    });
    Ok(PropertyInstances { instances: instances.collect(), omitted, asked: compiled.asked.clone() })
}

fn in_words(objects: &Objects, threads: &Names, subject: Option<Subject>) -> String {
    subject.map_or_else(String::new, |subject| objects.text(threads, subject))
}

/// The events of an instance.
fn steps(bound: &BoundSpec, classified: &Classified) -> Vec<Step> {
    let classes = &classified.instance.classes;
    let step = |(event, class): (u64, u32)| Step { event, class, silent: classes[class as usize].steps.is_empty() };
    if let Some(idle) = classified.idle {
        let every = bound.first..bound.first + bound.events;
        let mut steps: Vec<Step> = every.map(|event| step((event, idle))).collect();
        for &(event, class) in &classified.events {
            steps[(event - bound.first) as usize] = step((event, class));
        }
        return steps;
    }
    let mut steps: Vec<Step> = classified.events.iter().copied().map(step).collect();
    steps.sort_unstable_by_key(|step| step.event);
    steps
}

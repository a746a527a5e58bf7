//! The instances of a property, each with its events.

use super::automaton::PathAutomaton;
use super::instance::{Classified, Instance};
use super::slot::StateAtoms;
use super::trace::Occurrences;
use super::{BoundSpec, Ground};
use crate::check::Value;
use crate::check::{VarRef, holds};
use crate::monitor::Asked;
use crate::run::subject::{Objects, Subject};
use crate::run::values::{Held, value};
use crate::run::{NoMonitor, compile_unknown};
use event::Names;
use std::sync::Arc;

/// Combinations of subjects that are looked at; of more it is only assumed that they pass `where`.
const MAX_COMBINATIONS: u64 = 1 << 22;

/// An event of a course.
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
pub struct Courses {
    /// The instances, at most as many as asked for.
    pub courses: Vec<Course>,
    /// How many more there are; where there are millions, at most so many.
    pub omitted: u64,
    /// The questions put to a user-defined logic.
    pub asked: Option<Asked>,
}

/// One instance of a property on a trace.
pub struct Course {
    /// What its parameters stand for, as in [`Outcome`](crate::run::Outcome).
    pub instance: Vec<(String, String)>,
    /// The events that do something to it, in recorded order. With `steps = all`: every event of the trace.
    pub steps: Vec<Step>,
    /// Judges any order of them.
    pub automaton: PathAutomaton,
    shown: Option<Arc<Instance>>,
    occurrences: Arc<Occurrences>,
}

impl Course {
    /// What the variables of the property hold after these events (of the trace, in this order), by name:
    /// `count[Event@1]`. Where the property has no variables, nothing.
    pub fn values(&self, schedule: &[u64]) -> Vec<(String, String)> {
        let Some(instance) = &self.shown else { return Vec::new() };
        let ground = &instance.ground;
        let initial = |var: &VarRef| {
            let key = ground.view(&instance.binding).key(var);
            key.map_or(ground.values.initial(var.var), |key| ground.values.get(key))
        };
        let mut held: Vec<Held> = instance.slots.iter().map(|slot| initial(&slot.var)).collect();
        let events = &self.occurrences.events;
        for event in schedule {
            let Ok(place) = events.binary_search_by_key(event, |(event, _)| *event) else { continue };
            let effect = &self.occurrences.effects[events[place].1 as usize];
            for (slot, held) in instance.slots.iter().zip(&mut held) {
                let Some(key) = slot.key else { continue };
                if let Some((_, new)) = effect.written.iter().rev().find(|(k, _)| *k == key) {
                    *held = *new;
                } else if effect.forgotten.contains(&key) {
                    *held = slot.generic;
                }
            }
        }
        let mut shown: Vec<(String, String)> = Vec::new();
        for (slot, held) in instance.slots.iter().zip(held) {
            let label = slot.label(ground);
            if shown.iter().all(|(name, _)| *name != label) {
                shown.push((label, text(ground, slot.var.var, held)));
            }
        }
        shown
    }
}

/// What a variable holds, in words.
fn text(ground: &Ground, variable: u32, held: Held) -> String {
    let Held::Known(subject) = held else { return "unknown".to_owned() };
    match value(held, ground.spec.variables[variable as usize].ty, &ground.objects) {
        Value::Bool(b) => b.to_string(),
        Value::Real(r) => format!("{r:?}"),
        _ => ground.objects.text(&ground.threads, subject),
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

/// See [`BoundSpec::courses`].
pub(super) fn courses(bound: &BoundSpec, number: usize, limit: usize) -> Result<Courses, NoMonitor> {
    let property = bound.property(number);
    let ground = &bound.ground;
    let occurrences = &bound.bound[number].occurrences;
    let mut bindings: Vec<Box<[Option<Subject>]>> = Vec::new();
    let (mut looked, mut omitted) = (0u64, 0u64);
    combinations(&occurrences.named, |binding| {
        looked += 1;
        let passes = property.filter.as_ref().is_none_or(|filter| holds(filter, &ground.view(binding)) == Ok(true));
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
        let instance = binding
            .iter()
            .zip(&property.params)
            .map(|(subject, param)| (param.name.clone(), in_words(&ground.objects, &ground.threads, *subject)));
        let instance: Vec<(String, String)> = instance.collect();
        let classified = Instance::new(ground, property, &atoms, occurrences, binding, all_steps);
        unknown |= classified.as_ref().map_or(0, |classified| classified.instance.can_be_unknown());
        made.push((instance, classified));
    }
    let compiled = compile_unknown(property, &bound.bound[number].knobs, &bound.folder, unknown)?;
    let monitor = Arc::new(compiled.monitor);
    let courses = made.into_iter().map(|(instance, classified)| {
        let steps = classified.as_ref().map_or_else(Vec::new, |classified| steps(bound, occurrences, classified));
        let shown = classified.map(|classified| Arc::new(classified.instance));
        let automaton = PathAutomaton::new(monitor.clone(), shown.clone());
        Course { instance, steps, automaton, shown, occurrences: occurrences.clone() }
    });
    Ok(Courses { courses: courses.collect(), omitted, asked: compiled.asked })
}

fn in_words(objects: &Objects, threads: &Names, subject: Option<Subject>) -> String {
    subject.map_or_else(String::new, |subject| objects.text(threads, subject))
}

/// The events of an instance.
fn steps(bound: &BoundSpec, found: &Occurrences, classified: &Classified) -> Vec<Step> {
    let classes = &classified.instance.classes;
    let step = |event, class: u32| Step { event, class, silent: classes[class as usize].steps.is_empty() };
    if let Some(idle) = classified.idle {
        let mut steps: Vec<Step> = (bound.first..bound.first + bound.events).map(|event| step(event, idle)).collect();
        for &(event, effect) in &found.events {
            if let Some(class) = classified.of_effect[effect as usize] {
                steps[(event - bound.first) as usize] = step(event, class);
            }
        }
        return steps;
    }
    let ours = classified.of_effect.iter().enumerate().filter_map(|(effect, class)| Some((effect, (*class)?)));
    let mut steps = Vec::new();
    for (effect, class) in ours {
        let places = &found.places[found.starts[effect] as usize..found.starts[effect + 1] as usize];
        steps.extend(places.iter().map(|&place| step(found.events[place as usize].0, class)));
    }
    steps.sort_unstable_by_key(|step| step.event);
    steps
}

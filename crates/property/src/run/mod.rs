//! Properties on the recorded run: each event of a trace is a step of the instances that it concerns.
//!
//! Events stream through; what is kept is what variables hold and the states of the monitors.

mod instances;
mod property;
mod unseen;

pub use crate::bind::Unbound;
pub use property::Outcome;

use crate::bind::reader::{EventEffect, Reader};
use crate::bind::subject::Subject;
use crate::bind::{BoundNames, InitialValues, Meant};
use crate::check::{Const, Settings, Spec, Unknown};
use crate::compile::{CompiledSpec, NoMonitor};
use crate::steps::BoundSpec;
use event::{Batch, CondId, Event, LockId, Names, VarId};
use property::PropertyRun;
use std::path::Path;
use std::sync::Arc;

/// One specification on a recorded run.
pub struct SpecRun {
    compiled: Arc<CompiledSpec>,
    init: Vec<(String, Const)>,
    reader: Reader,
    properties: Vec<PropertyRun>,
    /// Some property steps at every event.
    all_steps: bool,
    begun: bool,
    /// How many threads names spoke of before they had appeared.
    expected: usize,
    event: u64,
    /// Events at which a property was violated since they were last asked for.
    fresh: Vec<u64>,
    /// Scratch: what one event did.
    effect: EventEffect,
}

impl SpecRun {
    /// Compiles the properties that can be checked; the others are returned with the reason. `settings` are those of
    /// the command line, which win; `init` are initial values, which win, too.
    pub fn new(
        spec: Spec,
        settings: Settings,
        init: &[(String, Const)],
        folder: &Path,
    ) -> (SpecRun, Vec<(usize, NoMonitor)>) {
        let numbers: Vec<usize> = (0..spec.properties.len()).collect();
        let compiled = Arc::new(CompiledSpec::new(spec, settings, folder));
        SpecRun::of_properties(&compiled, &numbers, init, BoundNames::default())
    }

    /// Runs only these properties of a specification. `names` are those of the run that were bound before.
    pub(crate) fn of_properties(
        compiled: &Arc<CompiledSpec>,
        numbers: &[usize],
        init: &[(String, Const)],
        names: BoundNames,
    ) -> (SpecRun, Vec<(usize, NoMonitor)>) {
        let mut failed = Vec::new();
        let mut properties = Vec::new();
        for &number in numbers {
            match compiled.monitor(number) {
                Ok(monitor) => {
                    let (property, settings) = (compiled.property(number), compiled.settings(number));
                    properties.push(PropertyRun::new(number, property, settings, monitor));
                }
                Err(reason) => failed.push((number, reason)),
            }
        }
        let own = numbers.iter().map(|&number| compiled.property(number));
        let run = SpecRun {
            reader: Reader::new(&compiled.spec, own, init, names, false),
            compiled: compiled.clone(),
            init: init.to_vec(),
            all_steps: properties.iter().any(PropertyRun::all_steps),
            properties,
            begun: false,
            expected: 0,
            event: 0,
            fresh: Vec::new(),
            effect: EventEffect::default(),
        };
        (run, failed)
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        &self.reader.spec
    }

    /// Binds the specification to a whole trace, the events of this run: its monitors and the names that were bound so
    /// far are used again.
    pub fn bind(&self, names: &Names, trace: &Batch) -> BoundSpec {
        BoundSpec::with(self.compiled.clone(), &self.init, self.bound_names(), names, trace)
    }

    /// What the variables of a whole trace hold at first, by this specification.
    pub fn initial_values(&self, names: &Names, trace: &Batch) -> InitialValues {
        InitialValues::new(&self.compiled.spec, &self.init, self.bound_names(), names, trace)
    }

    /// The names bound so far; none if one of them spoke of a thread before it appeared, or of one that never did.
    fn bound_names(&self) -> BoundNames {
        if self.reader.objects.expected() > 0 { BoundNames::default() } else { self.reader.names() }
    }

    /// The recorded variables that a shared variable stands for, by its number; as far as the trace was read.
    pub fn variables(&self, number: u32) -> Vec<VarId> {
        let means = |meant: &Vec<Meant>| meant.iter().any(|meant| meant.number == number);
        places(&self.reader.bindings.vars, means).map(VarId).collect()
    }

    /// The recorded locks that a lock stands for, and the conditions with its name; as far as the trace was read.
    pub fn locks(&self, number: u32) -> (Vec<LockId>, Vec<CondId>) {
        let means = |(meant, _): &(Vec<Meant>, u32)| meant.iter().any(|meant| meant.number == number);
        let bindings = &self.reader.bindings;
        (places(&bindings.locks, means).map(LockId).collect(), places(&bindings.conds, means).map(CondId).collect())
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        self.reader.open(names, batch, self.begun);
        self.expect();
        if !batch.events.is_empty() {
            self.begin(names);
        }
        for (index, &event) in batch.events.iter().enumerate() {
            if self.reader.matters(event) || self.all_steps {
                self.event = batch.first + index as u64;
                self.step(names, batch, event);
            }
        }
    }

    /// Passes on which threads names speak of that have not appeared.
    fn expect(&mut self) {
        let expected = self.reader.objects.expected();
        if self.reader.has_met() || std::mem::replace(&mut self.expected, expected) != expected {
            let absent: Vec<Subject> = self.reader.objects.absent_threads().collect();
            for property in &mut self.properties {
                self.fresh.extend(property.expect(&absent));
            }
        }
    }

    /// Step 0, before the first event.
    fn begin(&mut self, names: &Names) {
        if self.begun {
            return;
        }
        self.begun = true;
        self.reader.begin();
        let Reader { spec, values, objects, .. } = &self.reader;
        for property in &mut self.properties {
            property.begin(spec, names, values, objects);
        }
    }

    fn step(&mut self, names: &Names, batch: &Batch, event: Event) {
        self.reader.read(names, batch, event, &mut self.effect);
        self.reader.values.apply(&self.effect);
        let Reader { spec, values, .. } = &self.reader;
        let seen = self.reader.seen(names, batch, event, &self.effect);
        let mut violated = false;
        for property in &mut self.properties {
            violated |= property.step(spec, values, &seen, &self.effect, self.event);
        }
        if violated {
            self.fresh.push(self.event);
        }
        for &subject in &self.effect.gone {
            self.properties.iter_mut().for_each(|property| property.gone(subject));
        }
    }

    /// What became of each property, those that hold included. `at_end`: all of the run was seen; otherwise nothing is
    /// said that only the end can say.
    pub fn finish(&mut self, names: &Names, at_end: bool) -> Vec<Outcome> {
        self.reader.grow(names);
        self.expect();
        self.begin(names);
        let Reader { spec, bindings, objects, .. } = &self.reader;
        self.properties.iter_mut().flat_map(|p| p.finish(spec, bindings, (names, objects), at_end)).collect()
    }

    /// The events at which a property was violated, since the last call: those of the batches taken since.
    pub fn violations(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.fresh)
    }

    /// Whether the property with this number is violated.
    pub fn is_violated(&self, property: usize) -> bool {
        self.properties.iter().any(|p| p.is_violated(property))
    }

    /// Declarations that no recorded name matches.
    pub fn unbound(&self, names: &Names) -> Vec<Unbound> {
        self.reader.bindings.unbound(&self.reader.spec, names)
    }

    /// Why atoms could not be evaluated (overflow, division by zero, …): each place once.
    pub fn unknowns(&self) -> Vec<Unknown> {
        self.properties.iter().flat_map(|p| p.unknowns()).collect()
    }

    /// How many questions were put to user-defined logics: the number of the property, and how many.
    pub fn questions(&self) -> Vec<(usize, u64)> {
        self.properties.iter().filter_map(|p| p.questions()).collect()
    }

    /// What went wrong with user-defined logics: the number of the property, and why.
    pub fn logic_errors(&self) -> Vec<(usize, crate::logic::LogicError)> {
        self.properties.iter().filter_map(|p| p.logic_error()).collect()
    }
}

/// The numbers of those in a list that something is true of.
fn places<T>(list: &[T], is: impl Fn(&T) -> bool) -> impl Iterator<Item = u32> {
    list.iter().enumerate().filter(move |(_, item)| is(item)).map(|(number, _)| number as u32)
}

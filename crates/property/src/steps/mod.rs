//! What the events of a recorded trace mean for a property, whatever order they come in.
//!
//! [`BoundSpec`] reads a trace once and keeps, for each property, what its events do. [`BoundSpec::instances`] gives
//! the instances of a property: each [`InstanceSteps`] lists its events, and has a [`PathAutomaton`] that judges any
//! order of them. On the recorded order it gives what [`SpecRun`] gives.
//!
//! An event can change what variables hold without being a step of the property: `alloc(x)` and `free(x)` bring back
//! the initial value of `x`. Such an event is *silent* ([`Step::silent`]): a path takes its class like any other, but
//! the monitor does not step. Silent, too, are events that only end an object, and the first events that name an
//! object for which the trace gives an initial value.
//!
//! When the memory of an object is freed, the instances of that object end. What comes under its name later belongs to
//! another object, which did nothing until then; one list of steps stands for all of them. Only for such objects, a
//! violation shows not before all subjects of an instance have been named on the path.

mod automaton;
mod class;
mod instance;
mod instances;
mod slot;
mod trace;

pub use automaton::PathAutomaton;
pub use instances::{InstanceSteps, PropertyInstances, Step};

use crate::bind::reader::{EventEffect, Reader};
use crate::bind::subject::Objects;
use crate::bind::values::Values;
use crate::bind::{BoundNames, InitialValues};
use crate::check::{Const, Logic, Property, Settings, Spec, Steps};
use crate::compile::{CompiledSpec, NoMonitor};
use crate::run::{Outcome, SpecRun};
use event::{Batch, Names, Space, Value, VarId};
use std::path::Path;
use std::sync::Arc;
use trace::{Collector, Occurrences};

/// What all instances of a specification share: its names and initial values on a trace.
struct SpecContext {
    spec: Arc<Spec>,
    /// The names of threads, under their numbers.
    threads: Names,
    objects: Objects,
    /// Initial values.
    values: Values,
}

/// A specification bound to a whole trace.
pub struct BoundSpec {
    context: Arc<SpecContext>,
    compiled: Arc<CompiledSpec>,
    /// The names of the trace.
    bound: BoundNames,
    /// By property: what the events of the trace do to it.
    occurrences: Vec<Arc<Occurrences>>,
    init: Vec<(String, Const)>,
    initial: InitialValues,
    /// How many events the trace has, and the number of the first.
    events: u64,
    first: u64,
}

impl BoundSpec {
    /// Reads a trace for a specification that was not run along it; else [`SpecRun::bind`] does less work. `settings`
    /// are those of the command line, which win; `init` are initial values, which win, too. Files of user-defined
    /// logics are found from `folder`.
    pub fn new(
        spec: &Spec,
        settings: Settings,
        init: &[(String, Const)],
        folder: &Path,
        names: &Names,
        trace: &Batch,
    ) -> BoundSpec {
        let compiled = Arc::new(CompiledSpec::new(spec.clone(), settings, folder));
        BoundSpec::with(compiled, init, BoundNames::default(), names, trace)
    }

    /// Reads a trace. `bound` are those of its names that were bound before.
    pub(crate) fn with(
        compiled: Arc<CompiledSpec>,
        init: &[(String, Const)],
        bound: BoundNames,
        names: &Names,
        trace: &Batch,
    ) -> BoundSpec {
        let spec = &compiled.spec;
        let mut reader = Reader::new(spec, &spec.properties, init, bound, true);
        reader.objects.expect_no_threads();
        reader.open(names, trace, false);
        reader.begin();
        let mut collectors: Vec<Collector> =
            spec.properties.iter().map(|property| Collector::new(spec, property)).collect();
        let mut effect = EventEffect::default();
        for (index, &event) in trace.events.iter().enumerate() {
            if !reader.matters(event) {
                continue;
            }
            reader.read(names, trace, event, &mut effect);
            let seen = reader.seen(names, trace, event, &effect);
            for (collector, property) in collectors.iter_mut().zip(&spec.properties) {
                if matches!(property.logic, Logic::Mttl { .. }) {
                    continue;
                }
                collector.event(property, &seen, &effect, trace.first + index as u64);
            }
        }
        let mut threads = Names::default();
        for number in 0..names.space(Space::Thread).len() {
            let added = threads.add(Space::Thread, names.get(Space::Thread, number as u32));
            debug_assert_eq!(added, Ok(number as u32));
        }
        let occurrences = collectors.into_iter().map(|collector| Arc::new(collector.finish())).collect();
        let initial = InitialValues::of_reader(&reader, names);
        let bound = reader.names();
        let Reader { spec, objects, values, .. } = reader;
        BoundSpec {
            context: Arc::new(SpecContext { spec, threads, objects, values }),
            compiled,
            bound,
            occurrences,
            init: init.to_vec(),
            initial,
            events: trace.events.len() as u64,
            first: trace.first,
        }
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        &self.context.spec
    }

    /// The settings of a property: those of the command line, its own, those of the specification.
    pub fn settings(&self, property: usize) -> Settings {
        self.compiled.settings(property)
    }

    /// The instances of a property: one without parameters; else one for every combination of subjects that events
    /// which matter to it name for its parameters, and that passes `where`; in the order in which they are first
    /// named. At most `limit`.
    pub fn instances(&self, property: usize, limit: usize) -> Result<PropertyInstances, NoMonitor> {
        instances::instances(self, property, limit)
    }

    /// What a variable of the trace holds at first.
    pub fn initial(&self, var: VarId) -> Value {
        self.initial.get(var)
    }

    /// Whether an event does something to some instance of a property, apart from being a step where all events are.
    pub fn concerns(&self, property: usize, event: u64) -> bool {
        let events = &self.occurrences[property].events;
        events.binary_search_by_key(&event, |occurrence| occurrence.event).is_ok()
    }

    /// What a property comes to on another run: what [`SpecRun`] says, which knows nothing of instances. `at_end`: it
    /// is a complete run, so its end says something.
    pub fn judge(&self, property: usize, names: &Names, run: &Batch, at_end: bool) -> Result<Vec<Outcome>, NoMonitor> {
        let (mut judge, failed) = SpecRun::of_properties(&self.compiled, &[property], &self.init, self.bound.clone());
        if let Some((_, reason)) = failed.into_iter().next() {
            return Err(reason);
        }
        judge.batch(names, run);
        Ok(judge.finish(names, at_end))
    }

    fn property(&self, number: usize) -> &Property {
        &self.context.spec.properties[number]
    }

    fn all_steps(&self, number: usize) -> bool {
        self.settings(number).steps == Some(Steps::All)
    }
}

//! Properties on the recorded run: each event of a trace is a step of the instances that it concerns.
//!
//! Events stream through; what is kept is what variables hold and the states of the monitors.

mod bind;
mod compile;
mod condition;
mod instances;
mod matching;
mod possible;
mod property;
mod subject;
mod values;

pub use bind::Unbound;
pub use compile::{Compiled, NoMonitor, compile, compile_known};
pub use condition::shortest_with_condition;
pub use possible::Letters;
pub use property::{Outcome, Shown};

use crate::check::{Const, Knobs, Spec, Unknown};
use bind::Bindings;
use event::{Batch, Event, Item, Names, Op};
use matching::Seen;
use property::PropertyRun;
use std::path::Path;
use subject::{Objects, Subject};
use values::{Held, Values};

/// One specification on a recorded run.
pub struct SpecRun {
    spec: Spec,
    bindings: Bindings,
    objects: Objects,
    values: Values,
    properties: Vec<PropertyRun>,
    /// By thread: whether it has acted.
    acted: Vec<bool>,
    begun: bool,
    event: u64,
}

impl SpecRun {
    /// Compiles the properties that can be checked; the others are returned with the reason. `knobs` are those of the
    /// command line, which win; `init` are initial values, which win, too.
    pub fn new(
        spec: Spec,
        knobs: Knobs,
        init: &[(String, Const)],
        folder: &Path,
    ) -> (SpecRun, Vec<(usize, NoMonitor)>) {
        let mut failed = Vec::new();
        let mut properties = Vec::new();
        for (number, property) in spec.properties.iter().enumerate() {
            let knobs = knobs.or(property.knobs).or(spec.knobs);
            match compile(property, &knobs, folder) {
                Ok(compiled) => properties.push(PropertyRun::new(number, property, knobs, compiled)),
                Err(reason) => failed.push((number, reason)),
            }
        }
        let mut objects = Objects::default();
        let values = Values::new(&spec, &mut objects, init);
        let run = SpecRun {
            spec,
            bindings: Bindings::default(),
            objects,
            values,
            properties,
            acted: Vec::new(),
            begun: false,
            event: 0,
        };
        (run, failed)
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        self.bindings.grow(&self.spec, names, &mut self.objects);
        self.acted.resize(names.space(event::Space::Thread).len(), false);
        // Initial values count from step 0 on, wherever in the first stretch they stand.
        if !self.begun {
            for init in &batch.inits {
                self.tell(names, init);
            }
        }
        for item in batch.items() {
            match item {
                Item::Init(init) if self.begun => {
                    self.tell(names, init);
                    self.values.take_told(&self.spec);
                }
                Item::Init(_) => {}
                Item::Event(index, event) => {
                    self.begin(names);
                    self.event = batch.first + index as u64;
                    self.step(names, batch, event);
                }
            }
        }
    }

    fn tell(&mut self, names: &Names, init: &event::Init) {
        let held = self.objects.of_value(names, init.value).map_or(Held::Unknown, Held::Known);
        self.values.tell(names.str(init.name), held);
    }

    /// Step 0, before the first event.
    fn begin(&mut self, names: &Names) {
        if self.begun {
            return;
        }
        self.begun = true;
        self.values.take_told(&self.spec);
        for property in &mut self.properties {
            property.begin(&self.spec, names, &self.values, &self.objects);
        }
    }

    fn step(&mut self, names: &Names, batch: &Batch, event: Event) {
        let thread = event.thread();
        let first = !std::mem::replace(&mut self.acted[thread.0 as usize], true);
        let mut crossed = Vec::new();
        let mut written = Vec::new();
        let mut args = Vec::new();
        match event.op() {
            Op::Write | Op::AtomicStore | Op::AtomicRmw => {
                for meant in &self.bindings.vars[event.var().0 as usize] {
                    let kind = self.spec.variables[meant.number as usize].kind;
                    let own = Some(Subject::Thread(thread));
                    let index = if kind == crate::check::VariableKind::Local { own } else { meant.index };
                    written.push((meant.number, index));
                }
                if !written.is_empty() {
                    let value = self.objects.of_value(names, batch.extra(event).value);
                    let held = value.map_or(Held::Unknown, Held::Known);
                    for &key in &written {
                        self.values.set(key, held);
                    }
                }
            }
            op @ (Op::Begin | Op::End) => {
                for &region in &self.bindings.blocks[event.block().0 as usize] {
                    if self.values.cross(region, thread, op == Op::Begin) {
                        crossed.push(region);
                        written.push((region, Some(Subject::Thread(thread))));
                    }
                }
            }
            Op::Internal => {
                args.extend(batch.args(event).iter().map(|&value| self.objects.of_value(names, value)));
            }
            _ => {}
        }
        let seen = Seen {
            names,
            batch,
            event,
            bindings: &self.bindings,
            objects: &self.objects,
            crossed: &crossed,
            first,
            args: &args,
        };
        for property in &mut self.properties {
            property.step(&self.spec, &self.values, &seen, &written, self.event);
        }
        if event.op() == Op::Free {
            for meant in &self.bindings.vars[event.var().0 as usize] {
                for property in &mut self.properties {
                    property.gone(meant.index);
                }
            }
        }
    }

    /// At the end of the trace: what became of each property, those that hold included.
    pub fn finish(&mut self, names: &Names) -> Vec<Outcome> {
        self.bindings.grow(&self.spec, names, &mut self.objects);
        self.begin(names);
        self.properties.iter_mut().flat_map(|p| p.finish(&self.spec, names, &self.objects)).collect()
    }

    /// Declarations that no recorded name matches.
    pub fn unbound(&self, names: &Names) -> Vec<Unbound> {
        self.bindings.unbound(&self.spec, names)
    }

    /// Why atoms could not be evaluated (overflow, division by zero, …): each place once.
    pub fn unknowns(&self) -> Vec<Unknown> {
        self.properties.iter().flat_map(|p| p.unknowns()).collect()
    }

    /// What went wrong with user-defined logics: the number of the property, and why.
    pub fn logic_errors(&self) -> Vec<(usize, crate::logic::LogicError)> {
        self.properties.iter().filter_map(|p| p.logic_error()).collect()
    }
}

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
use crate::syntax::ast::Type;
use bind::Bindings;
use event::{Batch, Event, Names, Op};
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
    /// Events at which a property was violated since they were last asked for.
    fresh: Vec<u64>,
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
            fresh: Vec::new(),
        };
        (run, failed)
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        // Initial values stand before the first event; later ones count only for objects that were not there yet.
        for init in &batch.inits {
            let held = self.objects.of_value(names, init.value).map_or(Held::Unknown, Held::Known);
            let late = self.begun || init.before > 0;
            self.values.tell(names.str(init.name), held, late);
        }
        self.grow(names);
        self.acted.resize(names.space(event::Space::Thread).len(), false);
        for (index, &event) in batch.events.iter().enumerate() {
            self.begin(names);
            self.event = batch.first + index as u64;
            self.step(names, batch, event);
        }
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
                    for &key in &written {
                        let identity = self.spec.variables[key.0 as usize].ty == Some(Type::Ref);
                        let value = value.map(|v| if identity { self.objects.of_identity(names, v) } else { v });
                        self.values.set(key, value.map_or(Held::Unknown, Held::Known));
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
        let mut violated = false;
        for property in &mut self.properties {
            violated |= property.step(&self.spec, &self.values, &seen, &written, self.event);
        }
        if violated {
            self.fresh.push(self.event);
        }
        if matches!(event.op(), Op::Free | Op::Alloc) {
            for meant in &self.bindings.vars[event.var().0 as usize] {
                self.values.forget((meant.number, meant.index));
            }
        }
        if event.op() == Op::Free {
            for meant in &self.bindings.vars[event.var().0 as usize] {
                if let Some(subject @ Subject::Object(_)) = meant.index {
                    self.properties.iter_mut().for_each(|property| property.gone(subject));
                }
            }
        }
    }

    /// What became of each property, those that hold included. `at_end`: all of the run was seen; otherwise nothing is
    /// said that only the end can say.
    pub fn finish(&mut self, names: &Names, at_end: bool) -> Vec<Outcome> {
        self.grow(names);
        self.begin(names);
        self.properties.iter_mut().flat_map(|p| p.finish(names, &self.objects, at_end)).collect()
    }

    /// Looks at new names; an initial value that the trace gave for one of them is its own.
    fn grow(&mut self, names: &Names) {
        let known = self.bindings.vars.len();
        self.bindings.grow(&self.spec, names, &mut self.objects);
        for (number, meant) in self.bindings.vars.iter().enumerate().skip(known) {
            for meant in meant.iter().filter(|meant| meant.index.is_some()) {
                let name = names.get(event::Space::Var, number as u32);
                self.values.take_told_of((meant.number, meant.index), name);
            }
        }
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
        self.bindings.unbound(&self.spec, names)
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

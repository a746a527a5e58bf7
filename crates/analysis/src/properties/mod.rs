//! The properties of a plan: monitored along the trace, searched for on other runs, and turned into results and
//! findings.

mod judge;
mod merge;
mod suppress;
mod synthesised;
mod thread_ends;
mod written;

pub(crate) use judge::Judged;
pub use written::formula;

use crate::context;
use crate::control::Control;
use crate::ending::Ending;
use crate::error::Error;
use crate::held::HeldLocks;
use crate::message::Messages;
use crate::origins::Origins;
use crate::plan::{Plan, PlannedSpec};
use event::{Batch, CausalityChoice, Meta, Names, Space};
use judge::{Judge, Searched, handlers};
use predict::{Options, Predictions, Predictor};
use property::check::{Action, Const, Logic, Property, Settings, Spec, Variable, VariableKind};
use property::compile::NoMonitor;
use property::run::{Outcome, SpecRun};
use property::syntax::{self, Diagnostic, Sources};
use report::Side;
use std::collections::HashMap;

/// Violations whose context is kept: more are not shown one by one.
const CONTEXTS: usize = 10_000;

/// More questions than a logic with few states needs.
const MANY_QUESTIONS: u64 = 1000;

/// One specification on its way along the trace.
struct Running {
    run: SpecRun,
    sources: Sources,
    /// The contexts of the events that violated something.
    contexts: HashMap<u64, Side>,
}

/// All properties to be checked.
#[derive(Default)]
pub(crate) struct Properties {
    running: Vec<Running>,
    init: Vec<(String, Const)>,
    /// Those of the command line.
    settings: Settings,
    count: bool,
    held: HeldLocks,
}

impl Properties {
    /// Compiles the monitors of a plan.
    pub(crate) fn new(plan: &Plan, messages: &mut Messages) -> Result<Properties, Error> {
        let (init, settings) = (plan.init.clone(), plan.overrides);
        let mut properties = Properties { init, settings, count: plan.count, ..Properties::default() };
        for planned in &plan.specs {
            properties.add(planned.clone(), messages)?;
            // Checks that are properties count unless the plan names detectors.
            let synthesised =
                if plan.detectors.is_none() { synthesised::properties(&planned.spec) } else { Vec::new() };
            for checked in synthesised {
                for spec in checked.specs {
                    let (sources, folder) = (checked.sources.clone(), planned.folder.clone());
                    properties.add(PlannedSpec { spec, sources, folder }, messages)?;
                }
            }
        }
        Ok(properties)
    }

    /// Whether other runs are searched for violations, for which the whole trace is needed.
    pub(crate) fn search(&self) -> bool {
        self.running.iter().any(|running| self.searches(running.run.spec()))
    }

    /// The specifications, each after what was read so far.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &SpecRun> {
        self.running.iter().map(|running| &running.run)
    }

    /// By variable of a specification: the recorded name, if it is a region.
    pub(crate) fn regions(&self, spec: usize) -> Vec<Option<String>> {
        let region =
            |v: &Variable| v.place.as_ref().filter(|_| v.kind == VariableKind::Region).map(|place| place.recorded());
        self.running[spec].run.spec().variables.iter().map(region).collect()
    }

    /// Initial values of the command line.
    pub(crate) fn init(&self) -> &[(String, Const)] {
        &self.init
    }

    /// Whether other runs are searched for violations of some property of a specification.
    fn searches(&self, spec: &Spec) -> bool {
        self.count || spec.properties.iter().any(|property| self.asked(spec, property) != CausalityChoice::OBSERVED)
    }

    /// The model that is asked for.
    fn asked(&self, spec: &Spec, property: &Property) -> CausalityChoice {
        if matches!(property.logic, Logic::Mttl { .. }) {
            return CausalityChoice::OBSERVED;
        }
        self.settings.or(property.settings).or(spec.settings).causality.unwrap_or_default()
    }

    fn add(&mut self, planned: PlannedSpec, messages: &mut Messages) -> Result<(), Error> {
        let PlannedSpec { spec, sources, folder } = planned;
        let (run, failed) = SpecRun::new(spec, self.settings, &self.init, &folder);
        for (number, reason) in failed {
            let property = run.spec().properties[number].name.clone();
            match reason {
                NoMonitor::Mttl => messages.note(format!("property {property}: {reason}")),
                _ => return Err(Error::Property { property, reason: reason.to_string() }),
            }
        }
        self.running.push(Running { run, sources, contexts: HashMap::new() });
        Ok(())
    }

    /// Whether there is anything to check.
    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Takes the next events.
    pub(crate) fn batch(&mut self, (names, meta): (&Names, &Meta), batch: &Batch) {
        let mut violations: Vec<(u64, usize)> = Vec::new();
        for (number, running) in self.running.iter_mut().enumerate() {
            running.run.batch(names, batch);
            let room = CONTEXTS.saturating_sub(running.contexts.len());
            violations.extend(running.run.violations().into_iter().take(room).map(|event| (event, number)));
        }
        violations.sort_unstable();
        let mut violations = violations.into_iter().peekable();
        for (index, &event) in (batch.first..).zip(&batch.events) {
            self.held.step(batch, event);
            while let Some((_, number)) = violations.next_if(|violation| violation.0 == index) {
                let side = context::side((names, meta), batch, index, event, &self.held);
                self.running[number].contexts.insert(index, side);
            }
        }
    }

    /// Whether a handler wants the analysis to stop: a property with `stop` on violation is violated.
    pub(crate) fn stop(&self) -> Option<String> {
        self.running.iter().find_map(|running| {
            let spec = running.run.spec();
            let mut properties = spec.properties.iter().enumerate();
            let stops = |p: &Property| {
                handlers(spec, p, &[syntax::ast::Outcome::Violation]).any(|h| h.actions.contains(&Action::Stop))
            };
            properties.find(|(number, p)| stops(p) && running.run.is_violated(*number)).map(|(_, p)| p.name.clone())
        })
    }

    /// At the end of the trace. Bindings that match nothing are errors.
    pub(crate) fn finish(
        &mut self,
        (names, meta): (&Names, &Meta),
        ending: &Ending<'_>,
        control: &Control<'_>,
        messages: &mut Messages,
    ) -> Result<Judged, Error> {
        let at_end = ending.at_end;
        for (name, _) in &self.init {
            let means = |running: &Running| {
                running
                    .run
                    .spec()
                    .variables
                    .iter()
                    .any(|v| v.name == *name || v.place.as_ref().is_some_and(|place| place.recorded() == *name))
            };
            if !self.running.iter().any(means) && names.space(Space::Var).find(name.as_bytes()).is_none() {
                return Err(Error::NoSuchVariable(name.clone()));
            }
        }
        let mut unmatched = 0;
        let mut observed: Vec<Vec<Outcome>> = Vec::new();
        for running in &mut self.running {
            let outcomes = running.run.finish(names, at_end);
            let mut diagnostics: Vec<Diagnostic> = Vec::new();
            for unbound in running.run.unbound(names) {
                let message =
                    format!("{} is bound to `{}`, which the trace never mentions", unbound.what, unbound.place);
                let help = unbound.nearest.map(|near| format!("the trace has `{near}`"));
                // What was not read may mention it.
                let diagnostic = if unbound.may_be_absent || !at_end {
                    Diagnostic::warning("binding", message)
                } else {
                    unmatched += 1;
                    Diagnostic::error("binding", message)
                };
                diagnostics.push(diagnostic.at(unbound.span, "matches nothing").maybe_help(help));
            }
            for reason in running.run.unknowns() {
                let message = "an atom could not be evaluated, and counts as unknown there";
                diagnostics.push(Diagnostic::warning("value", message).at(reason.span(), reason.text()));
            }
            messages.diagnostics(diagnostics, &running.sources);
            if let Some((number, error)) = running.run.logic_errors().first() {
                let property = running.run.spec().properties[*number].name.clone();
                return Err(Error::Property { property, reason: error.to_string() });
            }
            for (number, questions) in running.run.questions().into_iter().filter(|(_, n)| *n > MANY_QUESTIONS) {
                let name = &running.run.spec().properties[number].name;
                messages.note(format!(
                    "property {name}: {questions} questions were put to its logic, which has many states: such a logic \
                     is only as fast as it answers"
                ));
            }
            observed.push(outcomes);
        }
        if unmatched > 0 {
            return Err(Error::Unbound(unmatched));
        }
        let mut judged = Judged::default();
        let origins = Origins::new(names, meta, []);
        for (running, outcomes) in self.running.iter().zip(&observed) {
            self.judge(running, outcomes, (names, meta), &origins, (ending, control), &mut judged)?;
        }
        Ok(judged)
    }

    /// Searches the other runs for violations of a specification's properties, and judges them.
    fn judge(
        &self,
        running: &Running,
        outcomes: &[Outcome],
        (names, meta): (&Names, &Meta),
        origins: &Origins<'_>,
        (ending, control): (&Ending<'_>, &Control<'_>),
        judged: &mut Judged,
    ) -> Result<(), Error> {
        let &Ending { at_end, unread, retained, .. } = ending;
        let spec = running.run.spec();
        let trace = retained.trace().filter(|_| unread.is_none() && self.searches(spec));
        let binding = trace.map(|_| control.phase(&format!("looking for what concerns {}", spec.name)));
        let bound = trace.map(|trace| running.run.bind(names, trace));
        drop(binding);
        let options = Options {
            count: self.count,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            at_end,
            stop: Some(control.cancel),
            ..Options::default()
        };
        let initial = |var| bound.as_ref().map(|bound| bound.initial(var)).unwrap_or_default();
        let predictor = bound
            .as_ref()
            .zip(trace)
            .map(|(bound, trace)| (Predictor::new(bound, names, trace, &initial, options), bound, trace));
        let threads = thread_ends::not_joined(names, trace);
        let (sources, contexts) = (&running.sources, &running.contexts);
        let judge = Judge { spec, sources, contexts, names, meta, origins, not_joined: &threads };
        let is_searched = |property: &Property| {
            let observed = self.asked(spec, property) == CausalityChoice::OBSERVED && !self.count;
            !observed && !matches!(property.logic, Logic::Mttl { .. })
        };
        let wanted: Vec<usize> = (0..spec.properties.len()).filter(|&n| is_searched(&spec.properties[n])).collect();
        let mut found: HashMap<usize, Predictions> = match &predictor {
            Some((predictor, ..)) if !control.is_cancelled() => {
                let _phase = control.phase(&format!("searching other runs for violations of {}", spec.name));
                let found = predictor.predict(&wanted, outcomes);
                let found = found.map_err(|(number, why)| {
                    let property = spec.properties[number].name.clone();
                    Error::Property { property, reason: why.to_string() }
                })?;
                wanted.into_iter().zip(found).collect()
            }
            _ => HashMap::new(),
        };
        for (number, property) in spec.properties.iter().enumerate() {
            if matches!(property.logic, Logic::Mttl { .. }) {
                judged.leave(property);
                continue;
            }
            let of_it: Vec<Outcome> = outcomes.iter().filter(|outcome| outcome.property == number).cloned().collect();
            let asked = self.asked(spec, property);
            let searched = match &predictor {
                _ if asked == CausalityChoice::OBSERVED && !self.count => Searched::NotAsked,
                Some((_, bound, trace)) => match found.remove(&number) {
                    Some(found) => Searched::Found { found, bound, trace, asked },
                    None => Searched::Not("interrupted".to_owned()),
                },
                None => Searched::Not(match (retained.missing(), unread) {
                    (Some(why), _) => format!("{why}: other runs were not searched"),
                    (None, unread) => unread.unwrap_or("other runs were not searched").to_owned(),
                }),
            };
            judged.add(&judge, number, of_it, searched);
        }
        Ok(())
    }
}

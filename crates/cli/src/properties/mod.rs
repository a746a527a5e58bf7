//! The properties that the user wants checked: loaded, run along the trace, searched for on other runs, and turned into
//! results and findings.

mod built;
mod checks;
mod judge;
mod merge;
mod written;

pub(crate) use judge::Judged;
pub(crate) use written::formula;

use crate::args::{self, Analysis, AtEnd, Steps};
use crate::commands::useless;
use crate::held::HeldLocks;
use crate::kept::Ending;
use crate::moments;
use crate::origins::Origins;
use crate::output::say;
use crate::progress::Working;
use crate::specs::{self, complain};
use anyhow::{Context, Result, anyhow, bail};
use event::{Batch, CausalityChoice, Meta, Names, Space};
use judge::{Judge, Searched, handlers};
use predict::{Options, Predictions, Predictor};
use property::check::{self, Action, Const, Knobs, Known, Logic, Property, Spec, Variable, VariableKind};
use property::run::{NoMonitor, Outcome, SpecRun};
use property::steps::BoundSpec;
use property::syntax::{self, Diagnostic, Sources};
use report::Side;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Violations of which it is kept what happened: more are not shown one by one.
const MOMENTS: usize = 10_000;

/// More questions than a logic with few states needs.
const MANY_QUESTIONS: u64 = 1000;

/// One specification on its way along the trace.
struct Running {
    run: SpecRun,
    sources: Sources,
    /// Where it was found.
    folder: PathBuf,
    /// What happened at the events that violated something.
    moments: HashMap<u64, Side>,
}

/// All properties to be checked.
#[derive(Default)]
pub(crate) struct Properties {
    running: Vec<Running>,
    init: Vec<(String, Const)>,
    /// Those of the command line.
    knobs: Knobs,
    count: bool,
    held: HeldLocks,
    color: bool,
}

impl Properties {
    /// Loads what the command line names. `names` are those of the whole trace; only `--property` needs them.
    pub(crate) fn load(args: &Analysis, names: Option<&Names>, color: bool) -> Result<Properties> {
        let knobs = Knobs {
            steps: args.steps.map(|steps| match steps {
                Steps::Relevant => check::Steps::Relevant,
                Steps::All => check::Steps::All,
            }),
            at_end: args.at_end.map(|rule| match rule {
                AtEnd::Stutter => check::AtEnd::Stutter,
                AtEnd::Strong => check::AtEnd::Strong,
                AtEnd::Weak => check::AtEnd::Weak,
                AtEnd::None => check::AtEnd::None,
            }),
            causality: args.causality,
            breadth: args.breadth.map(|breadth| match breadth {
                args::Breadth::Cuts(n) => check::Breadth::Cuts(n),
                args::Breadth::All => check::Breadth::All,
            }),
            max_cuts: args.max_cuts,
            window: args.window,
        };
        let init = match &args.init {
            Some(text) => {
                let (sources, parsed) = check::parse_init(text);
                accept(parsed, &sources, color)?
            }
            None => Vec::new(),
        };
        let mut properties = Properties { init, knobs, count: args.count, color, ..Properties::default() };
        for path in &args.spec {
            let checked = specs::load(path, color)?;
            let folder = path.parent().unwrap_or(Path::new(""));
            for spec in checked.specs {
                let built = if args.detect.is_empty() { built::built(&spec) } else { Vec::new() };
                properties.add(spec, checked.sources.clone(), folder)?;
                for checked in built {
                    for spec in checked.specs {
                        properties.add(spec, checked.sources.clone(), folder)?;
                    }
                }
            }
        }
        for (number, formula) in args.property.iter().enumerate() {
            let names = names.context("the names of the trace are not known")?;
            let list = |space| -> Vec<&str> {
                (0..names.space(space).len()).map(|number| names.get(space, number as u32)).collect()
            };
            let (variables, locks, threads) = (list(Space::Var), list(Space::Lock), list(Space::Thread));
            let known = Known { variables: &variables, locks: &locks, threads: &threads };
            let (sources, checked) = check::check_formula(&format!("property-{}", number + 1), formula, known);
            let spec = accept(checked, &sources, color)?;
            properties.add(spec, sources, Path::new(""))?;
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
        self.knobs.or(property.knobs).or(spec.knobs).causality.unwrap_or_default()
    }

    fn add(&mut self, spec: Spec, sources: Sources, folder: &Path) -> Result<()> {
        let useless: Vec<Diagnostic> = spec.properties.iter().filter_map(|p| useless(&spec, p, &sources)).collect();
        complain(&useless, &sources, self.color);
        let (run, failed) = SpecRun::new(spec, self.knobs, &self.init, folder);
        for (number, reason) in failed {
            let property = &run.spec().properties[number];
            match reason {
                NoMonitor::Mttl => say(&format!("property {}: {reason}", property.name)),
                _ => bail!("property {}: {reason}", property.name),
            }
        }
        self.running.push(Running { run, sources, folder: folder.to_owned(), moments: HashMap::new() });
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
            let room = MOMENTS.saturating_sub(running.moments.len());
            violations.extend(running.run.violations().into_iter().take(room).map(|event| (event, number)));
        }
        violations.sort_unstable();
        let mut violations = violations.into_iter().peekable();
        for (index, &event) in (batch.first..).zip(&batch.events) {
            self.held.step(batch, event);
            while let Some((_, number)) = violations.next_if(|violation| violation.0 == index) {
                let side = moments::side((names, meta), batch, index, event, &self.held);
                self.running[number].moments.insert(index, side);
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
    pub(crate) fn finish(&mut self, (names, meta): (&Names, &Meta), ending: &Ending<'_>) -> Result<Judged> {
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
                bail!("--init: there is no variable `{name}`");
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
            complain(&diagnostics, &running.sources, self.color);
            if let Some((number, error)) = running.run.logic_errors().first() {
                bail!("property {}: {error}", running.run.spec().properties[*number].name);
            }
            for (number, questions) in running.run.questions().into_iter().filter(|(_, n)| *n > MANY_QUESTIONS) {
                let name = &running.run.spec().properties[number].name;
                say(&format!(
                    "property {name}: {questions} questions were put to its logic, which has many states: such a logic is only \
                     as fast as it answers"
                ));
            }
            observed.push(outcomes);
        }
        if unmatched > 0 {
            bail!("variables that match nothing in the trace: {unmatched}");
        }
        let mut judged = Judged::default();
        let origins = Origins::new(names, meta, []);
        for (running, outcomes) in self.running.iter().zip(&observed) {
            self.judge(running, outcomes, (names, meta), &origins, ending, &mut judged)?;
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
        ending: &Ending<'_>,
        judged: &mut Judged,
    ) -> Result<()> {
        let &Ending { unread, kept, interrupt, .. } = ending;
        let spec = running.run.spec();
        let trace = kept.trace().filter(|_| unread.is_none() && self.searches(spec));
        let binding = trace.map(|_| Working::on(format!("looking for what concerns {}", spec.name)));
        let bound = trace.map(|trace| BoundSpec::new(spec, self.knobs, &self.init, &running.folder, names, trace));
        drop(binding);
        let options = Options {
            count: self.count,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            stop: Some(interrupt.flag()),
            ..Options::default()
        };
        let initial = |var| bound.as_ref().map(|bound| bound.initial(var)).unwrap_or_default();
        let predictor = bound
            .as_ref()
            .zip(trace)
            .map(|(bound, trace)| (Predictor::new(bound, names, trace, &initial, options), bound, trace));
        let judge = Judge { spec, sources: &running.sources, moments: &running.moments, names, meta, origins };
        let is_searched = |property: &Property| {
            let observed = self.asked(spec, property) == CausalityChoice::OBSERVED && !self.count;
            !observed && !matches!(property.logic, Logic::Mttl { .. })
        };
        let wanted: Vec<usize> = (0..spec.properties.len()).filter(|&n| is_searched(&spec.properties[n])).collect();
        let mut found: HashMap<usize, Predictions> = match &predictor {
            Some((predictor, ..)) if interrupt.asked().is_none() => {
                let _working = Working::on(format!("searching other runs for violations of {}", spec.name));
                let found = predictor.predict(&wanted, outcomes);
                let found =
                    found.map_err(|(number, why)| anyhow!("property {}: {why}", spec.properties[number].name))?;
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
                None => Searched::Not(match (kept.missing(), unread) {
                    (Some(why), _) => format!("{why}: other runs were not searched"),
                    (None, unread) => unread.unwrap_or("other runs were not searched").to_owned(),
                }),
            };
            judged.take(&judge, number, of_it, searched);
        }
        Ok(())
    }
}

/// What was parsed, or the diagnostics on standard error and a failure.
fn accept<T>(parsed: std::result::Result<T, Vec<Diagnostic>>, sources: &Sources, color: bool) -> Result<T> {
    match parsed {
        Ok(value) => Ok(value),
        Err(diagnostics) => {
            complain(&diagnostics, sources, color);
            bail!("the command line cannot be understood");
        }
    }
}

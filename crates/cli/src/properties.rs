//! The properties that the user wants checked: loaded, run along the trace, and turned into results and findings.

use crate::args::{AtEnd, Check, Steps};
use crate::commands::useless;
use crate::held::HeldLocks;
use crate::output::say;
use crate::specs::{self, complain};
use anyhow::{Context, Result, bail};
use event::{Batch, Names, Space};
use property::check::{self, Action, Const, Handler, Knobs, Known, Logic, Property, Spec};
use property::monitor;
use property::run::{NoMonitor, Outcome, Shown, SpecRun};
use property::syntax::{self, Diagnostic, Sources};
use report::{End, Evidence, Finding, Kind, PropertyResult, Side, Verdict, fingerprint, site_identity};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use trace::text::event_text;

/// The model that this version has.
const OBSERVED: &str = "observed";

/// Violations of which it is kept what happened: more are not shown one by one.
const MOMENTS: usize = 10_000;

/// More questions than a logic with few states needs.
const MANY_QUESTIONS: u64 = 1000;

/// One specification on its way along the trace.
struct Running {
    run: SpecRun,
    sources: Sources,
    /// What happened at the events that violated something.
    moments: HashMap<u64, Side>,
}

/// All properties to be checked.
#[derive(Default)]
pub(crate) struct Properties {
    running: Vec<Running>,
    init: Vec<(String, Const)>,
    held: HeldLocks,
    color: bool,
}

/// What became of the properties.
#[derive(Default)]
pub(crate) struct Judged {
    pub(crate) results: Vec<PropertyResult>,
    pub(crate) findings: Vec<Finding>,
    /// The exit code that a handler asks for.
    pub(crate) exit: Option<u8>,
    /// Commands that handlers ask for.
    pub(crate) commands: Vec<String>,
}

impl Properties {
    /// Loads what the command line names. `names` are those of the whole trace; only `--property` needs them.
    pub(crate) fn load(args: &Check, names: Option<&Names>, color: bool) -> Result<Properties> {
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
            ..Knobs::default()
        };
        let init = match &args.init {
            Some(text) => {
                let (sources, parsed) = check::parse_init(text);
                accept(parsed, &sources, color)?
            }
            None => Vec::new(),
        };
        let mut properties = Properties { running: Vec::new(), init: init.clone(), held: HeldLocks::default(), color };
        for path in &args.spec {
            let checked = specs::load(path, color)?;
            let folder = path.parent().unwrap_or(Path::new(""));
            for spec in checked.specs {
                properties.add(spec, checked.sources.clone(), knobs, &init, folder)?;
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
            properties.add(spec, sources, knobs, &init, Path::new(""))?;
        }
        Ok(properties)
    }

    fn add(
        &mut self,
        spec: Spec,
        sources: Sources,
        knobs: Knobs,
        init: &[(String, Const)],
        folder: &Path,
    ) -> Result<()> {
        say_what_is_not_done(&spec);
        let useless: Vec<Diagnostic> = spec.properties.iter().filter_map(|p| useless(&spec, p, &sources)).collect();
        complain(&useless, &sources, self.color);
        let (run, failed) = SpecRun::new(spec, knobs, init, folder);
        for (number, reason) in failed {
            let property = &run.spec().properties[number];
            match reason {
                NoMonitor::Mttl => say(&format!("property {}: {reason}", property.name)),
                _ => bail!("property {}: {reason}", property.name),
            }
        }
        self.running.push(Running { run, sources, moments: HashMap::new() });
        Ok(())
    }

    /// Whether there is anything to check.
    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Takes the next events.
    pub(crate) fn batch(&mut self, names: &Names, batch: &Batch) {
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
                let side = Side {
                    event: index,
                    thread: names.thread(event.thread()).to_owned(),
                    op: event_text(names, batch, event),
                    site: names.site(event.site()).to_owned(),
                    locks_held: self.held.by(event.thread()).map(|lock| names.lock(lock).to_owned()).collect(),
                    ..Side::default()
                };
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
    /// `at_end`: the trace is complete, and was read to its end.
    pub(crate) fn finish(&mut self, names: &Names, at_end: bool) -> Result<Judged> {
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
        let mut judged = Judged::default();
        let mut unmatched = 0;
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
            for property in running.run.spec().properties.iter().filter(|p| matches!(p.logic, Logic::Mttl { .. })) {
                judged.results.push(PropertyResult::new(&property.name, "mttl", OBSERVED, Verdict::Unknown));
            }
            for outcome in outcomes {
                judged.take(running, &outcome);
            }
        }
        if unmatched > 0 {
            bail!("variables that match nothing in the trace: {unmatched}");
        }
        Ok(judged)
    }
}

/// Parts of the language that this version understands and does not carry out.
fn say_what_is_not_done(spec: &Spec) {
    if !spec.checks.is_empty() {
        say(&format!("{}: `check` declarations are not carried out in this version", spec.name));
    }
    let predicts = |knobs: &Knobs| {
        let observed = matches!(knobs.causality, None | Some(check::Causality::Auto | check::Causality::Observed));
        !observed || knobs.breadth.is_some() || knobs.max_cuts.is_some() || knobs.window.is_some()
    };
    if predicts(&spec.knobs) || spec.properties.iter().any(|p| predicts(&p.knobs)) {
        say(&format!("{}: this version checks the recorded run only; other runs are not predicted yet", spec.name));
    }
}

/// The handlers of these outcomes: those of the property, else those of its specification.
fn handlers<'a>(
    spec: &'a Spec,
    property: &'a Property,
    outcomes: &'a [syntax::ast::Outcome],
) -> impl Iterator<Item = &'a Handler> {
    outcomes.iter().flat_map(|&outcome| {
        let wanted = move |handler: &&Handler| handler.outcome == outcome;
        let own = property.handlers.iter().any(|handler| handler.outcome == outcome);
        if own { property.handlers.iter().filter(wanted) } else { spec.handlers.iter().filter(wanted) }
    })
}

impl Judged {
    fn take(&mut self, running: &Running, outcome: &Outcome) {
        use syntax::ast::{EreMode, Outcome as On};
        let spec = running.run.spec();
        let property = &spec.properties[outcome.property];
        let (verdict, end) = match outcome.shown {
            Shown::Violated(_) => (Verdict::Violated, None),
            Shown::Unfulfilled => (Verdict::Unfulfilled, None),
            Shown::Unknown => (Verdict::Unknown, None),
            Shown::Holds(_) if outcome.truncated => (Verdict::Truncated, None),
            Shown::Holds(monitor::Verdict::Satisfied) => (Verdict::Holds, Some(End::Satisfied)),
            Shown::Holds(monitor::Verdict::Fulfilled) => (Verdict::Holds, Some(End::Fulfilled)),
            Shown::Holds(_) => (Verdict::Holds, Some(End::Pending)),
        };
        let mut result = PropertyResult::new(&property.name, property.logic.text(), OBSERVED, verdict);
        // Only logics that look ahead have something to say about the end.
        let looks_ahead = matches!(property.logic, Logic::Future(_) | Logic::Ere { .. } | Logic::Logic { .. });
        result.end = end.filter(|_| looks_ahead);
        result.truncated = outcome.truncated;
        result.instances_omitted = (outcome.omitted > 0).then_some(outcome.omitted);
        if !outcome.instance.is_empty() {
            result.instance = Some(outcome.instance.iter().cloned().collect::<BTreeMap<_, _>>());
        }
        let violating = if let Shown::Violated(event) = outcome.shown { event } else { None };
        result.violating_event = violating;
        self.results.push(result);

        let parametric_whole = !property.params.is_empty() && outcome.instance.is_empty();
        let outcomes: &[On] = match (verdict, &property.logic) {
            (Verdict::Violated, Logic::Ere { mode: EreMode::Follows, .. }) => &[On::Fail, On::Violation],
            (Verdict::Violated, Logic::Ere { .. }) => &[On::Match, On::Violation],
            (Verdict::Violated, _) => &[On::Violation],
            (Verdict::Unfulfilled, _) => &[On::Unfulfilled],
            (Verdict::Truncated, _) => &[On::Truncated],
            _ => return,
        };
        // The instances speak for the property as a whole, but for what only the whole knows.
        if parametric_whole && verdict != Verdict::Truncated {
            return;
        }
        let mut words = None;
        for action in handlers(spec, property, outcomes).flat_map(|handler| &handler.actions) {
            match action {
                Action::Report(text) => words = words.or(text.clone()),
                Action::Exit(code) => self.exit = self.exit.or(Some(*code)),
                Action::Exec(command) if self.commands.contains(command) => {}
                Action::Exec(command) => self.commands.push(command.clone()),
                Action::Call(place) => {
                    say(&format!(
                        "property {}: `call {}` works only inside the program",
                        property.name,
                        place.recorded()
                    ));
                }
                Action::Stop => {}
            }
        }
        if verdict == Verdict::Truncated {
            return;
        }
        let side = violating.and_then(|event| running.moments.get(&event).cloned());
        let what = match outcome.shown {
            Shown::Unfulfilled => "was not fulfilled before the trace ended",
            Shown::Violated(None) => "is violated from the start, by the initial values",
            _ => "is violated on the recorded run",
        };
        let instance: Vec<String> = outcome.instance.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let instance = if instance.is_empty() { String::new() } else { format!(" for {}", instance.join(", ")) };
        let words = words.map(|words| format!(": {words}")).unwrap_or_default();
        let message = format!("{}{instance} {what}{words}", property.name);
        let place = side.as_ref().map(|side| site_identity(&side.site).to_owned()).unwrap_or_default();
        // Not the instance: threads and objects have other numbers in the next run.
        let print = fingerprint(Kind::Property, &[&place], &format!("{}.{}", spec.name, property.name));
        let mut finding = Finding::new(Kind::Property, &property.name, Evidence::observed(None), print, message);
        finding.objects = vec![format!("{}{instance}", property.name)];
        finding.suppressed = side.as_ref().is_some_and(|side| {
            spec.suppressions.iter().any(|s| s.name == property.name && side.site == format!("{}:{}", s.file, s.line))
        });
        finding.sides = side.into_iter().collect();
        self.findings.push(finding);
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

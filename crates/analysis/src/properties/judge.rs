//! What became of the properties: results, findings, and what handlers ask for.

use super::merge::{Entry, merge, nothing};
use super::written::formula;
use crate::context;
use crate::held::HeldLocks;
use crate::origins::Origins;
use crate::resolve::inexact_event;
use crate::schedule_view::ScheduleView;
use event::{Batch, Causality, CausalityChoice, Meta, Names};
use predict::{Predicted, Predictions};
use property::check::{Action, Handler, Logic, Property, Spec};
use property::run::Outcome;
use property::steps::BoundSpec;
use property::syntax::Sources;
use property::syntax::ast::{EreMode, Outcome as On};
use report::{Evidence, Finding, Kind, PropertyResult, Side, Tried, Verdict, fingerprint, side_identity, split_site};
use std::collections::{BTreeMap, HashMap};

/// Findings that come with a view of the orders: more than a reader looks at.
const VIEWS: usize = 100;

/// Indexes in the witnesses of recorded violations, all together; these are the recorded order, and say nothing new.
const RECORDED: u64 = 1 << 22;

const VIOLATED: &str = "is violated on another run";

/// What is to be said of a verdict that only the end gives.
const PROVISIONAL: &str = "by the rule for the end of a run (at_end): more steps might fulfil it";

/// What became of the properties.
#[derive(Default)]
pub(crate) struct Judged {
    pub(crate) results: Vec<PropertyResult>,
    pub(crate) findings: Vec<Finding>,
    /// The exit code that a handler asks for.
    pub(crate) exit: Option<u8>,
    /// Commands that handlers ask for.
    pub(crate) commands: Vec<String>,
    /// What there is to say beside the findings.
    pub(crate) notes: Vec<String>,
    /// Indexes in the witnesses of recorded violations so far.
    recorded: u64,
}

/// A specification that was run along the trace.
pub(super) struct Judge<'a> {
    pub(super) spec: &'a Spec,
    pub(super) sources: &'a Sources,
    /// The contexts of the events that violated something.
    pub(super) contexts: &'a HashMap<u64, Side>,
    pub(super) names: &'a Names,
    pub(super) meta: &'a Meta,
    pub(super) origins: &'a Origins<'a>,
    /// The threads that may have had more to do when the trace ended, in words.
    pub(super) not_joined: &'a Option<String>,
}

/// What came of the search of other runs.
pub(super) enum Searched<'a> {
    /// It was not asked for.
    NotAsked,
    /// There was none, for this reason.
    Not(String),
    /// This.
    Found { found: Predictions, bound: &'a BoundSpec, trace: &'a Batch, asked: CausalityChoice },
}

/// The handlers of these outcomes: those of the property, else those of its specification.
pub(super) fn handlers<'a>(
    spec: &'a Spec,
    property: &'a Property,
    outcomes: &'a [On],
) -> impl Iterator<Item = &'a Handler> {
    outcomes.iter().flat_map(|&outcome| {
        let wanted = move |handler: &&Handler| handler.outcome == outcome;
        let own = property.handlers.iter().any(|handler| handler.outcome == outcome);
        if own { property.handlers.iter().filter(wanted) } else { spec.handlers.iter().filter(wanted) }
    })
}

impl Judged {
    /// A property of a kind that is not carried out.
    pub(super) fn leave(&mut self, property: &Property) {
        self.results.push(PropertyResult::new(
            &property.name,
            property.logic.text(),
            Causality::Observed,
            Verdict::Unknown,
        ));
    }

    /// What the recorded run and the other runs say of a property.
    pub(super) fn add(&mut self, judge: &Judge<'_>, number: usize, outcomes: Vec<Outcome>, searched: Searched<'_>) {
        let property = &judge.spec.properties[number];
        let mut scene = None;
        let (found, asked) = match searched {
            Searched::NotAsked => (Predictions::default(), CausalityChoice::OBSERVED),
            Searched::Not(why) => {
                let mut none = nothing(number, Causality::Observed);
                none.truncated.push(why);
                (Predictions { instances: vec![none], omitted: 0 }, CausalityChoice::OBSERVED)
            }
            Searched::Found { found, bound, trace, asked } => {
                scene = Some((bound, trace));
                (found, asked)
            }
        };
        for refused in found.instances.iter().filter_map(|prediction| prediction.refused.as_ref()) {
            self.notes.push(format!(
                "property {}: a violation was found whose schedule the checker refused ({refused}), and is not \
                 reported. Unless the trace has problems, this is A FAULT OF THIS PROGRAM: please report it",
                property.name
            ));
        }
        let concerns = |event| scene.is_some_and(|(bound, _)| bound.concerns(number, event));
        let scene = scene.map(|(_, trace)| ScheduleView {
            names: judge.names,
            trace,
            place: &|event| event as usize,
            concerns: &concerns,
            marks: &[],
        });
        let sure = |event: u64| !judge.contexts.get(&event).is_some_and(Side::is_inexact);
        for entry in merge(outcomes, found, asked, !property.params.is_empty(), &sure) {
            self.result(property, &entry);
            self.act(judge, property, entry, scene.as_ref());
        }
    }

    fn result(&mut self, property: &Property, entry: &Entry) {
        let Entry { instance, verdict, end, violating, prediction, doubt: _, figures, truncated, omitted, unseen } =
            entry;
        let mut result = PropertyResult::new(&property.name, property.logic.text(), prediction.causality, *verdict);
        // Only logics that look ahead have something to say about the end.
        let looks_ahead = matches!(property.logic, Logic::Future(_) | Logic::Ere { .. } | Logic::Logic { .. });
        result.end = end.filter(|_| looks_ahead);
        result.truncated = *truncated;
        result.unseen.clone_from(unseen);
        result.cut_short = prediction.truncated.clone();
        result.instances_omitted = (*omitted > 0).then_some(*omitted);
        if !instance.is_empty() {
            result.instance = Some(instance.iter().cloned().collect::<BTreeMap<_, _>>());
        }
        result.cuts = figures.cuts;
        result.edges = figures.edges;
        result.runs = figures.runs.clone();
        result.bad_runs = figures.bad_runs.clone();
        result.dead_ends = figures.dead_ends;
        let tried = prediction.tried.iter();
        let tried = tried.map(|tried| {
            let cut_short = (!tried.cut_short.is_empty()).then(|| tried.cut_short.join("; "));
            Tried { causality: tried.causality, cut_short }
        });
        result.tried = Some(tried.collect()).filter(|tried: &Vec<_>| !tried.is_empty());
        match (verdict, &prediction.predicted) {
            (Verdict::Violated, _) => {
                let events = violating.map_or(0, |event| event + 1);
                if self.recorded + events <= RECORDED {
                    self.recorded += events;
                    result.witness = Some((0..events).collect());
                }
                result.violating_event = *violating;
            }
            (Verdict::Predicted, Some(predicted)) => {
                result.violating_event = Some(predicted.event);
                result.witness = Some(predicted.schedule.clone());
            }
            (Verdict::PredictedUnfulfilled, _) => {
                let unfulfilled = prediction.unfulfilled.as_ref();
                result.violating_event = unfulfilled.map(|unfulfilled| unfulfilled.event);
                result.witness = unfulfilled.map(|unfulfilled| unfulfilled.schedule.clone());
            }
            _ => {}
        }
        self.results.push(result);
    }

    /// Does what handlers ask for, and makes a finding of what does not hold.
    fn act(&mut self, judge: &Judge<'_>, property: &Property, entry: Entry, scene: Option<&ScheduleView<'_>>) {
        let spec = judge.spec;
        // The instances speak for the property as a whole, but for what only the whole knows.
        let parametric_whole = !property.params.is_empty() && entry.instance.is_empty();
        let mut words = None;
        if !parametric_whole {
            let outcomes: &[On] = match (entry.verdict, &property.logic) {
                (Verdict::Violated, Logic::Ere { mode: EreMode::Follows, .. }) => &[On::Fail, On::Violation],
                (Verdict::Violated, Logic::Ere { .. }) => &[On::Match, On::Violation],
                (Verdict::Violated, _) => &[On::Violation],
                (Verdict::Predicted, _) => &[On::Predicted],
                (Verdict::Unfulfilled, _) => &[On::Unfulfilled],
                (Verdict::PredictedUnfulfilled, _) => &[On::Unfulfilled, On::Predicted],
                _ => &[],
            };
            words = self.carry_out(spec, property, outcomes);
        }
        if entry.truncated && entry.instance.is_empty() {
            self.carry_out(spec, property, &[On::Truncated]);
        }
        let ends = matches!(entry.verdict, Verdict::Unfulfilled | Verdict::PredictedUnfulfilled);
        let finds = ends || matches!(entry.verdict, Verdict::Violated | Verdict::Predicted);
        if (finds || entry.doubt.is_some()) && !parametric_whole {
            let finding = self.finding(judge, property, entry, words, scene);
            self.findings.push(finding);
        }
    }

    /// Does what the handlers of some outcomes ask for; the words they report.
    fn carry_out(&mut self, spec: &Spec, property: &Property, outcomes: &[On]) -> Option<String> {
        let handlers = handlers(spec, property, outcomes).cloned().collect::<Vec<_>>();
        self.obey(&handlers, &format!("property {}", property.name))
    }

    /// Does what the handlers of a specification ask for when its `check` lines find something.
    pub(super) fn carry_out_checks(&mut self, spec: &Spec, outcome: On) {
        let handlers: Vec<Handler> = spec.handlers.iter().filter(|h| h.outcome == outcome).cloned().collect();
        self.obey(&handlers, &spec.name);
    }

    fn obey(&mut self, handlers: &[Handler], who: &str) -> Option<String> {
        let mut words = None;
        for action in handlers.iter().flat_map(|handler| &handler.actions) {
            match action {
                Action::Report(text) => words = words.or(text.clone()),
                Action::Exit(code) => self.exit = self.exit.or(Some(*code)),
                Action::Exec(command) if self.commands.contains(command) => {}
                Action::Exec(command) => self.commands.push(command.clone()),
                Action::Call(place) => {
                    self.notes.push(format!("{who}: `call {}` works only inside the program", place.recorded()));
                }
                Action::Stop => {}
            }
        }
        words
    }

    fn finding(
        &self,
        judge: &Judge<'_>,
        property: &Property,
        entry: Entry,
        words: Option<String>,
        scene: Option<&ScheduleView<'_>>,
    ) -> Finding {
        let Entry { instance, verdict, violating, prediction, doubt, .. } = entry;
        let model = prediction.causality;
        let predicted = match doubt {
            Some(_) if violating.is_some() => None,
            Some(_) => prediction.doubtful.map(|(predicted, _)| predicted),
            None if verdict == Verdict::PredictedUnfulfilled => prediction.unfulfilled,
            None => prediction.predicted.filter(|_| verdict == Verdict::Predicted),
        };
        let ended = verdict == Verdict::PredictedUnfulfilled;
        let side = match (&predicted, scene) {
            (Some(predicted), Some(scene)) => Some(predicted_context(scene, judge.meta, predicted)),
            _ => violating.and_then(|event| judge.contexts.get(&event).cloned()),
        };
        let what = match (verdict, &predicted) {
            (Verdict::Unfulfilled, _) => "was not fulfilled before the trace ended".to_owned(),
            (_, Some(predicted)) => {
                let read = if predicted.terminal { ", by a read that then sees another value" } else { "" };
                let doubt = if model == Causality::SyncOnly {
                    " (sync-only does not keep what reads saw: its values may be impossible)"
                } else {
                    ""
                };
                let what = if ended { "is not fulfilled at the end of another complete run" } else { VIOLATED };
                format!("{what}, which {model} admits{read}{doubt}")
            }
            _ if violating.is_none() => "is violated from the start, by the initial values".to_owned(),
            _ => "is violated on the recorded run".to_owned(),
        };
        let instance: Vec<String> = instance.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let instance = if instance.is_empty() { String::new() } else { format!(" for {}", instance.join(", ")) };
        let words = words.map(|words| format!(": {words}")).unwrap_or_default();
        let doubts = doubt.map(|event| format!("; {}", inexact_event(event))).unwrap_or_default();
        let message = format!("{}{instance} {what}{words}{doubts}", property.name);
        let place = side.as_ref().map(side_identity).unwrap_or_default();
        // Not the instance: threads and objects have other numbers in the next run.
        let print = fingerprint(Kind::Property, &[&place], &format!("{}.{}", judge.spec.name, property.name));
        let (evidence, values) = match predicted {
            Some(Predicted { values, .. }) if doubt.is_some() => (Evidence::warning(), values),
            None if doubt.is_some() => (Evidence::warning(), Vec::new()),
            Some(Predicted { schedule, values, .. }) => (Evidence::predicted(schedule), values),
            None => (Evidence::observed(None), Vec::new()),
        };
        let mut finding = Finding::new(Kind::Property, &property.name, evidence, print, message);
        finding.objects = vec![format!("{}{instance}", property.name)];
        finding.suppressed = side.as_ref().is_some_and(|side| {
            let here = |file: &str, line: u32| split_site(&side.site).1 == format!("{file}:{line}");
            judge.spec.suppressions.iter().any(|s| s.name == property.name && here(&s.file, s.line))
        });
        finding.sides = side.into_iter().collect();
        finding.origins = judge.origins.origins(&[], &finding.sides);
        let written = formula(property, judge.sources).map(|text| ("property".to_owned(), text));
        finding.exhibit.entries.extend(written);
        if ended || verdict == Verdict::Unfulfilled {
            let threads = judge.not_joined.as_ref().map(|threads| format!("; {threads}")).unwrap_or_default();
            let provisional = format!("{PROVISIONAL}{threads}");
            finding.exhibit.entries.push(("provisional".to_owned(), provisional));
        }
        if !values.is_empty() {
            let values: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            finding.exhibit.entries.push(("values".to_owned(), values.join(", ")));
        }
        if let (Some(scene), Some(schedule)) = (scene, finding.evidence.witness())
            && let Some(last) = schedule.len().checked_sub(1).and_then(|last| schedule.get(last))
            && self.findings.len() < VIEWS
        {
            let mark = if ended { "end" } else { "violation" };
            finding.exhibit.schedules = ScheduleView { marks: &[(last, mark)], ..*scene }.orders(schedule);
        }
        finding
    }
}

/// The context of the violating event of a prediction.
fn predicted_context(scene: &ScheduleView<'_>, meta: &Meta, predicted: &Predicted) -> Side {
    let (names, trace) = (scene.names, scene.trace);
    let mut held = HeldLocks::default();
    predicted.schedule.iter().for_each(|&event| held.step(trace, trace.events[event as usize]));
    context::side((names, meta), trace, predicted.event, trace.events[predicted.event as usize], &held)
}

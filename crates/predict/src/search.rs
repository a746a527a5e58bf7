//! The search for violations, model by model, group by group.

use crate::budget::{broaden, slice};
use crate::counting::Figures;
use crate::group::{Group, groups};
use crate::predictor::{Predicted, Prediction, Predictions, Predictor, Tried};
use crate::union::SILENCE;
use crate::verify::{is_inexact, recorded_problem, verify, verify_end};
use crate::weave::weave;
use event::{Causality, CausalityChoice};
use lattice::{Limits, Outcome as Explored, Shortened, Violation};
use order::EventStructure;
use property::check::{Breadth, Settings};
use property::compile::NoMonitor;
use property::monitor::Verdict;
use property::run::Outcome;
use property::steps::InstanceSteps;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Events that are searched together in wide models, by default.
const WINDOW: u64 = 10_000;

/// Events in all schedules of a property: what is found then is only counted.
const SCHEDULED: usize = 1 << 24;

/// Cuts of one search by default, where no time is set.
pub(crate) const MAX_CUTS: u64 = 1_000_000_000;

/// How far the search of one model went for one instance.
#[derive(Clone)]
struct ModelResult {
    model: Causality,
    /// What cut it short.
    short: Vec<String>,
}

/// What is known of one instance so far.
#[derive(Clone, Default)]
struct InstanceState {
    violated: bool,
    said: Vec<ModelResult>,
    predicted: Option<(Causality, Predicted)>,
    /// A complete run that fails only by the rule for its end.
    unfulfilled: Option<(Causality, Predicted)>,
    /// A violation that rests on an inexact event, and that event.
    doubtful: Option<(Causality, Predicted, u64)>,
    refused: Option<String>,
    /// Why a violation that was found is not reported.
    unreported: Option<String>,
}

/// Properties with the same settings on their way through the models.
pub(crate) struct Search<'s, 'a> {
    pub(crate) of: &'s Predictor<'a>,
    pub(crate) settings: Settings,
    /// Their instances.
    pub(crate) instances: Vec<InstanceSteps>,
    /// By instance: its property.
    pub(crate) property: Vec<usize>,
    known: Vec<InstanceState>,
    /// By instance: what was counted already.
    pub(crate) figures: Vec<Option<Figures>>,
    auto: bool,
    /// For each model.
    time: Duration,
    /// Events in the schedules so far.
    scheduled: usize,
}

/// Searches for violations of some properties; those with the same settings go together.
pub(crate) fn search(
    of: &Predictor<'_>,
    properties: &[usize],
    observed: &[Outcome],
) -> Result<Vec<Predictions>, (usize, NoMonitor)> {
    let mut found: Vec<Predictions> = vec![Predictions::default(); properties.len()];
    let mut left: Vec<usize> = (0..properties.len()).collect();
    while let Some(&first) = left.first() {
        let settings = of.bound.settings(properties[first]);
        let (together, others) = left.into_iter().partition(|&at| of.bound.settings(properties[at]) == settings);
        left = others;
        let together: Vec<usize> = together;
        let numbers: Vec<usize> = together.iter().map(|&at| properties[at]).collect();
        for (at, predictions) in together.into_iter().zip(search_together(of, settings, &numbers, observed)?) {
            found[at] = predictions;
        }
    }
    Ok(found)
}

fn search_together(
    of: &Predictor<'_>,
    settings: Settings,
    properties: &[usize],
    observed: &[Outcome],
) -> Result<Vec<Predictions>, (usize, NoMonitor)> {
    let mut found: Vec<Predictions> = vec![Predictions::default(); properties.len()];
    let causality = settings.causality.unwrap_or_default();
    if causality == CausalityChoice::OBSERVED && !of.options.count && of.options.list == 0 {
        return Ok(found);
    }
    let models = causality.models();
    let time = of.options.time * properties.len() as u32;
    let auto = causality == CausalityChoice::Auto;
    let mut search = Search {
        of,
        settings,
        instances: vec![],
        property: vec![],
        known: vec![],
        figures: vec![],
        auto,
        time,
        scheduled: 0,
    };
    let mut asked = Vec::new();
    for (&property, found) in properties.iter().zip(&mut found) {
        let of_it = of.bound.instances(property, of.options.instances).map_err(|reason| (property, reason))?;
        found.omitted = of_it.omitted;
        asked.push(of_it.asked);
        for mut instance in of_it.instances {
            let outcomes = observed.iter().filter(|o| o.property == property && o.instance == instance.subjects);
            let recorded = |verdict| outcomes.clone().any(|o| o.verdict == verdict);
            let violated = recorded(Verdict::Violated);
            if of.options.at_end && !violated && !recorded(Verdict::Unfulfilled) {
                instance.automaton = instance.automaton.judging_end(true);
            }
            search.known.push(InstanceState { violated, ..InstanceState::default() });
            search.figures.push(None);
            search.instances.push(instance);
            search.property.push(property);
        }
    }
    for &model in models {
        search.model(model);
    }
    for number in 0..search.instances.len() {
        search.ask_no_end(number);
        let at = properties.iter().position(|&property| property == search.property[number]);
        found[at.expect("it was asked for")].instances.push(search.answer(number, models));
    }
    // What a user's logic does not answer is not known.
    for (found, asked) in found.iter_mut().zip(asked) {
        if let Some(error) = asked.and_then(|asked| asked.error()) {
            found.instances.iter_mut().for_each(|prediction| prediction.truncated.push(error.to_string()));
        }
    }
    Ok(found)
}

impl<'a> Search<'_, 'a> {
    fn is_open(&self, number: usize) -> bool {
        let known = &self.known[number];
        let automaton = &self.instances[number].automaton;
        // Where a run that fails at its end was found, only violations are still of interest.
        let decided = known.unfulfilled.is_some() && !automaton.can_violate(automaton.start());
        let lost = known.refused.is_some() || known.unreported.is_some();
        !known.violated && known.predicted.is_none() && !decided && !lost
    }

    /// The end of runs says nothing more of an instance.
    fn ask_no_end(&mut self, number: usize) {
        let automaton = &mut self.instances[number].automaton;
        if automaton.judges_end() {
            *automaton = automaton.judging_end(false);
        }
    }

    pub(crate) fn limits(&self) -> Limits<'a> {
        let options = &self.of.options;
        let deadline = self.auto.then(|| (Instant::now() + self.time, self.time));
        Limits {
            breadth: self.settings.breadth.and_then(|breadth| match breadth {
                Breadth::Cuts(n) => Some(n),
                Breadth::All => None,
            }),
            max_cuts: self.settings.max_cuts.or((!self.auto).then_some(MAX_CUTS)),
            bytes: options.bytes,
            history: Some(options.bytes / 4),
            deadline,
            threads: options.threads,
            stop: options.stop,
        }
    }

    pub(crate) fn window(&self) -> u64 {
        self.settings.window.unwrap_or(WINDOW)
    }

    /// Searches the runs of one model for all instances that are still open.
    fn model(&mut self, model: Causality) {
        // What the recorded run is, is known.
        if model == Causality::Observed {
            for known in &mut self.known {
                known.said.push(ModelResult { model, short: Vec::new() });
            }
            return;
        }
        let limits = self.limits();
        let groups = groups(&self.instances, |number| self.is_open(number));
        let whole = (!order::is_windowed(model)).then(|| self.static_structure(model, &groups));
        for mut group in groups {
            // Many instances have many groups; each would start with the full time.
            if let Some(short) = self.out_of_time(&limits) {
                let outcome = Explored { shortened: vec![short], ..Explored::default() };
                self.note_coverage(model, &group, &outcome, Vec::new());
            } else if self.is_counted_safe(model, &group, &limits) {
                self.note_coverage(model, &group, &Explored::default(), Vec::new());
            } else if let Some(whole) = &whole {
                let structure = whole.project(|event| group.contains(event));
                self.explore(model, &structure, &mut group, &limits);
            } else {
                self.windows(model, &mut group, &limits);
            }
        }
    }

    /// Whether the counts of the lattice show that nothing is to be found. They are asked for anyway, and take all
    /// paths as a search does; where there is a violation, a search finds it long before its end.
    fn is_counted_safe(&mut self, model: Causality, group: &Group, limits: &Limits<'_>) -> bool {
        let &[number] = group.members.as_slice() else { return false };
        if !self.of.options.count || self.auto || limits.breadth.is_some() {
            return false;
        }
        let figures = self.figures(model, number);
        let is_safe = figures.shows_no_violation;
        self.figures[number] = Some(figures);
        is_safe
    }

    /// Why nothing more is to be begun, if so.
    fn out_of_time(&self, limits: &Limits<'_>) -> Option<Shortened> {
        let stopped = limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)).then_some(Shortened::Interrupted);
        let late = limits.deadline.filter(|(deadline, _)| Instant::now() >= *deadline);
        stopped.or(late.map(|(_, time)| Shortened::Time(time)))
    }

    /// The structure of a model whose rules are all clocks, over the events of some groups.
    pub(crate) fn static_structure(&self, model: Causality, groups: &[Group]) -> EventStructure {
        let mut is_relevant = vec![false; self.of.batch.events.len()];
        for (event, _) in groups.iter().flat_map(|group| &group.events) {
            is_relevant[*event as usize] = true;
        }
        let is_relevant = |event: u64| is_relevant[event as usize];
        match model {
            Causality::Observed => order::observed(self.of.batch, is_relevant),
            Causality::SyncOnly => order::sync_only(&self.of.trace, is_relevant),
            Causality::FullHb => order::full_hb(&self.of.trace, is_relevant),
            Causality::WeakHb | Causality::Maximal => unreachable!("wide models have windows"),
        }
    }

    pub(crate) fn windowed_structure(
        model: Causality,
        window: &order::Window<'_>,
        is_relevant: impl Fn(u64) -> bool,
    ) -> EventStructure {
        match model {
            Causality::WeakHb => order::weak_hb(window, is_relevant),
            Causality::Maximal => order::maximal(window, is_relevant),
            Causality::Observed | Causality::SyncOnly | Causality::FullHb => {
                unreachable!("only wide models have windows")
            }
        }
    }

    /// Searches a structure of the whole trace.
    fn explore(&mut self, model: Causality, structure: &EventStructure, group: &mut Group, limits: &Limits<'_>) {
        let Group { events, automaton, .. } = &mut *group;
        let outcome = broaden(structure, &|event| class_of(events, event), automaton, limits);
        for violation in &outcome.violations {
            let of = self.of;
            let essential = |event: u64| group.contains(event);
            let built = witness::build(model, of.names, of.batch, 0, &violation.path, &essential);
            let built = built.map_err(|error| error.to_string());
            let built = built.map(|schedule| if violation.ended { self.completed(schedule) } else { schedule });
            let event = last_step(violation, |event| group.contains(event));
            self.found(model, group.members[violation.owner as usize], built, (violation, event));
        }
        self.note_coverage(model, group, &outcome, Vec::new());
    }

    /// Searches the windows of the trace.
    fn windows(&mut self, model: Causality, group: &mut Group, limits: &Limits<'_>) {
        let of = self.of;
        let total = of.batch.events.len() as u64;
        let mut windows = of.trace.windows(self.window(), of.initial);
        let Group { members, events, automaton } = &mut *group;
        let class = |event: u64| class_of(events, event);
        let mut gone_on = 0;
        let mut outcome = Explored::default();
        let mut cut_short = 0;
        while let Some(window) = windows.next_window() {
            let range = window.range();
            // What is left would only be looked at.
            if let Some(short) = self.out_of_time(limits) {
                cut_short += (total - range.start).div_ceil(self.window());
                outcome.shortened.push(short);
                break;
            }
            while let Some(&(event, class)) = events.get(gone_on)
                && event < range.start
            {
                automaton.go_on(class);
                gone_on += 1;
            }
            if automaton.is_idle() {
                break;
            }
            // Steps of one thread always come in its order: the recorded run has shown all there is.
            let steps = events[gone_on..].iter().take_while(|(event, _)| *event < range.end);
            let mut threads = steps.map(|(event, _)| of.batch.events[*event as usize].thread());
            let first = threads.next();
            if threads.all(|thread| Some(thread) == first) {
                continue;
            }
            let is_step = |event: u64| class(event) != SILENCE;
            let structure = Self::windowed_structure(model, &window, is_step);
            automaton.is_last = range.end == total;
            let left = (total - range.start).div_ceil(self.window()) as u32;
            let explored = broaden(&structure, &class, automaton, &slice(limits, left));
            for violation in &explored.violations {
                let woven = Self::woven(model, &window, &structure, violation);
                let event = last_step(violation, |event| class(event) != SILENCE);
                self.found(model, members[violation.owner as usize], woven, (violation, event));
                automaton.found(violation);
            }
            outcome.without_path.extend(explored.without_path);
            cut_short += u64::from(!explored.shortened.is_empty());
            for short in explored.shortened {
                // Of the time, it is said once how much there was in all.
                let short = match (short, limits.deadline) {
                    (Shortened::Time(_), Some((_, allowed))) => Shortened::Time(allowed),
                    (short, _) => short,
                };
                if !outcome.shortened.contains(&short) {
                    outcome.shortened.push(short);
                }
            }
        }
        outcome.shortened.sort_unstable();
        outcome.shortened.dedup();
        let mut short = Vec::new();
        if total > self.window() {
            short.push(format!("only within windows of {} events", self.window()));
            if cut_short > 0 {
                short.push(format!("{cut_short} of {} windows cut short", total.div_ceil(self.window())));
            }
        }
        self.note_coverage(model, group, &outcome, short);
    }

    /// A schedule, and after it all other events as recorded. They keep the recorded order among each other, and what
    /// they need is in the schedule or among them: without rules beyond clocks that is another run.
    fn completed(&self, mut schedule: Vec<u64>) -> Vec<u64> {
        let mut taken = vec![false; self.of.batch.events.len()];
        schedule.iter().for_each(|&event| taken[event as usize] = true);
        schedule.extend((0..).zip(taken).filter(|(_, taken)| !taken).map(|(event, _)| event));
        schedule
    }

    /// The schedule of all events up to a violation in a window, or of all events.
    fn woven(
        model: Causality,
        window: &order::Window<'_>,
        structure: &EventStructure,
        violation: &Violation,
    ) -> Result<Vec<u64>, String> {
        let events = structure.chains.iter().flat_map(|chain| &chain.events).map(|event| event.index);
        let mut events: Vec<u64> = events.collect();
        events.sort_unstable();
        let all = Self::windowed_structure(model, window, |_| true);
        let woven = weave(&all, &violation.path, |event| events.binary_search(&event).is_ok(), violation.ended);
        let woven = woven.ok_or_else(|| "its events cannot be put in an order".to_owned())?;
        Ok((0..window.range().start).chain(woven).collect())
    }

    /// Takes a violation that was found, or a run that fails at its end, if its schedule stands up.
    fn found(
        &mut self,
        model: Causality,
        number: usize,
        built: Result<Vec<u64>, String>,
        (violation, event): (&Violation, u64),
    ) {
        let &Violation { terminal, ended, .. } = violation;
        if self.scheduled > SCHEDULED {
            let why = "a violation was found, but its schedule is too long beside the others";
            self.known[number].unreported = Some(why.to_owned());
            return;
        }
        if ended {
            self.ask_no_end(number);
            // Of many instances that the recorded run leaves unfulfilled, not all are listed.
            if built.as_ref().is_ok_and(|schedule| schedule.is_sorted()) {
                return;
            }
        }
        let instance = &self.instances[number];
        let verified = built.and_then(|schedule| {
            let (property, subjects) = (self.property[number], &instance.subjects);
            let is_listed = if ended {
                verify_end(self.of, model, property, subjects, &schedule)?
            } else {
                verify(self.of, model, property, subjects, &schedule, terminal)?;
                true
            };
            Ok((schedule, is_listed))
        });
        match verified {
            Ok((_, false)) => {
                let why = "a run that fails at its end was found, and too many other instances that fail on it";
                self.known[number].unreported = Some(why.to_owned());
            }
            Ok((schedule, true)) => {
                self.scheduled += schedule.len();
                let values = instance.values(&schedule);
                let inexact = schedule.iter().copied().find(|&event| is_inexact(self.of.batch, event));
                let predicted = Predicted { schedule, event, terminal, values };
                match inexact {
                    // A wider model may still show it without that event.
                    Some(event) => self.known[number].doubtful = Some((model, predicted, event)),
                    None if ended => self.known[number].unfulfilled = Some((model, predicted)),
                    None => self.known[number].predicted = Some((model, predicted)),
                }
            }
            Err(why) => match recorded_problem(self.of, model) {
                // Nothing can be shown from a run that cannot have happened as recorded.
                Some(problem) => self.known[number].unreported = Some(format!("the trace has a problem: {problem}")),
                None => self.known[number].refused = Some(format!("{}: {why}", model.text())),
            },
        }
    }

    /// Notes how far a search went.
    fn note_coverage(&mut self, model: Causality, group: &Group, outcome: &Explored, windowed: Vec<String>) {
        let mut short: Vec<String> = outcome.shortened.iter().map(ToString::to_string).collect();
        short.extend(windowed);
        if group.automaton.gave_up {
            short.push("a monitor hit its bounds".to_owned());
        }
        short.dedup();
        for (part, &member) in group.members.iter().enumerate() {
            let mut short = short.clone();
            if outcome.without_path.contains(&(part as u32)) {
                short.push("a violation was found, but no schedule that shows it".to_owned());
            }
            self.known[member].said.push(ModelResult { model, short });
        }
    }

    /// What is answered for an instance.
    fn answer(&self, number: usize, models: &[Causality]) -> Prediction {
        let InstanceState { said, predicted, unfulfilled, doubtful, refused, violated, unreported } =
            &self.known[number];
        let unfulfilled = unfulfilled.as_ref().filter(|_| predicted.is_none());
        let shown = predicted.as_ref().or(unfulfilled);
        let doubtful = doubtful.as_ref().filter(|_| shown.is_none());
        // The model of what was found; else the strongest that was covered completely; else the first.
        let complete = said.iter().rev().find(|said| said.short.is_empty()).map(|said| said.model);
        let model = shown.map(|(model, _)| *model).or(doubtful.map(|(model, ..)| *model)).or(complete);
        let model = model.unwrap_or(if *violated { models[models.len() - 1] } else { models[0] });
        let tried = said
            .iter()
            .filter(|said| said.model != model)
            .map(|said| Tried { causality: said.model, cut_short: said.short.clone() });
        let mut truncated: Vec<String> =
            said.iter().filter(|said| said.model == model).flat_map(|said| said.short.clone()).collect();
        truncated.extend(unreported.clone());
        truncated.extend(refused.as_ref().map(|_| "a witness was refused".to_owned()));
        let mut prediction = Prediction {
            property: self.property[number],
            instance: self.instances[number].subjects.clone(),
            causality: model,
            tried: tried.collect(),
            predicted: predicted.as_ref().map(|(_, predicted)| predicted.clone()),
            unfulfilled: unfulfilled.map(|(_, unfulfilled)| unfulfilled.clone()),
            doubtful: doubtful.map(|(_, predicted, event)| (predicted.clone(), *event)),
            truncated,
            counts: None,
            bad_runs: Vec::new(),
            refused: refused.clone(),
        };
        if self.of.options.count || self.of.options.list > 0 {
            self.count(model, number, &mut prediction);
        }
        prediction
    }
}

/// The event that violates; or, where only the end shows it, the last step before.
fn last_step(violation: &Violation, is_step: impl Fn(u64) -> bool) -> u64 {
    let last = violation.path.iter().rev().find(|&&event| is_step(event)).or(violation.path.last());
    *last.expect("a violation at step 0 is one of the recorded run")
}

/// The class of an event; silence, if it is none of a group.
pub(crate) fn class_of(events: &[(u64, u32)], event: u64) -> u32 {
    events.binary_search_by_key(&event, |&(event, _)| event).map_or(SILENCE, |at| events[at].1)
}

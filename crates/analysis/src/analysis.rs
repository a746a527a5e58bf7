//! One trace through everything: validation, detectors, properties.

use crate::control::Control;
use crate::ending::Ending;
use crate::error::Error;
use crate::message::{Message, Messages};
use crate::object_names::ObjectNames;
use crate::passes::Passes;
use crate::plan::Plan;
use crate::properties::{Judged, Properties};
use crate::retained::{Retained, Wanted};
use event::{Batch, Space};
use report::{AnalysisStats, Finding, Problem, Report, Stats, Suppressions, TraceFigures};
use std::collections::BTreeMap;
use std::time::Instant;
use trace::validate::Validator;
use trace::{Loss, Source};

/// An analysis of one trace, fed with batches of events at any pace.
pub struct Analysis {
    started: Instant,
    events: u64,
    validator: Validator,
    problems: Vec<Problem>,
    retained: Retained,
    passes: Option<Passes>,
    properties: Properties,
    suppressions: Option<Suppressions>,
    /// Handlers of specifications hear of detectors only if these come from `check` lines.
    handlers_hear_detectors: bool,
    messages: Messages,
    /// The property that asked for the end.
    stopped: Option<String>,
}

/// Why the reading of a trace ended, as far as its source does not know.
#[derive(Clone, Copy, Default, Debug)]
pub struct End<'a> {
    /// The error that ended it.
    pub error: Option<&'a trace::Error>,
    /// The caller stopped it.
    pub interrupted: bool,
}

/// All that an analysis found.
pub struct Outcome {
    /// Findings, properties, figures. Peak memory is left to the caller.
    pub report: Report,
    /// Commands that handlers of a specification want carried out.
    pub commands: Vec<String>,
    /// The exit code that a handler wants for findings.
    pub exit: Option<u8>,
    /// The caller stopped the reading, or the analysis.
    pub interrupted: bool,
}

impl Analysis {
    /// Starts an analysis. It fails if a property cannot be monitored.
    pub fn new(plan: Plan) -> Result<Analysis, Error> {
        let mut messages = Messages::default();
        let properties = Properties::new(&plan, &mut messages)?;
        let mut passes = Passes::new(&plan, &properties);
        let wanted = match passes.need_trace(plan.rereadable) {
            _ if plan.observed_only => Wanted::No,
            _ if properties.search() => Wanted::Yes,
            Wanted::Yes if plan.rereadable && !plan.live => Wanted::Later,
            needed => needed,
        };
        if wanted != Wanted::No {
            passes.wait_for_the_end();
        }
        Ok(Analysis {
            started: Instant::now(),
            events: 0,
            validator: Validator::new(),
            problems: Vec::new(),
            retained: Retained::new(wanted, plan.retained_at_first),
            passes: Some(passes),
            properties,
            handlers_hear_detectors: plan.detectors.is_none(),
            suppressions: plan.suppressions,
            messages,
            stopped: None,
        })
    }

    /// Looks at the next events, which `source` has just given.
    pub fn feed(&mut self, source: &dyn Source, batch: &Batch) {
        let names = source.names();
        self.events += batch.events.len() as u64;
        for problem in self.validator.check(names, batch) {
            let place = source.place((problem.event - batch.first) as usize);
            self.problems.push(Problem {
                event: Some(problem.event),
                place: place.map(|place| place.to_string()),
                message: problem.message.clone(),
            });
        }
        if let Some(passes) = &mut self.passes {
            // What is needed anyway is not read a second time.
            if self.retained.may_be_postponed() && passes.will_search() {
                self.retained.keep_all();
            }
            if let Some(given_up) = self.retained.add(batch)
                && !self.retained.is_postponed()
            {
                passes.catch_up(names, &given_up);
            }
            passes.feed(names, batch);
        }
        if !self.properties.is_empty() {
            self.properties.batch((names, source.meta()), batch);
            self.stopped = self.properties.stop();
        }
    }

    /// The property whose handler wants the analysis to stop; then feeding more is of no use.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.as_deref()
    }

    /// The findings that are known by now and were not given out before. Only a [live](Plan::live) plan has any.
    ///
    /// They are observed and have no witness yet. [`finish`](Analysis::finish) reports them again, under the same
    /// fingerprints, with all that is known then.
    pub fn drain(&mut self, source: &dyn Source) -> Vec<Finding> {
        let problems = self.validator.count();
        let passes = self.passes.as_mut();
        passes.map_or(Vec::new(), |passes| passes.drain(source.names(), source.meta(), &self.retained, problems))
    }

    /// What there is to say beside the findings, up to now. Worth a look after [`finish`](Analysis::finish), whether it
    /// succeeded or not.
    pub fn take_messages(&mut self) -> Vec<Message> {
        self.messages.take()
    }

    /// Feeds a source to its end, and finishes.
    pub fn run(&mut self, source: &mut dyn Source, control: &Control<'_>) -> Result<Outcome, Error> {
        let mut batch = Batch::default();
        let mut error = None;
        while !control.is_cancelled() && self.stopped.is_none() {
            match source.next_batch(&mut batch) {
                Ok(true) => self.feed(source, &batch),
                Ok(false) => break,
                Err(found) => {
                    error = Some(found);
                    break;
                }
            }
            control.progress.read(source.consumed(), self.events);
        }
        let interrupted = control.is_cancelled();
        self.finish(source, End { error: error.as_ref(), interrupted }, control)
    }

    /// The trace has ended: searches other runs, and reports everything.
    pub fn finish(&mut self, source: &dyn Source, end: End<'_>, control: &Control<'_>) -> Result<Outcome, Error> {
        let losses = losses(source, end, self.events);
        if let Some(loss) = losses.first().filter(|_| self.events == 0) {
            return Err(Error::Unreadable(end.error.map_or(loss.clone(), ToString::to_string)));
        }
        let names = source.names();
        let count = |space| names.space(space).len() as u64;
        let figures = TraceFigures {
            events: self.events,
            threads: count(Space::Thread),
            variables: count(Space::Var),
            locks: count(Space::Lock),
            complete: losses.is_empty(),
            problems_omitted: self.validator.count() - self.problems.len() as u64,
            problems: std::mem::take(&mut self.problems),
            losses,
        };
        let stopped = self.stopped.as_ref().map(|_| "stopped by a handler");
        let unread = if end.interrupted { Some("interrupted") } else { stopped };
        let reading = self.started.elapsed().as_secs_f64();
        let searching = Instant::now();
        let retained = std::mem::take(&mut self.retained);
        let ending = Ending {
            at_end: figures.complete && stopped.is_none(),
            gapless: source.losses().iter().all(Loss::is_the_end) && end.error.is_none() && unread.is_none(),
            doubt: source.losses().iter().find(|loss| loss.casts_doubt()).map(ToString::to_string),
            problems: self.validator.count(),
            unread,
            retained: &retained,
            events: self.events,
        };
        let known = (names, source.meta());
        let mut judged = self.properties.finish(known, &ending, control, &mut self.messages)?;
        let took = |seconds| AnalysisStats { seconds, ..AnalysisStats::default() };
        let mut per_analysis: BTreeMap<_, _> = [("validate".to_owned(), took(reading))].into();
        if !self.properties.is_empty() {
            per_analysis.insert("properties".to_owned(), took(searching.elapsed().as_secs_f64()));
        }
        let mut report = Report::new(env!("CARGO_PKG_VERSION"), figures);
        let mut detected = Vec::new();
        if let Some(passes) = self.passes.take() {
            let mut found = passes.finish(&self.properties, known, &ending, control);
            self.properties.suppress(&mut found.findings);
            if let Some(rules) = &mut self.suppressions {
                rules.apply(&mut found.findings);
            }
            let mut uncovered: Vec<Finding> = found.findings.iter_mut().flat_map(Finding::uncover).collect();
            self.properties.suppress(&mut uncovered);
            if let Some(rules) = &mut self.suppressions {
                rules.apply(&mut uncovered);
            }
            found.findings.extend(uncovered);
            if self.handlers_hear_detectors {
                self.properties.handle(&found.findings, &found.stats, &mut judged);
            }
            per_analysis.extend(found.stats);
            let unexplained = |problem: &Problem| problem.event.is_none_or(|event| !found.explained.contains(&event));
            report.trace.problems.retain(unexplained);
            detected = found.findings;
        }
        let Judged { results, findings: mut violations, exit, commands, notes, .. } = judged;
        notes.into_iter().for_each(|note| self.messages.note(note));
        if let Some(rules) = &mut self.suppressions {
            rules.apply(&mut violations);
            report.suppressions = Some(rules.figures());
        }
        report.properties = results;
        let objects = ObjectNames::new(known.0, known.1);
        let found = violations.into_iter().chain(detected).map(|mut finding| {
            finding.name_objects(&mut |name| objects.called(name));
            finding
        });
        report.findings.add(found);
        report.stats = Stats { seconds: self.started.elapsed().as_secs_f64(), per_analysis, ..Stats::default() };
        Ok(Outcome { report, commands, exit, interrupted: end.interrupted || control.is_cancelled() })
    }
}

/// What is missing from a trace that was read up to so many events, in words.
pub fn losses(source: &dyn Source, end: End<'_>, events: u64) -> Vec<String> {
    let mut losses: Vec<String> = source.losses().iter().map(ToString::to_string).collect();
    losses.extend(end.error.map(|error| format!("{error}; nothing after it was read")));
    losses.extend(end.interrupted.then(|| format!("interrupted after {events} events")));
    losses
}

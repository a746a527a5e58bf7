//! The detectors of a plan on their way along the trace, up to their findings.
//!
//! If the whole trace is retained, only the prefilter looks at events as they come: most traces have little of what the
//! detectors look for. They get the trace at its end, and skip what the prefilter ruled out. Live detectors of a live
//! plan do not wait.

use crate::again::Again;
use crate::budget::Budget;
use crate::claim::{Basis, Claim};
use crate::context;
use crate::control::Control;
use crate::detectors::whole::{Gate, Whole};
use crate::detectors::{DetectorId, Found, Pass, SoFar, TraceEnd};
use crate::ending::Ending;
use crate::origins::Origins;
use crate::plan::Plan;
use crate::properties::Properties;
use crate::recorded::{Known, Recorded};
use crate::resolve::{self, apart, behind, missing, runtimes};
use crate::retained::{Retained, Wanted};
use crate::tasks::{Restriction, Tasks};
use detect::prefilter::{Filtered, Prefilter};
use event::{Batch, Meta, Names};
use property::bind::InitialValues;
use report::{AnalysisStats, Finding};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use witness::RecordedRun;

struct Running {
    detector: DetectorId,
    pass: Box<dyn Pass>,
    /// It sees the events as they come.
    at_once: bool,
    spent: Duration,
}

/// All detectors that run.
pub(crate) struct Passes {
    tasks: Tasks,
    running: Vec<Running>,
    /// Looks at the events as they come, for the detectors that wait for the end.
    prefilter: Option<Prefilter>,
    /// There is a drop barrier, or an event that the recorder was not sure of. Known only if the trace is not retained.
    drop_barriers: bool,
    inexact: bool,
    search_time: Option<Duration>,
    recording: Option<Duration>,
}

/// What came of the detectors.
pub(crate) struct Detected {
    pub(crate) findings: Vec<Finding>,
    pub(crate) stats: BTreeMap<String, AnalysisStats>,
    /// Events whose problems the findings explain.
    pub(crate) explained: BTreeSet<u64>,
}

impl Passes {
    pub(crate) fn new(plan: &Plan, properties: &Properties) -> Passes {
        let tasks = Tasks::new(plan, properties);
        let running = tasks.detectors(plan.rereadable && !plan.live).map(|(detector, options)| {
            let at_once = plan.live && detector.is_live();
            Running { detector, pass: detector.start(&options), at_once, spent: Duration::ZERO }
        });
        let running = running.collect();
        let (search_time, recording) = (plan.search_time, plan.recording);
        let (drop_barriers, inexact) = (false, false);
        Passes { tasks, running, prefilter: None, drop_barriers, inexact, search_time, recording }
    }

    /// How much of the trace must be retained for them. `rereadable`: what witnesses need can be read again.
    pub(crate) fn need_trace(&self, rereadable: bool) -> Wanted {
        self.running.iter().map(|running| running.detector.needs_trace(rereadable)).max().unwrap_or(Wanted::No)
    }

    /// The detectors get the trace as a whole in the end.
    pub(crate) fn wait_for_the_end(&mut self) {
        self.prefilter = Some(Prefilter::new());
    }

    /// The detectors will not get the trace as a whole after all; here is what was retained of it.
    pub(crate) fn catch_up(&mut self, names: &Names, retained: &Batch) {
        if self.prefilter.take().is_some() {
            self.note(retained);
            let waiting = self.running.iter_mut().filter(|running| !running.at_once);
            waiting.for_each(|running| running.feed(names, retained));
        }
    }

    /// Looks at the next events.
    pub(crate) fn feed(&mut self, names: &Names, batch: &Batch) {
        if let Some(prefilter) = &mut self.prefilter {
            prefilter.batch(names, batch);
        }
        let waits = self.prefilter.is_some();
        if !waits {
            self.note(batch);
        }
        let running = self.running.iter_mut().filter(|running| running.at_once || !waits);
        running.for_each(|running| running.feed(names, batch));
    }

    /// Notes what witnesses must know of the whole run.
    fn note(&mut self, batch: &Batch) {
        self.drop_barriers |= batch.events.iter().any(|event| event.op().is_drop_barrier());
        self.inexact |= batch.extras.iter().any(|extra| extra.inexact);
    }

    /// What the recorded run shows by now and was not given out before.
    pub(crate) fn drain(&mut self, names: &Names, meta: &Meta, retained: &Retained, problems: u64) -> Vec<Finding> {
        let mut claims: Vec<Claim> = Vec::new();
        for running in self.running.iter_mut().filter(|running| running.at_once) {
            claims.extend(running.pass.drain(&SoFar { names, detector: running.detector, problems }));
        }
        runtimes::doubt(&mut claims, names, meta);
        claims.retain(Claim::is_observed);
        let parts = claims.iter().flat_map(|claim| &claim.parts);
        let contexts = parts.filter_map(|part| {
            let mut side = context::without_locks(names, meta, retained.trace()?, part.event)?;
            side.locks_held = part.locks.iter().map(|&lock| names.lock(lock).to_owned()).collect();
            Some((part.event, side))
        });
        let contexts = contexts.collect();
        let origins = Origins::new(names, meta, claims.iter().flat_map(|claim| claim.about.ids()));
        claims.iter().map(|claim| resolve::observed(claim, names, &contexts, &origins)).collect()
    }

    /// The trace has ended: the findings of all detectors.
    pub(crate) fn finish(
        self,
        properties: &Properties,
        (names, meta): (&Names, &Meta),
        ending: &Ending<'_>,
        control: &Control<'_>,
    ) -> Detected {
        let restrictions = self.tasks.restrictions(properties);
        let trace = ending.retained.trace().filter(|_| ending.unread.is_none());
        let missing = ending.retained.missing();
        let filtered = self.prefilter.map(|prefilter| prefilter.finish(ending.problems == 0));
        let to_feed = filtered.is_some().then(|| ending.retained.trace()).flatten();
        let filtered = filtered.unwrap_or_else(Filtered::all);
        // All names of the trace are looked at, and most traces are not searched: this happens when it is needed first.
        let first_values = OnceCell::new();
        let reread = OnceCell::new();
        let make = || {
            let trace = trace.or_else(|| reread.get().and_then(Option::as_ref));
            trace.map(|trace| initial_values(properties, names, trace)).unwrap_or_default()
        };
        let initial = |var| {
            let by_spec = first_values.get_or_init(make).iter();
            by_spec.map(|values| values.get(var)).find(|value| value.is_known()).unwrap_or_default()
        };
        let events = ending.retained.trace().map_or(0, |trace| trace.events.len() as u64);
        let again = control.reread.map(|reread| Again { reread, cancel: control.cancel });
        let again = again.filter(|_| ending.retained.trace().is_none());
        let run = RecordedRun { has_no_problem: ending.problems == 0, has_no_drop_barrier: !self.drop_barriers };
        let recorded = Recorded {
            names,
            trace,
            missing: ending.unread.or(missing.as_deref()).unwrap_or("the trace was not kept"),
            again: again.filter(|_| ending.unread.is_none()),
            known: Known { run, is_exact: !self.inexact },
            reread: &reread,
            last_wanted: OnceCell::new(),
            initial: &initial,
            filtered: &filtered,
            complete: ending.at_end,
            gapless: ending.gapless,
            problems: ending.problems,
            window: usize::try_from(self.tasks.window).unwrap_or(usize::MAX),
            budget: Budget::new(self.search_time, self.recording, events),
            cancel: control.cancel,
            preserving: RefCell::new(None),
            explained: Cell::new(0),
        };
        let (gate, total) = (Gate::new(control.cancel), events);
        let unrestricted = Restriction::default();
        let mut claims = Vec::new();
        let mut stats = BTreeMap::new();
        let mut explained = BTreeSet::new();
        let mut decided = Vec::new();
        let detectors: Vec<DetectorId> = self.running.iter().map(|running| running.detector).collect();
        for Running { detector, mut pass, at_once, spent } in self.running {
            let started = Instant::now();
            // What looks at the recorded run only is quick, and says what there is to say.
            if control.is_cancelled() && !detector.is_live() && to_feed.is_some() {
                let truncated = Some("interrupted before it looked at the trace".to_owned());
                stats.insert(detector.name().to_owned(), AnalysisStats { truncated, ..AnalysisStats::default() });
                continue;
            }
            let _phase = control.phase(&format!("{}: looking through the trace", detector.name()));
            let mut seen = None;
            if let Some(trace) = to_feed.filter(|_| !at_once) {
                let whole = Whole::new(trace, &gate);
                pass.feed_whole(names, &whole, &filtered);
                seen = whole.stopped();
            }
            // What it finds in the beginning of a run need not be true of the whole.
            if let Some(seen) = seen.filter(|_| !detector.is_live()) {
                let truncated = Some(interrupted(seen, total));
                stats.insert(detector.name().to_owned(), AnalysisStats { truncated, ..AnalysisStats::default() });
                continue;
            }
            let restriction = restrictions.get(&detector).unwrap_or(&unrestricted);
            let Found { claims: found, stats: mut figures, explained: events, decided: windows } =
                pass.finish(&TraceEnd { recorded: &recorded, detector, restriction });
            if let Some(seen) = seen {
                let more = figures.truncated.map_or(String::new(), |more| format!("; {more}"));
                figures.truncated = Some(interrupted(seen, total) + &more);
            }
            figures.seconds = (spent + started.elapsed()).as_secs_f64();
            claims.extend(found);
            explained.extend(events);
            decided.extend(windows);
            stats.insert(detector.name().to_owned(), figures);
        }
        detectors.into_iter().for_each(|detector| detector.yield_to_others(&mut claims));
        apart::mark(&mut claims, &recorded, &decided);
        runtimes::doubt(&mut claims, names, meta);
        missing::doubt(&mut claims, ending.doubt.as_deref());
        behind::check(&mut claims, &recorded, &mut stats);
        let known = context::known_locks(&claims);
        let contexts = match ending.retained.trace() {
            Some(trace) => context::from_trace(names, meta, trace, known.into_keys().collect()),
            None => context::from_reread(again, &known),
        };
        let reordered = claims.iter().filter(|claim| matches!(claim.basis, Basis::ObservedReordered(_)));
        if let Some(last) = reordered.flat_map(|claim| &claim.parts).map(|part| part.event).max() {
            let _ = recorded.last_wanted.set(last);
        }
        let _phase = control.phase("checking what was found");
        let with_behind = claims.iter().flat_map(Claim::with_behind);
        let origins = Origins::new(names, meta, with_behind.flat_map(|claim| claim.about.ids()));
        let findings = resolve::resolve(claims, &recorded, &contexts, &origins, &mut stats);
        Detected { findings, stats, explained }
    }
}

impl Running {
    fn feed(&mut self, names: &Names, batch: &Batch) {
        let started = Instant::now();
        self.pass.feed(names, batch);
        self.spent += started.elapsed();
    }
}

/// Why a detector did not look at the whole trace.
fn interrupted(seen: u64, events: u64) -> String {
    format!("interrupted after {seen} of {events} events")
}

/// What variables hold at first, by each specification and by none at all; the first that knows a value counts.
fn initial_values(properties: &Properties, names: &Names, trace: &Batch) -> Vec<InitialValues> {
    let by_spec = properties.runs().map(|run| run.initial_values(names, trace));
    by_spec.chain([InitialValues::of_trace(properties.init(), names, trace)]).collect()
}

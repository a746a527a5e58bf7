//! The detectors of a plan on their way along the trace, up to their findings.
//!
//! If the whole trace is retained or can be read again, only the prefilter looks at events as they come: most have
//! little of what the detectors look for. They get the trace at its end, and skip what the prefilter ruled out. Live
//! detectors of a live plan do not wait. Of a trace that is read again, only what is left to search is retained then.

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
use crate::retained::{self, Retained, Wanted};
use crate::tasks::{Restriction, Tasks};
use detect::prefilter::{Filtered, Handovers, Narrow, Narrowed, Prefilter, each_part};
use event::{Batch, Meta, Names};
use property::bind::InitialValues;
use report::{AnalysisStats, Finding};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
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

    /// Whether other runs will be searched for something else than races.
    pub(crate) fn will_search(&self) -> bool {
        let searches = || self.running.iter().any(|running| running.detector.searches_more());
        self.prefilter.as_ref().is_some_and(Prefilter::is_searched) && searches()
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
        mut self,
        properties: &Properties,
        (names, meta): (&Names, &Meta),
        ending: &Ending<'_>,
        control: &Control<'_>,
    ) -> Detected {
        let restrictions = self.tasks.restrictions(properties);
        let again = control.reread.map(|reread| Again { reread, cancel: control.cancel });
        let waited = self.prefilter.is_some();
        let filtered = self.prefilter.take().map(|prefilter| prefilter.finish(ending.problems == 0));
        let filtered = filtered.unwrap_or_else(Filtered::all);
        let gate = Gate::new(control.cancel);
        let late = self.read_again(&filtered, ending, again, &gate, control);
        let kept = ending.retained.trace().or(late.trace.as_ref());
        let trace = kept.filter(|_| ending.unread.is_none());
        let missing = ending.retained.missing().or(late.missing);
        let to_feed = kept.filter(|_| waited && !late.fed);
        let narrowed = match (late.narrowed, to_feed.or(trace)) {
            (Some(narrowed), _) => narrowed,
            (None, Some(trace)) if waited => self.narrowed(&filtered, names, trace, control),
            _ => Narrowed::all(&filtered),
        };
        let stopped = match to_feed {
            Some(trace) if narrowed.is_looked_at() => self.feed_whole(names, trace, &narrowed.observed, &gate),
            Some(_) => None,
            None => late.stopped,
        };
        let Narrowed { searched, .. } = narrowed;
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
        let events = if waited { ending.events } else { 0 };
        let again = again.filter(|_| kept.is_none());
        let run = RecordedRun { has_no_problem: ending.problems == 0, has_no_drop_barrier: !self.drop_barriers };
        let recorded = Recorded {
            names,
            trace,
            missing: ending.unread.or(missing.as_deref()).unwrap_or("the trace was not kept"),
            events: ending.events,
            is_known: waited && ending.unread.is_none() && (trace.is_some() || late.fed && late.stopped.is_none()),
            again: again.filter(|_| ending.unread.is_none()),
            known: Known { run, is_exact: !self.inexact },
            reread: &reread,
            last_wanted: OnceCell::new(),
            initial: &initial,
            filtered: &filtered,
            searched: &searched,
            complete: ending.at_end,
            gapless: ending.gapless,
            problems: ending.problems,
            window: usize::try_from(self.tasks.window).unwrap_or(usize::MAX),
            budget: Budget::new(self.search_time, self.recording, events),
            cancel: control.cancel,
            preserving: RefCell::new(None),
            explained: Cell::new(0),
        };
        let total = events;
        let unrestricted = Restriction::default();
        let mut claims = Vec::new();
        let mut stats = BTreeMap::new();
        let mut explained = BTreeSet::new();
        let mut decided = Vec::new();
        let detectors: Vec<DetectorId> = self.running.iter().map(|running| running.detector).collect();
        for Running { detector, pass, at_once, spent } in self.running {
            let started = Instant::now();
            // What looks at the recorded run only is quick, and says what there is to say.
            let has_seen_all = late.fed && late.stopped.is_none();
            if control.is_cancelled() && !detector.is_live() && waited && !has_seen_all {
                let truncated = Some("interrupted before it looked at the trace".to_owned());
                stats.insert(detector.name().to_owned(), AnalysisStats { truncated, ..AnalysisStats::default() });
                continue;
            }
            let _phase = control.phase(&format!("{}: looking through the trace", detector.name()));
            let seen = stopped.filter(|_| !at_once);
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
        let contexts = match kept {
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

/// What came of reading a trace again that was not retained.
#[derive(Default)]
struct Late {
    /// The trace, if something in it is to be searched for.
    trace: Option<Batch>,
    missing: Option<String>,
    /// The detectors have seen it.
    fed: bool,
    /// So many events of it only, because of an interrupt.
    stopped: Option<u64>,
    /// What is left for those that look for races.
    narrowed: Option<Narrowed>,
}

impl Passes {
    /// Reads a trace again that was not retained: as a whole if it is to be searched, else past the detectors.
    fn read_again(
        &mut self,
        filtered: &Filtered,
        ending: &Ending<'_>,
        again: Option<Again<'_>>,
        gate: &Gate<'_>,
        control: &Control<'_>,
    ) -> Late {
        let mut late = Late::default();
        if !ending.retained.is_postponed() {
            return late;
        }
        let Some(again) = again else {
            late.missing = Some("the trace could not be read again".to_owned());
            return late;
        };
        let _phase = control.phase("reading the trace again");
        let retain = |late: &mut Late| {
            let fits = ending.events <= retained::MOST as u64;
            let unread = || "the trace could not be read again".to_owned();
            late.missing = Some(if fits { unread() } else { retained::too_long() });
            let read = || again.beginning(ending.events, retained::MOST);
            late.trace = Some(()).filter(|()| fits && ending.unread.is_none()).and_then(|()| read());
        };
        let running: Vec<DetectorId> = self.running.iter().map(|running| running.detector).collect();
        let by_detector = |test: fn(DetectorId) -> bool| running.iter().any(|&detector| test(detector));
        let searches_races = by_detector(DetectorId::searches_races);
        if filtered.is_searched() && by_detector(DetectorId::searches_more) {
            retain(&mut late);
            if late.trace.is_some() {
                return late;
            }
        }
        late.fed = true;
        if !filtered.any() {
            late.narrowed = Some(Narrowed::all(filtered));
            return late;
        }
        let any_races = filtered.any_races();
        let mut narrow = any_races.then(|| Narrow::new(filtered, by_detector(DetectorId::warns_of_races)));
        let wanted = |detector: DetectorId| !(any_races && detector.observes_races());
        late.stopped = self.read_past(again, ending.events, gate, (filtered, &wanted), |names, batch| {
            if let Some(narrow) = &mut narrow {
                narrow.batch(names, batch);
            }
        });
        let Some(mut narrowed) = narrow.map(Narrow::finish) else {
            late.narrowed = Some(Narrowed::all(filtered));
            return late;
        };
        let ordered = narrowed.searched.clone();
        let searches = searches_races && ordered.any_races();
        let warned = narrowed.observed.candidates().is_some_and(|candidates| candidates.count() > 0);
        if late.stopped.is_none() && (narrowed.observed.any_unordered() || warned || searches) {
            let mut handovers = Handovers::new(&ordered);
            late.stopped = self.read_past(
                again,
                ending.events,
                gate,
                (&narrowed.observed, &DetectorId::observes_races),
                |names, batch| {
                    if searches {
                        handovers.batch(names, batch);
                    }
                },
            );
            if searches && late.stopped.is_none() {
                narrowed.searched = handovers.finish();
                if narrowed.searched.any_races() {
                    retain(&mut late);
                }
            }
        }
        if !searches_races {
            narrowed.searched = filtered.clone();
        }
        late.narrowed = Some(narrowed).filter(|_| late.stopped.is_none());
        late
    }

    /// Gives a trace in memory to the detectors, a part of it to each of them, then the next part. Where it stopped, if
    /// that was early.
    fn feed_whole(&mut self, names: &Names, trace: &Batch, filtered: &Filtered, gate: &Gate<'_>) -> Option<u64> {
        let mut seen = 0;
        each_part(trace, |part| {
            let mut all = true;
            for running in self.running.iter_mut().filter(|running| !running.at_once) {
                all &= running.feed_part(names, part, gate, filtered);
            }
            seen += if all { part.events.len() as u64 } else { 0 };
            let goes_on = all && (seen == trace.events.len() as u64 || gate.is_open());
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        Some(seen).filter(|&seen| seen < trace.events.len() as u64)
    }

    /// Reads a trace again, past those detectors that are wanted, and past `also`. Where it stopped, if that was early.
    fn read_past(
        &mut self,
        again: Again<'_>,
        events: u64,
        gate: &Gate<'_>,
        (filtered, wanted): (&Filtered, &dyn Fn(DetectorId) -> bool),
        mut also: impl FnMut(&Names, &Batch),
    ) -> Option<u64> {
        let mut seen = 0;
        (again.reread)(0, &mut |source, batch| {
            self.note(batch);
            let mut all = true;
            for running in self.running.iter_mut().filter(|running| !running.at_once && wanted(running.detector)) {
                all &= running.feed_part(source.names(), batch, gate, filtered);
            }
            also(source.names(), batch);
            seen += if all { batch.events.len() as u64 } else { 0 };
            if all && seen < events && gate.is_open() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        Some(seen).filter(|&seen| seen < events)
    }

    /// What the prefilter left, without variables of which the detectors of races can say nothing.
    fn narrowed(&self, filtered: &Filtered, names: &Names, trace: &Batch, control: &Control<'_>) -> Narrowed {
        let any = |test: fn(DetectorId) -> bool| self.running.iter().any(|running| test(running.detector));
        let (observes, searches) = (any(DetectorId::observes_races), any(DetectorId::searches_races));
        if !filtered.any_races() || !observes && !searches {
            return Narrowed::all(filtered);
        }
        let mut narrow = Narrow::new(filtered, any(DetectorId::warns_of_races));
        if !narrow.trace(names, trace, || control.is_cancelled()) {
            return Narrowed::all(filtered);
        }
        let narrowed = narrow.finish();
        if !searches {
            return Narrowed { searched: filtered.clone(), ..narrowed };
        }
        if !narrowed.searched.any_races() {
            return narrowed;
        }
        let mut handovers = Handovers::new(&narrowed.searched);
        let whole = handovers.trace(names, trace, || control.is_cancelled());
        let searched = if whole { handovers.finish() } else { narrowed.searched.clone() };
        Narrowed { searched, ..narrowed }
    }
}

impl Running {
    /// The next part of a trace that the prefilter has seen. Whether it was not interrupted there.
    fn feed_part(&mut self, names: &Names, part: &Batch, gate: &Gate<'_>, filtered: &Filtered) -> bool {
        let started = Instant::now();
        let whole = Whole::new(part, gate);
        self.pass.feed_whole(names, &whole, filtered);
        self.spent += started.elapsed();
        whole.stopped().is_none()
    }

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

//! The detectors that the user wants: fed with the trace, and what they claim turned into findings.
//!
//! A detector is one file here, and a line in [`analysis`] and in [`needs_trace`]; CONTRIBUTING.md says what else a new one
//! needs. No prediction becomes a finding that [`settle`] did not have checked.

mod atomicity;
mod budget;
mod checks;
mod claim;
mod deadlock;
mod hb;
pub(crate) mod lock_order;
mod lockset;
mod lost_wakeup;
mod maximal;
mod missing;
mod misuse;
mod plan;
mod races;
mod runtimes;
mod settle;
mod sync_preserving;
mod verify;

pub(crate) use plan::Plan;
pub(crate) use settle::not_sure;

use crate::args::Detector;
use crate::kept::Ending;
use crate::moments;
use crate::origins::Origins;
use crate::progress::Working;
use crate::properties::Properties;
use budget::Budget;
use checks::NoWitness;
use claim::{Claim, Witness};
use clap::ValueEnum;
use detect::Search;
use detect::suspects::{Suspects, Suspicions};
use detect::sync_preserving::{OnDemand, SyncPreserving};
use event::{Batch, Meta, Names, Value, VarId};
use plan::Wanted;
use property::check::{Knobs, Spec};
use property::steps::BoundSpec;
use report::{AnalysisStats, Finding, Kind};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A detector on its way along the trace.
trait Analysis {
    /// Takes the next events.
    fn batch(&mut self, _: &Names, _: &Batch) {}

    /// Takes a whole trace instead, of which it need not look at what is not suspected.
    fn whole(&mut self, names: &Names, trace: &Batch, _: &Suspicions) {
        self.batch(names, trace);
    }

    /// The trace has ended.
    fn finish(self: Box<Self>, whole: &Whole<'_>) -> Found;
}

/// A detector at the beginning of a trace; `all` and `none` are none.
fn analysis(detector: Detector, plan: &Plan) -> Option<Box<dyn Analysis>> {
    Some(match detector {
        Detector::Hb => Box::new(detect::hb::Hb::new()),
        Detector::Lockset => Box::new(detect::lockset::Lockset::new()),
        Detector::LockOrder => {
            let upto = plan.most_threads(detector);
            let options = detect::lock_order::LockOrderOptions { upto, ..Default::default() };
            Box::new(detect::lock_order::LockOrder::new(options))
        }
        Detector::Atomicity => Box::new(atomicity::Finder::new(plan)),
        Detector::SyncPreserving => Box::new(sync_preserving::SyncPreserving),
        Detector::Deadlock => Box::new(deadlock::Finder),
        Detector::LostWakeup => Box::new(detect::lost_wakeup::LostWakeups::new()),
        Detector::Maximal => Box::new(maximal::Finder),
        Detector::Misuse => Box::new(detect::misuse::Misuses::new()),
        // Words for several, or for none of the above.
        Detector::All | Detector::None => return None,
    })
}

/// Whether a detector, or the witnesses of what it finds, needs the whole trace.
fn needs_trace(detector: Detector) -> bool {
    use Detector::{All, LockOrder, Lockset, Misuse, None};
    !matches!(detector, Lockset | LockOrder | Misuse | All | None)
}

/// What a detector gets to know at the end.
struct Whole<'a> {
    names: &'a Names,
    /// The trace, if it was kept and other runs are to be searched.
    trace: Option<&'a Batch>,
    /// Why it is not there.
    missing: &'a str,
    /// What variables hold at first.
    initial: &'a dyn Fn(VarId) -> Value,
    /// What there can be at all.
    suspicions: &'a Suspicions,
    /// Nothing is missing from the trace.
    complete: bool,
    /// Nothing is missing before its end.
    gapless: bool,
    /// What the validator found wrong with the trace, counted.
    problems: u64,
    /// Events that are looked at together.
    window: usize,
    wanted: &'a Wanted,
    /// How long searches may take.
    budget: Budget,
    /// Set once somebody wants the work to stop.
    stop: &'a AtomicBool,
    /// Made when somebody needs it.
    preserving: RefCell<Option<OnDemand<'a>>>,
}

impl<'a> Whole<'a> {
    /// Asks the index of the trace that keeps the order of synchronisation; or says why there is none.
    fn preserving<T>(&self, ask: impl FnOnce(&mut SyncPreserving<'a>) -> T) -> Result<T, String> {
        let trace = self.trace.ok_or(self.missing)?;
        let mut whole = self.preserving.borrow_mut();
        let index = whole.get_or_insert_with(|| OnDemand::new(self.names, trace)).index();
        index.map(ask).map_err(|too_large| too_large.to_string())
    }

    /// How far a search in windows may go, from now on.
    fn search(&self) -> Search<'a> {
        Search {
            window: self.window,
            deadline: Some(self.budget.deadline()),
            stop: Some(self.stop),
            ..Search::default()
        }
    }

    /// An order that shows a claim, or why there is none.
    fn witness(&self, claim: &Claim, how: &Witness) -> Result<Vec<u64>, NoWitness> {
        match (how, claim.parts.as_slice()) {
            (Witness::Window(schedule), _) => Ok(schedule.whole()),
            (Witness::SyncPreserving, [one, other]) if claim.kind == Kind::Race => {
                let race = [one.event, other.event];
                let prefix = self.preserving(|index| index.race_witness(race)).map_err(NoWitness::NoTrace)?;
                Ok([prefix.ok_or(NoWitness::Unknown)?, race.to_vec()].concat())
            }
            (Witness::SyncPreserving, _) => Err(NoWitness::Unknown),
        }
    }
}

/// What a detector found.
#[derive(Default)]
struct Found {
    claims: Vec<Claim>,
    /// Its figures; the time is added by others.
    stats: AnalysisStats,
    /// Events that the validator has something to say of, too: the claims say it better.
    told: Vec<u64>,
}

impl Found {
    /// Nothing, because the trace is not there.
    fn nothing(whole: &Whole<'_>) -> Found {
        Found::without(whole.missing.to_owned())
    }

    /// Nothing, and why.
    fn without(why: String) -> Found {
        let truncated = Some(why);
        Found { stats: AnalysisStats { truncated, ..AnalysisStats::default() }, ..Found::default() }
    }
}

struct Running {
    detector: Detector,
    analysis: Box<dyn Analysis>,
    spent: Duration,
}

/// All detectors that run.
pub(crate) struct Detectors {
    plan: Plan,
    running: Vec<Running>,
    /// The whole trace will be there in the end, so only this looks at the events as they come: most traces have little of what
    /// the detectors look for.
    suspects: Option<Suspects>,
}

/// What came of them.
pub(crate) struct Detected {
    pub(crate) findings: Vec<Finding>,
    pub(crate) stats: BTreeMap<String, AnalysisStats>,
    /// Events whose problems the findings tell.
    pub(crate) told: BTreeSet<u64>,
}

impl Detectors {
    pub(crate) fn new(plan: Plan) -> Detectors {
        let run = |detector| Some(Running { detector, analysis: analysis(detector, &plan)?, spent: Duration::ZERO });
        let running = plan.detectors().filter_map(run).collect();
        Detectors { plan, running, suspects: None }
    }

    /// Whether the whole trace must be kept for them.
    pub(crate) fn need_trace(&self) -> bool {
        self.running.iter().any(|running| needs_trace(running.detector))
    }

    /// They get the trace as a whole, in the end.
    pub(crate) fn wait_for_the_end(&mut self) {
        self.suspects = Some(Suspects::new());
    }

    /// They will not get it as a whole, after all: this is what was so far.
    pub(crate) fn catch_up(&mut self, names: &Names, so_far: &Batch) {
        if self.suspects.take().is_some() {
            self.batch(names, so_far);
        }
    }

    /// Takes the next events.
    pub(crate) fn batch(&mut self, names: &Names, batch: &Batch) {
        if let Some(suspects) = &mut self.suspects {
            suspects.batch(names, batch);
            return;
        }
        for running in &mut self.running {
            let started = Instant::now();
            running.analysis.batch(names, batch);
            running.spent += started.elapsed();
        }
    }

    /// At the end of the trace, which can be found at `path`.
    pub(crate) fn finish(
        self,
        properties: &Properties,
        (names, meta): (&Names, &Meta),
        path: &Path,
        ending: &Ending<'_>,
    ) -> Detected {
        let wanted = self.plan.wanted(properties);
        let trace = ending.kept.trace().filter(|_| ending.unread.is_none());
        let missing = ending.kept.missing();
        let suspects = self.suspects.map(|suspects| suspects.finish(ending.problems == 0));
        let to_look_at = suspects.is_some().then(|| ending.kept.trace()).flatten();
        let suspicions = suspects.unwrap_or_else(Suspicions::all);
        // Most traces are not searched: this is a look at all events.
        let bound_specs = OnceCell::new();
        let initial_values =
            || bound_specs.get_or_init(|| trace.map(|trace| bound(properties, names, trace)).unwrap_or_default());
        let initial =
            |var| initial_values().iter().map(|bound| bound.initial(var)).find(|v| v.is_known()).unwrap_or_default();
        let whole = Whole {
            names,
            trace,
            missing: ending.unread.or(missing.as_deref()).unwrap_or("the trace was not kept"),
            initial: &initial,
            suspicions: &suspicions,
            complete: ending.at_end,
            gapless: ending.whole,
            problems: ending.problems,
            window: usize::try_from(self.plan.window).unwrap_or(usize::MAX),
            wanted: &wanted,
            budget: self.plan.budget(ending.kept.trace().map_or(0, |trace| trace.events.len() as u64)),
            stop: ending.interrupt.flag(),
            preserving: RefCell::new(None),
        };
        let mut claims = Vec::new();
        let mut stats = BTreeMap::new();
        let mut told = BTreeSet::new();
        for Running { detector, mut analysis, spent } in self.running {
            let started = Instant::now();
            let _working = Working::on(format!("{}: looking through the trace", name(detector)));
            if let Some(trace) = to_look_at {
                analysis.whole(names, trace, &suspicions);
            }
            let mut found = analysis.finish(&whole);
            found.stats.seconds = (spent + started.elapsed()).as_secs_f64();
            claims.append(&mut found.claims);
            told.extend(found.told);
            stats.insert(name(detector), found.stats);
        }
        misuse::without_races(&mut claims);
        runtimes::doubt(&mut claims, names, meta);
        missing::doubt(&mut claims, ending.doubt.as_deref());
        let events: BTreeSet<u64> = claims.iter().flat_map(|claim| &claim.parts).map(|part| part.event).collect();
        let moments = match ending.kept.trace() {
            Some(trace) => moments::of_trace(names, meta, trace, &events),
            None => moments::read_again(path, &events),
        };
        let _working = Working::on("checking what was found".to_owned());
        let origins = Origins::new(names, meta, claims.iter().flat_map(|claim| claim.about.ids()));
        let findings = settle::settle(claims, &whole, &moments, &origins, &mut stats);
        Detected { findings, stats, told }
    }
}

/// The name of a detector, as the command line has it.
pub(crate) fn name(detector: Detector) -> String {
    detector.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// The specifications without their properties, and none at all: what they say of initial values, each before the next.
fn bound(properties: &Properties, names: &Names, trace: &Batch) -> Vec<BoundSpec> {
    let bare = |spec: &Spec| Spec { properties: Vec::new(), ..spec.clone() };
    let specs = properties.runs().map(|run| bare(run.spec())).chain([Spec::default()]);
    let bind = |spec: Spec| BoundSpec::new(&spec, Knobs::default(), properties.init(), Path::new(""), names, trace);
    specs.map(bind).collect()
}

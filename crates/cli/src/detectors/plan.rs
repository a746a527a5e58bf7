//! Which detectors run, and what they are restricted to.

use super::budget::Budget;
use crate::args::{Analysis, Detector};
use crate::properties::Properties;
use anyhow::{Result, bail};
use clap::ValueEnum;
use event::{Causality, CondId, LockId, VarId};
use property::check::{CheckKind, RaceMethod};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

/// The window of detectors that look at windows, if nobody says otherwise.
const WINDOW: u64 = 10_000;

/// One restriction: the number of a specification, and what its `check` names.
#[derive(Clone, Debug)]
struct Only {
    spec: usize,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Variables(Vec<u32>),
    /// By the names that recorders give them.
    Regions(Vec<String>),
    Locks(Vec<u32>),
    Threads(u32),
}

/// The detectors that run; each with all its restrictions, none of which is no restriction.
#[derive(Default, Debug)]
pub(crate) struct Plan {
    tasks: BTreeMap<Detector, Vec<Only>>,
    /// Events that are looked at together.
    pub(crate) window: u64,
    /// Seconds that each search may take, if the user says so.
    search: Option<u64>,
    /// How long the program ran, if it ran just now.
    recording: Option<Duration>,
}

const RACES: [Detector; 4] = [Detector::Hb, Detector::SyncPreserving, Detector::Maximal, Detector::Lockset];

impl Plan {
    /// What the command line says, else the specifications' `check` lines, else all of them.
    pub(crate) fn new(args: &Analysis, properties: &Properties, recording: Option<Duration>) -> Result<Plan> {
        let checks: Vec<_> =
            properties.runs().enumerate().flat_map(|(n, run)| run.spec().checks.iter().map(move |c| (n, c))).collect();
        let of_specs = || {
            let own = checks.iter().find_map(|(_, check)| check.knobs.window);
            own.or_else(|| properties.runs().find_map(|run| run.spec().knobs.window))
        };
        let window = args.window.or_else(of_specs).unwrap_or(WINDOW);
        let mut plan = Plan { window, search: args.search_time, recording, ..Plan::default() };
        if !args.detect.is_empty() {
            if args.detect.contains(&Detector::None) && args.detect.len() > 1 {
                bail!("--detect: `none` stands alone");
            }
            plan.all(args.detect.iter().copied());
            return Ok(plan);
        }
        if checks.is_empty() {
            plan.all([Detector::All].into_iter());
            return Ok(plan);
        }
        for (spec, check) in checks {
            let regions = properties.regions(spec);
            plan.check(spec, &check.what, &regions);
        }
        Ok(plan)
    }

    /// How long searches of a trace of so many events may take.
    pub(super) fn budget(&self, events: u64) -> Budget {
        Budget::new(self.search, self.recording, events)
    }

    /// Leaves all others out.
    pub(crate) fn only(&mut self, detectors: &[Detector]) {
        self.tasks.retain(|detector, _| detectors.contains(detector));
    }

    /// These, without restrictions.
    pub(crate) fn of(detectors: &[Detector]) -> Plan {
        let mut plan = Plan { window: WINDOW, ..Plan::default() };
        let wanted = if detectors.is_empty() { &[Detector::All] } else { detectors };
        plan.all(wanted.iter().copied());
        plan
    }

    fn all(&mut self, detectors: impl Iterator<Item = Detector>) {
        for detector in detectors {
            let meant = match &detector {
                Detector::All => Detector::value_variants(),
                one => std::slice::from_ref(one),
            };
            let meant = meant.iter().filter(|one| !matches!(one, Detector::All | Detector::None));
            self.tasks.extend(meant.map(|&one| (one, Vec::new())));
        }
    }

    fn check(&mut self, spec: usize, what: &CheckKind, regions: &[Option<String>]) {
        let (detectors, only): (&[Detector], _) = match what {
            CheckKind::Races(on, using) => {
                let detectors: &[Detector] = match using {
                    None => &RACES,
                    Some(RaceMethod::Lockset) => &[Detector::Lockset],
                    Some(RaceMethod::Hb) => &[Detector::Hb],
                    Some(RaceMethod::SyncPreserving) => &[Detector::SyncPreserving],
                    Some(RaceMethod::Model(Causality::Maximal)) => &[Detector::Maximal],
                    // A property of its own: see properties/built.rs.
                    Some(RaceMethod::Model(_)) => &[],
                };
                (detectors, Some(What::Variables(on.clone())).filter(|_| !on.is_empty()))
            }
            CheckKind::Deadlocks(upto) => (&[Detector::Deadlock, Detector::LockOrder], upto.map(What::Threads)),
            CheckKind::Atomicity(of) => {
                let of = of.iter().filter_map(|&region| regions.get(region as usize).cloned().flatten());
                (&[Detector::Atomicity], Some(What::Regions(of.collect())))
            }
            CheckKind::LostWakeup(on) => {
                (&[Detector::LostWakeup], Some(What::Locks(on.clone())).filter(|_| !on.is_empty()))
            }
            // A property of its own: see properties/built.rs.
            CheckKind::Mutex(_) => (&[], None),
        };
        for &detector in detectors {
            let known = self.tasks.get(&detector);
            let free = only.is_none() || known.is_some_and(Vec::is_empty);
            let list = self.tasks.entry(detector).or_default();
            if free {
                list.clear();
            } else {
                list.extend(only.clone().map(|what| Only { spec, what }));
            }
        }
    }

    /// The detectors.
    pub(crate) fn detectors(&self) -> impl Iterator<Item = Detector> {
        self.tasks.keys().copied()
    }

    /// Cycles of how many threads are looked for at most.
    pub(crate) fn most_threads(&self, detector: Detector) -> Option<usize> {
        let limits = self.tasks.get(&detector)?.iter().map(|only| match only.what {
            What::Threads(upto) => Some(upto as usize),
            _ => None,
        });
        limits.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// The regions that are to be atomic, by their recorded names; `None`: all blocks are.
    pub(crate) fn regions(&self) -> Option<HashSet<String>> {
        let list = self.tasks.get(&Detector::Atomicity)?;
        let names = list.iter().flat_map(|only| match &only.what {
            What::Regions(names) => names.clone(),
            _ => Vec::new(),
        });
        Some(names.collect()).filter(|_| !list.is_empty())
    }

    /// The restrictions, in the names of the trace; after it was read.
    pub(crate) fn wanted(&self, properties: &Properties) -> Wanted {
        let runs: Vec<_> = properties.runs().collect();
        let mut wanted = Wanted::default();
        for (&detector, list) in self.tasks.iter().filter(|(_, list)| !list.is_empty()) {
            let set = wanted.sets.entry(detector).or_default();
            for only in list {
                let run = runs[only.spec];
                match &only.what {
                    What::Variables(numbers) => set.variables.extend(numbers.iter().flat_map(|&n| run.variables(n))),
                    // The detector itself knows only these.
                    What::Regions(_) => {}
                    What::Locks(numbers) => {
                        for (locks, conds) in numbers.iter().map(|&n| run.locks(n)) {
                            set.locks.extend(locks);
                            set.conds.extend(conds);
                        }
                    }
                    What::Threads(upto) => set.threads = set.threads.max(*upto as usize),
                }
            }
        }
        wanted
    }
}

#[derive(Default, Debug)]
struct Sets {
    variables: HashSet<VarId>,
    locks: HashSet<LockId>,
    conds: HashSet<CondId>,
    threads: usize,
}

/// What detectors are restricted to; one without an entry is not.
#[derive(Default, Debug)]
pub(crate) struct Wanted {
    sets: BTreeMap<Detector, Sets>,
}

impl Wanted {
    /// Whether races on a variable are looked for.
    pub(crate) fn variable(&self, detector: Detector, variable: VarId) -> bool {
        self.sets.get(&detector).is_none_or(|sets| sets.variables.contains(&variable))
    }

    /// Whether cycles of so many threads are looked for.
    pub(crate) fn threads(&self, detector: Detector, threads: usize) -> bool {
        self.sets.get(&detector).is_none_or(|sets| threads <= sets.threads)
    }

    /// Whether lost wake-ups of a condition are looked for.
    pub(crate) fn condition(&self, detector: Detector, cond: CondId, lock: Option<LockId>) -> bool {
        let means = |sets: &Sets| sets.conds.contains(&cond) || lock.is_some_and(|lock| sets.locks.contains(&lock));
        self.sets.get(&detector).is_none_or(means)
    }
}

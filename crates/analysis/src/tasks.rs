//! Which detectors of a plan run, and what the `check` lines of specifications restrict each of them to.

use crate::detectors::{self, DetectorId};
use crate::plan::Plan;
use crate::properties::Properties;
use event::{Causality, CondId, LockId, VarId};
use property::check::{CheckKind, RaceMethod};
use std::collections::{BTreeMap, HashSet};

/// The window of detectors that search windows, if neither the caller nor a specification says otherwise.
const WINDOW: u64 = 10_000;

/// One restriction: the number of a specification, and what its `check` line names.
#[derive(Clone, Debug)]
struct Named {
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

/// The detectors that run, each with its restrictions. An empty list restricts nothing.
#[derive(Default, Debug)]
pub(crate) struct Tasks {
    tasks: BTreeMap<DetectorId, Vec<Named>>,
    /// Events that are searched together.
    pub(crate) window: u64,
}

impl Tasks {
    /// What the plan says, else the specifications' `check` lines, else all detectors.
    pub(crate) fn new(plan: &Plan, properties: &Properties) -> Tasks {
        let specs = || properties.runs().map(|run| run.spec());
        let checks: Vec<_> =
            specs().enumerate().flat_map(|(n, spec)| spec.checks.iter().map(move |c| (n, c))).collect();
        let of_check = || checks.iter().find_map(|(_, check)| check.settings.window);
        let of_spec = || specs().find_map(|spec| spec.settings.window);
        let window = plan.overrides.window.or_else(of_check).or_else(of_spec).unwrap_or(WINDOW);
        let mut tasks = Tasks { tasks: BTreeMap::new(), window };
        match &plan.detectors {
            Some(wanted) => tasks.unrestricted(wanted.iter().copied()),
            None if checks.is_empty() => tasks.unrestricted(detectors::default()),
            None => {
                for (spec, check) in checks {
                    tasks.check(spec, &check.what, &properties.regions(spec));
                }
            }
        }
        if plan.observed_only {
            tasks.tasks.retain(|detector, _| detector.judges_so_far());
        }
        tasks
    }

    fn unrestricted(&mut self, wanted: impl IntoIterator<Item = DetectorId>) {
        self.tasks.extend(wanted.into_iter().map(|detector| (detector, Vec::new())));
    }

    /// Adds what a `check` line asks for.
    fn check(&mut self, spec: usize, what: &CheckKind, regions: &[Option<String>]) {
        let (names, restriction): (&[&str], _) = match what {
            CheckKind::Races(on, using) => {
                let names: &[&str] = match using {
                    None => &["hb", "sync-preserving", "maximal", "lockset"],
                    Some(RaceMethod::Lockset) => &["lockset"],
                    Some(RaceMethod::Hb) => &["hb"],
                    Some(RaceMethod::SyncPreserving) => &["sync-preserving"],
                    Some(RaceMethod::Model(Causality::Maximal)) => &["maximal"],
                    // These are properties: see properties/synthesised.rs.
                    Some(RaceMethod::Model(_)) => &[],
                };
                (names, Some(What::Variables(on.clone())).filter(|_| !on.is_empty()))
            }
            CheckKind::Deadlocks(upto) => (&["deadlock", "lock-order"], upto.map(What::Threads)),
            CheckKind::Atomicity(of) => {
                let of = of.iter().filter_map(|&region| regions.get(region as usize).cloned().flatten());
                (&["atomicity"], Some(What::Regions(of.collect())))
            }
            CheckKind::LostWakeup(on) => (&["lost-wakeup"], Some(What::Locks(on.clone())).filter(|_| !on.is_empty())),
            // A property: see properties/synthesised.rs.
            CheckKind::Mutex(_) => (&[], None),
        };
        for detector in names.iter().filter_map(|name| DetectorId::named(name)) {
            let known = self.tasks.get(&detector);
            let free = restriction.is_none() || known.is_some_and(Vec::is_empty);
            let list = self.tasks.entry(detector).or_default();
            if free {
                list.clear();
            } else {
                list.extend(restriction.clone().map(|what| Named { spec, what }));
            }
        }
    }

    /// The detectors that run, each with what it must know before it starts.
    pub(crate) fn detectors(&self, rereadable: bool) -> impl Iterator<Item = (DetectorId, StartOptions)> {
        self.tasks.iter().map(move |(&detector, list)| (detector, StartOptions::new(list, rereadable)))
    }

    /// The restrictions of each detector, in the names of the trace, once that was read.
    pub(crate) fn restrictions(&self, properties: &Properties) -> BTreeMap<DetectorId, Restriction> {
        let runs: Vec<_> = properties.runs().collect();
        let restricted = self.tasks.iter().filter(|(_, list)| !list.is_empty());
        let restriction = |list: &Vec<Named>| {
            let mut sets = Sets::default();
            for named in list {
                let run = runs[named.spec];
                match &named.what {
                    What::Variables(numbers) => sets.variables.extend(numbers.iter().flat_map(|&n| run.variables(n))),
                    // The detector knows these from its start.
                    What::Regions(_) => {}
                    What::Locks(numbers) => {
                        for (locks, conds) in numbers.iter().map(|&n| run.locks(n)) {
                            sets.locks.extend(locks);
                            sets.conds.extend(conds);
                        }
                    }
                    What::Threads(upto) => sets.threads = sets.threads.max(*upto as usize),
                }
            }
            Restriction(Some(sets))
        };
        restricted.map(|(&detector, list)| (detector, restriction(list))).collect()
    }
}

/// What a detector must know before it starts.
#[derive(Default)]
pub(crate) struct StartOptions {
    /// Cycles of how many threads are looked for at most; `None`: any number.
    pub(crate) most_threads: Option<usize>,
    /// The regions that are to be atomic, by their recorded names; `None`: all blocks are.
    pub(crate) regions: Option<HashSet<String>>,
    /// What it needs of the trace it can read again at the end, unless it gets it as a whole.
    pub(crate) rereadable: bool,
}

impl StartOptions {
    fn new(list: &[Named], rereadable: bool) -> StartOptions {
        let limits = list.iter().map(|named| match named.what {
            What::Threads(upto) => Some(upto as usize),
            _ => None,
        });
        let regions = list.iter().flat_map(|named| match &named.what {
            What::Regions(names) => names.clone(),
            _ => Vec::new(),
        });
        StartOptions {
            most_threads: limits.collect::<Option<Vec<_>>>().and_then(|limits| limits.into_iter().max()),
            regions: Some(regions.collect()).filter(|_| !list.is_empty()),
            rereadable,
        }
    }
}

#[derive(Default, Debug)]
struct Sets {
    variables: HashSet<VarId>,
    locks: HashSet<LockId>,
    conds: HashSet<CondId>,
    threads: usize,
}

/// What the findings of a detector are restricted to; by default nothing.
#[derive(Default, Debug)]
pub(crate) struct Restriction(Option<Sets>);

impl Restriction {
    /// Whether races on a variable are wanted.
    pub(crate) fn admits_variable(&self, variable: VarId) -> bool {
        self.0.as_ref().is_none_or(|sets| sets.variables.contains(&variable))
    }

    /// Whether cycles of so many threads are wanted.
    pub(crate) fn admits_threads(&self, threads: usize) -> bool {
        self.0.as_ref().is_none_or(|sets| threads <= sets.threads)
    }

    /// Whether lost wake-ups of a condition are wanted.
    pub(crate) fn admits_condition(&self, cond: CondId, lock: Option<LockId>) -> bool {
        let means = |sets: &Sets| sets.conds.contains(&cond) || lock.is_some_and(|lock| sets.locks.contains(&lock));
        self.0.as_ref().is_none_or(means)
    }
}

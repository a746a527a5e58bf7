//! Tests of the oracle itself on random cases, and of the cases.

use crate::case::Case;
use crate::enumerate::Oracle;
use event::{Causality, Op, Space, Value};
use oracle::cases;
use oracle::schedule::MOST_EVENTS;
use property::check::{Const, Settings, Steps};
use property::monitor::Verdict;
use property::run::SpecRun;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

fn oracle(case: &Case, model: Causality) -> Oracle {
    Oracle::new(model, &case.trace, &case.property, &case.given)
}

/// What is worth counting about a trace, beside its operations.
fn kinds(case: &Case) -> BTreeSet<String> {
    let (names, batch) = (&case.trace.names, &case.trace.batch);
    let mut kinds = BTreeSet::new();
    for &e in &batch.events {
        let (op, extra) = (e.op(), batch.extra(e));
        kinds.insert(op.text().to_owned());
        if op == Op::Woken {
            kinds.insert(format!("woken {:?}", extra.wake));
        }
        if matches!(op, Op::Read | Op::Write) {
            let with = if extra.value == Value::Unknown { "without" } else { "with" };
            kinds.insert(format!("{} {with} value", op.text()));
        }
    }
    let oracle = oracle(case, Causality::WeakHb);
    let run = &oracle.definition().run;
    let mut note = |is: bool, what: &str| {
        if is {
            kinds.insert(what.to_owned());
        }
    };
    note(run.without_effect.contains(&true), "re-entrant");
    note(run.sections.iter().any(|s| s.closes.is_none()), "lock left held");
    let is_waiting = |t: u32| run.events.iter().rfind(|e| e.thread == t).is_some_and(|e| e.op == Op::Wait);
    note((0..names.space(Space::Thread).len() as u32).any(is_waiting), "thread left waiting");
    note(!run.woken_by.is_empty(), "paired wake-up");
    note(run.woken_by.len() > 1, "two paired wake-ups");
    note(run.failed_in.values().any(|s| !s.is_empty()), "tfail in a section");
    note(!batch.inits.is_empty(), "#! init");
    note(case.property.all_steps, "steps = all");
    kinds
}

#[test]
fn the_cases_are_worth_asking() {
    let count = cases(20_000);
    let mut kinds_seen: BTreeMap<String, u64> = BTreeMap::new();
    let (mut threads, mut events) = (BTreeMap::<usize, u64>::new(), BTreeMap::<usize, u64>::new());
    let mut verdicts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let (mut recorded_holds, mut hidden) = (0, 0);
    let mut times = [Duration::ZERO; 5];
    let mut most_cuts = 0;
    let mut making = Duration::ZERO;
    for seed in 0..count {
        let start = Instant::now();
        let case = Case::random(seed);
        making += start.elapsed();
        for kind in kinds(&case) {
            *kinds_seen.entry(kind).or_default() += 1;
        }
        *threads.entry(case.trace.names.space(Space::Thread).len()).or_default() += 1;
        *events.entry(case.trace.batch.events.len()).or_default() += 1;
        let mut fails_elsewhere = false;
        let mut recorded = false;
        for (model, time) in Causality::ALL.into_iter().zip(&mut times) {
            let start = Instant::now();
            let expected = oracle(&case, model).expected();
            *time += start.elapsed();
            most_cuts = most_cuts.max(expected.cuts);
            for (is, what) in [
                (expected.dead_ends > 0, "has dead ends"),
                (expected.bad_runs > 0, "has bad runs"),
                (expected.only_terminal, "violated by terminal reads only"),
            ] {
                *verdicts.entry((model.text(), what)).or_default() += u64::from(is);
            }
            *verdicts.entry((model.text(), expected.verdict())).or_default() += 1;
            recorded = expected.recorded_violates;
            // The values of sync-only may be impossible: it does not count.
            fails_elsewhere |= model != Causality::SyncOnly && expected.verdict() == "predicted";
        }
        recorded_holds += u64::from(!recorded);
        hidden += u64::from(fails_elsewhere);
    }
    let share = |n: u64| 100.0 * n as f64 / count as f64;
    println!("{count} cases, made in {:.1} us each; most cuts {most_cuts}", making.as_secs_f64() * 1e6 / count as f64);
    for (kind, n) in &kinds_seen {
        println!("{:5.1} %  {kind}", share(*n));
    }
    println!("threads: {}", listed(&threads, share));
    println!("events: {}", listed(&events, share));
    for ((model, verdict), n) in &verdicts {
        println!("{:5.1} %  {model}: {verdict}", share(*n));
    }
    for (model, time) in Causality::ALL.into_iter().zip(times) {
        println!("{}: {:.1} us a case", model.text(), time.as_secs_f64() * 1e6 / count as f64);
    }
    println!(
        "{:5.1} %  hold on the recorded run, {:.1} % of all fail on another",
        share(recorded_holds),
        share(hidden)
    );

    for op in Op::ALL {
        assert!(share(kinds_seen.get(op.text()).copied().unwrap_or(0)) >= 5.0, "{} is rare", op.text());
    }
    let kinds = [
        "lock left held",
        "thread left waiting",
        "re-entrant",
        "r without value",
        "w without value",
        "woken Notified",
        "woken Timeout",
        "woken Spurious",
        "paired wake-up",
        "tfail in a section",
        "steps = all",
    ];
    for kind in kinds {
        assert!(share(kinds_seen[kind]) >= 3.0, "{kind} is rare");
    }
    assert_eq!(threads.keys().copied().collect::<Vec<_>>(), [2, 3, 4, 5]);
    assert!(events.keys().all(|&n| n <= MOST_EVENTS) && share(events[&MOST_EVENTS]) >= 2.0);
    assert!(share(hidden) >= 20.0);
}

fn listed(counts: &BTreeMap<usize, u64>, share: impl Fn(u64) -> f64) -> String {
    counts.iter().map(|(n, count)| format!("{n}: {:.1} %", share(*count))).collect::<Vec<_>>().join(", ")
}

/// The property says on the recorded run what its text says there: the oracle and the language mean the same.
#[test]
fn texts_mean_what_the_oracle_means() {
    for seed in 0..cases(20_000) {
        let case = Case::random(seed);
        let steps = if case.property.all_steps { Steps::All } else { Steps::Relevant };
        let settings = Settings { steps: Some(steps), ..Settings::default() };
        let given: Vec<(String, Const)> = case.given.iter().map(|(x, n)| (x.clone(), Const::Int(*n))).collect();
        let (mut run, failed) = SpecRun::new(case.spec(), settings, &given, Path::new(""));
        assert!(failed.is_empty(), "seed {seed}\n{}", case.shown());
        run.batch(&case.trace.names, &case.trace.batch);
        let outcome = run.finish(&case.trace.names, true).into_iter().next().expect("one property");
        let verdict = match outcome.verdict {
            Verdict::Violated => "violated",
            Verdict::Unknown => "unknown",
            _ => "holds",
        };
        let expected = oracle(&case, Causality::Observed).expected();
        assert_eq!(verdict, expected.verdict(), "seed {seed}\n{}", case.shown());
    }
}

/// Counting prefixes that are no longer distinguished together gives what counting every single order gives.
#[test]
fn counted_together_as_one_by_one() {
    let mut seed = 1 << 32;
    let mut asked = 0;
    while asked < cases(6_000) {
        seed += 1;
        let case = Case::random(seed);
        for model in Causality::ALL {
            let oracle = oracle(&case, model);
            let expected = oracle.expected();
            if expected.runs > 300 || expected.cuts > 400 {
                continue;
            }
            asked += 1;
            assert_eq!(expected, oracle.by_all_orders(), "{} seed {seed}\n{}", model.text(), case.shown());
        }
    }
}

/// A schedule that the oracle takes for a witness exists exactly where it says that some run violates: what is counted
/// over the steps alone is true of whole schedules.
#[test]
fn witnesses_exist_where_something_is_violated() {
    let (mut seed, mut asked, mut found) = (3 << 32, 0, 0);
    while asked < cases(4_000) {
        seed += 1;
        let case = Case::random(seed);
        if case.trace.batch.events.len() > 9 {
            continue;
        }
        for model in Causality::ALL {
            let oracle = oracle(&case, model);
            let expected = oracle.expected();
            if expected.runs > 200 || expected.cuts > 200 {
                continue;
            }
            let witness = witness(&oracle, &mut Vec::new(), &mut 20_000);
            let Ok(witness) = witness else { continue };
            asked += 1;
            found += u64::from(witness.is_some());
            let shown = || format!("{} seed {seed} {witness:?}\n{}", model.text(), case.shown());
            assert_eq!(witness.is_some(), expected.some_violates, "{}", shown());
        }
    }
    assert!(found > asked / 5);
}

/// Some schedule that is a witness, among all; an error when there are too many.
fn witness(oracle: &Oracle, schedule: &mut Vec<u64>, left: &mut u32) -> Result<Option<Vec<u64>>, ()> {
    if oracle.is_violating_witness(schedule) {
        return Ok(Some(schedule.clone()));
    }
    *left = left.checked_sub(1).ok_or(())?;
    let prefix: Vec<usize> = schedule.iter().map(|&e| e as usize).collect();
    for e in 0..oracle.definition().events().len() {
        let ends = oracle.definition().may_only_end(&prefix, e);
        if !ends && !oracle.definition().may_come(&prefix, e) {
            continue;
        }
        schedule.push(e as u64);
        let found = match ends {
            true => Ok(oracle.is_violating_witness(schedule).then(|| schedule.clone())),
            false => witness(oracle, schedule, left),
        };
        schedule.pop();
        if let Ok(None) = found {
            continue;
        }
        return found;
    }
    Ok(None)
}

/// Each model admits every prefix that the one before admits, and the recorded run.
#[test]
fn each_model_admits_what_the_one_before_admits() {
    for seed in 0..cases(4_000) {
        let case = Case::random(2 << 32 | seed);
        let count = case.trace.batch.events.len();
        let oracles = Causality::SOUND.map(|model| oracle(&case, model));
        for all in Causality::ALL {
            let oracle = oracle(&case, all);
            let recorded: Vec<usize> = (0..count).collect();
            let feasible = recorded.iter().all(|&e| oracle.definition().may_come(&recorded[..e], e));
            assert!(feasible, "{} seed {seed}\n{}", all.text(), case.shown());
        }
        for pair in oracles.windows(2) {
            let [one, next] = pair else { unreachable!("windows of two") };
            let (one, next) = (one.definition(), next.definition());
            // All prefixes of the narrower model, but of those that neither distinguishes only one.
            let mut level = vec![Vec::new()];
            for _ in 0..count {
                let mut longer: BTreeMap<(u64, Vec<u8>), Vec<usize>> = BTreeMap::new();
                for prefix in &level {
                    for e in 0..count {
                        if one.may_come(prefix, e) {
                            let models = format!("{} {}", one.model.text(), next.model.text());
                            assert!(next.may_come(prefix, e), "{models} {prefix:?} {e} seed {seed}\n{}", case.shown());
                            let prefix: Vec<usize> = prefix.iter().copied().chain([e]).collect();
                            let seen = [one.visible(&prefix), next.visible(&prefix)].concat();
                            longer.insert((oracle::definition::set_of(&prefix), seen), prefix);
                        }
                    }
                }
                level = longer.into_values().collect();
            }
        }
    }
}

//! The checker agrees with the definitions on random schedules of small random traces.

use crate::common::definition::{Definition, Next};
use crate::common::{Random, Sample, maker, mutate};
use event::{Batch, Causality, Event, Names, Op, SiteId, Space, ThreadId};
use std::collections::BTreeMap;
use witness::check::Reason;
use witness::{Checked, Refusal};

/// A random feasible prefix.
fn walk(random: &mut Random, definition: &Definition<'_>, model: Causality, events: usize) -> Vec<u64> {
    let mut prefix: Vec<usize> = Vec::new();
    let length = random.below(events + events / 4 + 1);
    while prefix.len() < length {
        let next: Vec<usize> = (0..events).filter(|&e| definition.next(model, &prefix, e) == Next::Yes).collect();
        if next.is_empty() {
            break;
        }
        prefix.push(random.pick(&next));
    }
    if random.one_in(2) {
        let next: Vec<usize> = (0..events).filter(|&e| definition.next(model, &prefix, e) == Next::Terminal).collect();
        if !next.is_empty() {
            prefix.push(random.pick(&next));
        }
    }
    prefix.into_iter().map(|e| e as u64).collect()
}

/// Adds events, each the next of its thread, without regard to the other rules.
fn extend(random: &mut Random, sample: &Sample, schedule: &mut Vec<u64>, many: usize) {
    for _ in 0..many {
        let thread = random.below(3) as u32;
        let next = (0u64..).zip(&sample.batch.events);
        let next = next.filter(|(at, event)| event.thread().0 == thread && !schedule.contains(at));
        if let Some((at, _)) = next.min_by_key(|(at, _)| *at) {
            schedule.push(at);
        }
    }
}

fn schedule(random: &mut Random, sample: &Sample, definition: &Definition<'_>, model: Causality) -> Vec<u64> {
    let events = sample.batch.events.len();
    let mut schedule = match random.below(8) {
        0 => {
            let mut all: Vec<u64> = (0..events as u64).collect();
            for k in 1..all.len() {
                all.swap(k, random.below(k + 1));
            }
            all
        }
        1 | 2 => (0..events as u64).collect(),
        3 => {
            let model = random.pick(&Causality::ALL);
            walk(random, definition, model, events)
        }
        4 | 5 => {
            let mut schedule = walk(random, definition, model, events);
            let many = 1 + random.below(4);
            extend(random, sample, &mut schedule, many);
            return schedule;
        }
        _ => walk(random, definition, model, events),
    };
    for _ in 0..random.below(5).saturating_sub(2) {
        mutate(random, &mut schedule, events);
    }
    schedule
}

/// Compares the checker with the definition on one schedule. Returns what the checker says.
fn agree(
    sample: &Sample,
    definition: &Definition<'_>,
    model: Causality,
    schedule: &[u64],
    terminal: bool,
) -> Result<Checked, Refusal> {
    let expected = definition.feasible(model, schedule, terminal);
    let found = sample.check(model, schedule, terminal);
    let same = match (&expected, &found) {
        (Ok(terminal), Ok(checked)) => *terminal == checked.terminal_read,
        // The checker reports these before it checks any rule.
        (Err(_), Err(refused)) if matches!(refused.reason, Reason::NotInTrace | Reason::Twice { .. }) => true,
        (Err(position), Err(refused)) => {
            *position == refused.position && schedule[*position] == refused.event && !refused.to_string().is_empty()
        }
        _ => false,
    };
    assert!(
        same,
        "{model:?} {schedule:?} terminal {terminal}: expected {expected:?}, found {found:?}\n{}",
        sample.show()
    );
    found
}

#[test]
fn the_checker_is_the_definition() {
    let mut random = Random(7);
    let mut accepted = [[0usize; 5]; 2];
    let mut total = [[0usize; 5]; 2];
    let mut terminals = 0;
    let mut broken: BTreeMap<String, usize> = BTreeMap::new();
    for round in 0..24_000 {
        let wild = round % 3 == 0;
        let events = 3 + random.below(14);
        let sample = maker::make(&mut random, events, wild);
        let definition = Definition::new(&sample);
        for (k, model) in Causality::ALL.into_iter().enumerate() {
            for _ in 0..3 {
                let schedule = schedule(&mut random, &sample, &definition, model);
                let terminal = random.one_in(2);
                let found = agree(&sample, &definition, model, &schedule, terminal);
                accepted[usize::from(wild)][k] += usize::from(found.is_ok());
                total[usize::from(wild)][k] += 1;
                match found {
                    Ok(checked) => terminals += usize::from(checked.terminal_read),
                    Err(refused) => {
                        // Only the rule counts, not the events.
                        let words = refused.reason.to_string();
                        let rule = words.replace(|c: char| c.is_ascii_digit(), "");
                        *broken.entry(rule).or_default() += 1;
                    }
                }
            }
        }
    }
    println!("accepted, by model: {accepted:?} of {total:?}; terminal reads {terminals}");
    for (accepted, total) in accepted.iter().flatten().zip(total.iter().flatten()) {
        assert!((total / 10..total / 10 * 9).contains(accepted), "{accepted} of {total} accepted");
    }
    assert!(terminals > 150, "{terminals}");
    broken.iter().for_each(|(rule, times)| println!("{times:6} {rule}"));
    // Every rule was broken, most of them both by an event that comes later and by one that never comes.
    assert!(broken.len() >= 41, "{} {broken:?}", broken.len());
}

#[test]
fn each_model_admits_what_the_one_before_admits() {
    let mut random = Random(8);
    for _ in 0..3_000 {
        let events = 3 + random.below(14);
        let sample = maker::make(&mut random, events, false);
        let definition = Definition::new(&sample);
        for models in [Causality::Observed, Causality::FullHb, Causality::WeakHb, Causality::Maximal].windows(2) {
            let prefix = walk(&mut random, &definition, models[0], sample.batch.events.len());
            if sample.check(models[0], &prefix, false).is_ok() {
                let wider = sample.check(models[1], &prefix, false);
                assert!(wider.is_ok(), "{models:?} {prefix:?} {wider:?}\n{}", sample.show());
            }
        }
        let recorded: Vec<u64> = (0..sample.batch.events.len() as u64).collect();
        for model in Causality::ALL {
            let found = sample.check(model, &recorded, false);
            assert!(found.is_ok(), "{model:?} {found:?}\n{}", sample.show());
        }
    }
}

#[test]
fn a_refusal_says_what_is_wrong() {
    let mut names = Names::default();
    for (space, name) in [(Space::Thread, "A"), (Space::Thread, "B"), (Space::Var, "x"), (Space::Lock, "l")] {
        assert!(names.add(space, name).is_ok());
    }
    let event = |thread, op| Event::new(ThreadId(thread), op, 0, SiteId(0));
    let events = vec![
        event(0, Op::Acquire),
        event(0, Op::Write),
        event(0, Op::Release),
        event(1, Op::Acquire),
        event(1, Op::Read),
    ];
    let sample = Sample { names, batch: Batch { events, ..Batch::default() }, initial: Vec::new() };
    let why = |model, schedule: &[u64]| match sample.check(model, schedule, false) {
        Ok(_) => String::new(),
        Err(refused) => refused.to_string(),
    };
    let cases: [(Causality, &[u64], &str); 7] = [
        (Causality::Maximal, &[3], ""),
        (Causality::FullHb, &[3], "event 3 (number 0 of the schedule) comes without event 2, an event of its lock"),
        (
            Causality::WeakHb,
            &[1, 0],
            "event 1 (number 0 of the schedule) comes before event 0, an earlier event of its thread",
        ),
        (
            Causality::WeakHb,
            &[0, 3],
            "event 3 (number 1 of the schedule) takes its lock while another thread has it since event 0",
        ),
        (
            Causality::Maximal,
            &[3, 4],
            "event 4 (number 1 of the schedule) would read the initial value, \
             but read what event 1 wrote when recorded",
        ),
        (Causality::Observed, &[3], "event 3 (number 0 of the schedule) stands where event 0 was recorded"),
        (Causality::Observed, &[0, 0], "event 0 (number 1 of the schedule) is in the schedule already, as number 0"),
    ];
    for (model, schedule, words) in cases {
        assert_eq!(why(model, schedule), words, "{model:?} {schedule:?}");
    }
    assert_eq!(sample.check(Causality::Maximal, &[3, 4], true), Ok(Checked { terminal_read: true }));
}

#[test]
fn a_join_needs_the_fork_of_a_thread_without_events() {
    let mut names = Names::default();
    for name in ["A", "B", "C"] {
        assert!(names.add(Space::Thread, name).is_ok());
    }
    let event = |thread, op, child| Event::new(ThreadId(thread), op, child, SiteId(0));
    let recorded = vec![event(0, Op::Fork, 1), event(2, Op::Join, 1), event(2, Op::Join, 1)];
    let of = |events: &[Event]| {
        let batch = Batch { events: events.to_vec(), ..Batch::default() };
        Sample { names: names.clone(), batch, initial: Vec::new() }
    };
    let sample = of(&recorded);
    for model in Causality::ALL {
        assert!(sample.check(model, &[0, 1, 2], false).is_ok());
    }
    for model in Causality::ALL.into_iter().filter(|&model| model != Causality::Observed) {
        let refused = sample.check(model, &[1], false).expect_err("nobody has forked B");
        let why = "event 1 (number 0 of the schedule) comes without event 0, the fork of the thread it joins";
        assert_eq!(refused.to_string(), why);
        // A join recorded before the fork cannot have been, but asks for nothing.
        assert!(of(&[recorded[1], recorded[0]]).check(model, &[0], false).is_ok());
    }
    let built = witness::build(Causality::Maximal, &sample.names, &sample.batch, 0, &[2], &|event| event == 2);
    assert_eq!(built.expect("a schedule"), [0, 1, 2]);
}

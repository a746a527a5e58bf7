//! Schedules of the builder are feasible, have the essential events in their order, and equal those of a naive builder.

use crate::common::definition::{Definition, Next};
use crate::common::{Random, Sample, maker};
use event::{Batch, Causality, Event, Names, Op, SiteId, Space, ThreadId};
use witness::NoSchedule;

fn can_come(model: Causality, definition: &Definition<'_>, prefix: &[usize], e: usize) -> bool {
    match model {
        // Their other rules bind essential events only.
        Causality::WeakHb | Causality::Maximal => !prefix.contains(&e) && definition.common(prefix, e),
        Causality::Observed | Causality::SyncOnly | Causality::FullHb => definition.next(model, prefix, e) == Next::Yes,
    }
}

/// Some run that the rules allow.
fn walk(random: &mut Random, model: Causality, definition: &Definition<'_>, events: usize) -> Vec<usize> {
    let mut prefix: Vec<usize> = (0..random.below(events)).collect();
    for _ in 0..random.below(events) {
        let next: Vec<usize> = (0..events).filter(|&e| can_come(model, definition, &prefix, e)).collect();
        if next.is_empty() {
            break;
        }
        prefix.push(random.pick(&next));
    }
    prefix
}

/// The essential events in order, and all others as early as they can come, the one with the least priority first.
fn slow(
    model: Causality,
    definition: &Definition<'_>,
    from: usize,
    essential: &[usize],
    is_essential: &dyn Fn(u64) -> bool,
    priority: &[usize],
) -> Vec<u64> {
    let latest = *essential.iter().max().expect("some");
    let mut prefix: Vec<usize> = (0..from).collect();
    let mut listed = essential.iter().copied().peekable();
    loop {
        let last = essential.last().copied();
        let possible = (0..=latest).filter(|&e| {
            let priority = if is_essential(e as u64) { listed.peek() == Some(&e) && Some(e) != last } else { true };
            priority && can_come(model, definition, &prefix, e)
        });
        let Some(next) = possible.min_by_key(|&e| (priority[e], e)) else { break };
        listed.next_if_eq(&next);
        prefix.push(next);
    }
    prefix.extend(essential.last());
    prefix.into_iter().map(|e| e as u64).collect()
}

/// The priorities that bring essential events, with their predecessors, right before those that they overtake.
fn early(model: Causality, definition: &Definition<'_>, essential: &[usize]) -> Vec<usize> {
    let latest = *essential.iter().max().expect("some");
    let mut priority: Vec<usize> = (0..=latest).collect();
    for (k, &e) in essential.iter().enumerate() {
        priority[e] = *essential[k..].iter().min().expect("some");
    }
    for after in (0..=latest).rev() {
        for before in 0..after {
            let others: Vec<usize> = (0..after).filter(|&e| e != before).collect();
            if !can_come(model, definition, &others, after) {
                priority[before] = priority[before].min(priority[after]);
            }
        }
    }
    priority
}

fn case(random: &mut Random, model: Causality, sample: &Sample) -> Option<(usize, usize)> {
    let definition = Definition::new(sample);
    let events = sample.batch.events.len();
    let bits = random.below(1 << 20) | random.below(1 << 20);
    let is_essential = |e: u64| bits >> (e % 20) & 1 == 1;
    let mut run = walk(random, model, &definition, events);
    while run.pop_if(|&mut e| !is_essential(e as u64)).is_some() {}
    let as_recorded = (0..run.len()).take_while(|&k| run[k] == k).count();
    let from = random.below(as_recorded + 1);
    let essential: Vec<usize> = run[from..].iter().copied().filter(|&e| is_essential(e as u64)).collect();
    if essential.is_empty() {
        return None;
    }
    let list: Vec<u64> = essential.iter().map(|&e| e as u64).collect();
    let built = witness::build(model, &sample.names, &sample.batch, from as u64, &list, &is_essential);
    let recorded: Vec<usize> = (0..events).collect();
    let expected = [recorded, early(model, &definition, &essential)]
        .map(|priority| slow(model, &definition, from, &essential, &is_essential, &priority))
        .into_iter()
        .min_by_key(|schedule| figures(sample, schedule));
    assert_eq!(built.ok(), expected, "{model:?} from {from}: {list:?} of {run:?}\n{}", sample.show());
    let built = expected.expect("two");
    let shown: Vec<u64> = built[from..].iter().copied().filter(|&e| is_essential(e)).collect();
    assert_eq!(shown, list);
    if model == Causality::Maximal {
        return Some(figures(sample, &built));
    }
    let checked = sample.check(model, &built, false);
    assert!(checked.is_ok(), "{model:?} {built:?} {checked:?}\n{}", sample.show());
    Some(figures(sample, &built))
}

/// The numbers of moved events and of switches between threads.
fn figures(sample: &Sample, schedule: &[u64]) -> (usize, usize) {
    let thread = |e: u64| sample.batch.events[e as usize].thread();
    let switches = schedule.windows(2).filter(|pair| thread(pair[0]) != thread(pair[1])).count();
    (witness::moved(schedule).into_iter().filter(|&moved| moved).count(), switches)
}

#[test]
fn the_builder_is_the_slow_one() {
    let mut random = Random(11);
    let mut figures = [0usize; 4];
    for round in 0..20_000 {
        let events = 3 + random.below(14);
        let sample = maker::make(&mut random, events, round % 3 == 0);
        if sample.batch.events.is_empty() {
            continue;
        }
        let model = random.pick(&[Causality::FullHb, Causality::SyncOnly, Causality::Maximal]);
        if let Some((moved, switches)) = case(&mut random, model, &sample) {
            figures[0] += 1;
            figures[1] += usize::from(moved > 0);
            figures[2] += moved;
            figures[3] += switches;
        }
    }
    println!(
        "{} schedules, {} with moved events: {} moved, {} switches",
        figures[0], figures[1], figures[2], figures[3]
    );
    assert!(figures[0] > 10_000 && figures[1] > 3_000, "{figures:?}");
}

#[test]
fn an_order_that_no_schedule_has_is_an_error() {
    let mut random = Random(12);
    let mut refused = [0; 3];
    for _ in 0..4_000 {
        let sample = maker::make(&mut random, 12, false);
        let events = sample.batch.events.len();
        let list: Vec<u64> = (0..random.below(4)).map(|_| random.below(events + 1) as u64).collect();
        let is_essential = |e: u64| list.contains(&e) || e.is_multiple_of(3);
        match witness::build(Causality::FullHb, &sample.names, &sample.batch, 0, &list, &is_essential) {
            Ok(built) => {
                let shown: Vec<u64> = built.iter().copied().filter(|&e| is_essential(e)).collect();
                assert_eq!(shown, list);
                assert!(sample.check(Causality::FullHb, &built, false).is_ok());
            }
            Err(NoSchedule::Empty) => refused[0] += usize::from(list.is_empty()),
            Err(NoSchedule::Listed(event)) => {
                let times = list.iter().filter(|&&e| e == event).count();
                assert!(times > 1 || event as usize >= events, "{event} of {list:?}");
                refused[1] += 1;
            }
            Err(NoSchedule::MissingPredecessor(event)) => {
                assert!(list.contains(&event));
                refused[2] += 1;
            }
        }
    }
    assert!(refused.iter().all(|&times| times > 100), "{refused:?}");
}

#[test]
fn an_await_needs_every_post_before_it() {
    let mut names = Names::default();
    for (space, name) in [(Space::Thread, "A"), (Space::Thread, "B"), (Space::Thread, "C"), (Space::Latch, "o")] {
        assert!(names.add(space, name).is_ok());
    }
    let event = |thread, op| Event::new(ThreadId(thread), op, 0, SiteId(0));
    let events = vec![event(0, Op::Post), event(1, Op::Await), event(2, Op::Post), event(2, Op::Await)];
    let batch = Batch { events, ..Batch::default() };
    let build = |list: &[u64], essential: &[u64]| {
        witness::build(Causality::Maximal, &names, &batch, 0, list, &|e| essential.contains(&e))
    };
    assert_eq!(build(&[2], &[0, 2]), Ok(vec![2]));
    assert_eq!(build(&[3], &[0, 3]), Err(NoSchedule::MissingPredecessor(3)));
    assert_eq!(build(&[2, 0, 3], &[0, 2, 3]), Ok(vec![2, 0, 1, 3]));
}

//! Races and deadlocks: the checker agrees with the definitions.

use crate::common::definition::{Definition, Next};
use crate::common::{Random, Sample, maker, mutate};
use event::{Batch, Causality, Event, Names, Op, SiteId, Space, ThreadId};

/// A random prefix, mostly feasible, and the next event of each thread after it.
fn prefix(random: &mut Random, sample: &Sample, definition: &Definition<'_>, model: Causality) -> (Vec<u64>, Vec<u64>) {
    let events = sample.batch.events.len();
    let mut prefix: Vec<usize> = Vec::new();
    for _ in 0..random.below(events) {
        let next: Vec<usize> = (0..events).filter(|&e| definition.next(model, &prefix, e) == Next::Yes).collect();
        if !next.is_empty() {
            prefix.push(random.pick(&next));
        }
    }
    let mut prefix: Vec<u64> = prefix.into_iter().map(|e| e as u64).collect();
    if random.one_in(6) {
        mutate(random, &mut prefix, events);
    }
    let next = (0..3).filter_map(|thread| {
        let mut own = (0u64..).zip(&sample.batch.events).filter(|(_, event)| event.thread().0 == thread);
        own.find(|(at, _)| !prefix.contains(at)).map(|(at, _)| at)
    });
    let next = next.collect();
    (prefix, next)
}

#[test]
fn races_are_those_of_the_definition() {
    let mut random = Random(21);
    let mut found = [0; 2];
    for round in 0..80_000 {
        let events = 3 + random.below(10);
        let sample = maker::make(&mut random, events, round % 4 == 0);
        let definition = Definition::new(&sample);
        let model = random.pick(&Causality::ALL);
        let (prefix, mut next) = prefix(&mut random, &sample, &definition, model);
        if random.one_in(4) {
            next.push(random.below(events) as u64);
        }
        if next.len() < 2 {
            continue;
        }
        let race = [random.pick(&next), random.pick(&next)];
        if race.iter().any(|&e| e as usize >= sample.batch.events.len()) {
            continue;
        }
        let plain: Vec<usize> = prefix.iter().map(|&e| e as usize).collect();
        let expected = definition.feasible(model, &prefix, false).is_ok()
            && race[0] != race[1]
            && definition.race(&plain, race.map(|e| e as usize));
        let checked = witness::check_race(model, &sample.names, &sample.batch, &sample.initial(), &prefix, race);
        assert_eq!(checked.is_ok(), expected, "{model:?} {prefix:?} {race:?} {checked:?}\n{}", sample.show());
        found[usize::from(expected)] += 1;
    }
    println!("races: {} refused, {} accepted", found[0], found[1]);
    assert!(found[1] > 500 && found[0] > 500, "{found:?}");
}

/// Threads that each take and give back locks, several at a time, in any order.
fn locks(random: &mut Random) -> Sample {
    let mut names = Names::default();
    for (space, list) in [(Space::Thread, ["T0", "T1", "T2"]), (Space::Lock, ["l", "m", "n"])] {
        list.iter().for_each(|name| assert!(names.add(space, name).is_ok()));
    }
    let mut batch = Batch::default();
    // One thread after the other takes both locks.
    for _ in 0..random.below(4) {
        let me = random.below(3) as u32;
        let first = random.below(2) as u32;
        let take = random.pick(&[Op::Acquire, Op::Acquire, Op::TryAcquire]);
        for (op, lock) in [(Op::Acquire, first), (take, 1 - first), (Op::Release, 1 - first), (Op::Release, first)] {
            batch.events.push(Event::new(ThreadId(me), op, lock, SiteId(0)));
        }
    }
    let mut held: [Vec<(u32, bool)>; 3] = Default::default();
    for _ in 0..40 {
        let me = random.below(3);
        let lock = random.below(2) as u32;
        let shared = random.one_in(4);
        let free = (0..3).all(|t| t == me || held[t].iter().all(|&(l, s)| l != lock || (s && shared)));
        let (op, lock) = if !random.one_in(3) && free {
            held[me].push((lock, shared));
            (if shared { Op::ReadAcquire } else { random.pick(&[Op::Acquire, Op::Acquire, Op::TryAcquire]) }, lock)
        } else if held[me].is_empty() {
            (Op::Request, lock)
        } else {
            let k = random.below(held[me].len());
            let (lock, shared) = held[me].remove(k);
            (if shared { Op::ReadRelease } else { Op::Release }, lock)
        };
        if op != Op::Request || random.one_in(20) {
            batch.events.push(Event::new(ThreadId(me as u32), op, lock, SiteId(0)));
        }
        if batch.events.len() > 12 {
            break;
        }
    }
    batch.push_init(event::StrId(0), event::Value::Int(0));
    Sample { names, batch, initial: Vec::new() }
}

#[test]
fn deadlocks_are_those_of_the_definition() {
    let mut random = Random(22);
    let mut found = [0; 2];
    for _ in 0..60_000 {
        let sample = locks(&mut random);
        let definition = Definition::new(&sample);
        let model = random.pick(&[Causality::WeakHb, Causality::Maximal, Causality::Maximal, Causality::FullHb]);
        let (prefix, mut requests) = prefix(&mut random, &sample, &definition, model);
        if random.one_in(8) {
            let other = random.below(sample.batch.events.len()) as u64;
            if !requests.contains(&other) {
                requests.push(other);
            }
        }
        if random.one_in(2) {
            requests.reverse();
        }
        while requests.len() > 2 && !random.one_in(4) {
            requests.remove(random.below(requests.len()));
        }
        let plain: Vec<usize> = prefix.iter().map(|&e| e as usize).collect();
        let asked: Vec<usize> = requests.iter().map(|&e| e as usize).collect();
        let expected = definition.feasible(model, &prefix, false).is_ok()
            && (requests.is_empty() || definition.deadlock(&plain, &asked));
        let checked =
            witness::check_deadlock(model, &sample.names, &sample.batch, &sample.initial(), &prefix, &requests);
        assert_eq!(checked.is_ok(), expected, "{model:?} {prefix:?} {requests:?} {checked:?}\n{}", sample.show());
        found[usize::from(expected && !requests.is_empty())] += 1;
    }
    println!("deadlocks: {} refused, {} accepted", found[0], found[1]);
    assert!(found[1] > 200 && found[0] > 500, "{found:?}");
}

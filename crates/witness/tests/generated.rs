//! Generated traces with all operations: the recorded order is feasible in every model, what breaks it is refused.

use event::{Causality, Value};
use generate::{Generator, Options};
use std::collections::BTreeSet;
use trace::Trace;
use witness::NoSchedule;

#[test]
fn the_recorded_run_is_feasible_in_every_model() {
    for seed in 0..8 {
        let options = Options { events: 10_000, seed, all_ops: true, values: seed % 2 == 0, ..Options::default() };
        let trace = Trace::read(&mut Generator::new(options).expect("options")).expect("a trace");
        let recorded: Vec<u64> = (0..10_000).collect();
        for model in Causality::ALL {
            let check = |schedule: &[u64]| {
                witness::check(model, &trace.names, &trace.batch, &|_| Value::Unknown, schedule, false)
            };
            assert_eq!(check(&recorded).map(|checked| checked.terminal_read), Ok(false), "{model:?}, seed {seed}");
            let mut late = recorded.clone();
            let first = late.remove(0);
            late.push(first);
            assert!(check(&late).is_err(), "{model:?}, seed {seed}");
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

#[test]
fn what_is_built_is_feasible() {
    let mut random = Random(5);
    let (mut built, mut impossible, mut moved) = (0, 0, 0);
    for seed in 0..6 {
        let options = Options { events: 10_000, seed, all_ops: true, quantum: 10.0, ..Options::default() };
        let trace = Trace::read(&mut Generator::new(options).expect("options")).expect("a trace");
        for _ in 0..60 {
            // Some essential events in recorded order, two of which are swapped.
            let from = random.below(5_000);
            let some: BTreeSet<u64> = (0..40).map(|_| from + random.below(2_000)).collect();
            let mut list: Vec<u64> = some.iter().copied().collect();
            let k = random.below(list.len() as u64 - 1) as usize;
            list.swap(k, k + 1);
            list.truncate(k + 2 + random.below(8) as usize);
            let model = [Causality::FullHb, Causality::SyncOnly][k % 2];
            let is_essential = |e: u64| some.contains(&e);
            match witness::build(model, &trace.names, &trace.batch, from, &list, &is_essential) {
                Ok(schedule) => {
                    let checked =
                        witness::check(model, &trace.names, &trace.batch, &|_| Value::Unknown, &schedule, false);
                    assert!(checked.is_ok(), "{model:?} {checked:?}");
                    assert_eq!(schedule.last(), list.last());
                    let shown: Vec<u64> = schedule.iter().copied().filter(|&e| is_essential(e)).collect();
                    assert_eq!(shown, list);
                    built += 1;
                    moved += witness::moved(&schedule).into_iter().filter(|&moved| moved).count();
                }
                Err(NoSchedule::MissingPredecessor(_)) => impossible += 1,
                Err(error) => panic!("{error}"),
            }
        }
    }
    println!("{built} built, {impossible} impossible, {moved} events moved");
    assert!(built > 50 && impossible > 20, "{built} {impossible}");
}

//! How long it takes to check and to build witnesses of five million events.

use event::{Batch, Names, Value};
use generate::{Generator, Options};
use std::time::Instant;
use trace::Trace;
use witness::{Model, Rules};

const EVENTS: u64 = 5_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for all_ops in [false, true] {
        let options = Options { events: EVENTS, values: true, all_ops, ..Options::default() };
        let trace = Trace::read(&mut Generator::new(options)?)?;
        println!("{EVENTS} events{}", if all_ops { ", all operations" } else { "" });
        check(&trace.names, &trace.batch)?;
        build(&trace.names, &trace.batch);
    }
    Ok(())
}

fn check(names: &Names, batch: &Batch) -> Result<(), witness::Refused> {
    let recorded: Vec<u64> = (0..batch.events.len() as u64).collect();
    for model in Model::ALL {
        let start = Instant::now();
        witness::check(model, names, batch, &|_| Value::Unknown, &recorded, false)?;
        println!("  check {model:?}: {:.3} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// Swaps two events of different threads at the beginning or the end, and ends with the last event.
fn build(names: &Names, batch: &Batch) {
    let thread = |e: u64| batch.events[e as usize].thread();
    for (place, near) in [("the end", EVENTS - 2_000), ("the beginning", 2_000)] {
        let swaps = (near..EVENTS).map(|a| [a + 1, a, EVENTS - 1]);
        let mut swaps = swaps.filter(|&[b, a, _]| thread(a) != thread(b));
        for rules in [Rules::FullHb, Rules::Common] {
            let start = Instant::now();
            let built = swaps.find_map(|list| {
                let start = Instant::now();
                let schedule = witness::build(rules, names, batch, 0, &list, &|e| list.contains(&e)).ok()?;
                Some((schedule, start.elapsed()))
            });
            let Some((schedule, took)) = built else { continue };
            print!("  build {rules:?}, first deviation near {place}: {:.3} s", took.as_secs_f64());
            let tried = start.elapsed();
            let start = Instant::now();
            let moved = witness::moved(&schedule).into_iter().filter(|&moved| moved).count();
            println!(
                ", {moved} moved ({:.3} s; {:.3} s with failed tries)",
                start.elapsed().as_secs_f64(),
                tried.as_secs_f64()
            );
        }
    }
}

//! Measures how long it takes to check and to build witnesses of five million events.

use event::{Batch, Causality, Names, Value};
use generate::{Generator, Options};
use std::time::Instant;
use trace::Trace;

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

fn check(names: &Names, batch: &Batch) -> Result<(), witness::Refusal> {
    let recorded: Vec<u64> = (0..batch.events.len() as u64).collect();
    for model in Causality::ALL {
        let start = Instant::now();
        witness::check(model, names, batch, &|_| Value::Unknown, &recorded, false)?;
        println!("  check {model:?}: {:.3} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// Swaps two events of different threads at the beginning or the end, and ends with the last event; or leaves a
/// thread out from the beginning on, so that all has to be sorted.
fn build(names: &Names, batch: &Batch) {
    let thread = |e: u64| batch.events[e as usize].thread();
    let swap = |near: u64| (near..EVENTS - 2).map(|a| vec![a + 1, a]).find(|s| thread(s[0]) != thread(s[1]));
    let without = (EVENTS / 10..EVENTS).find(|&e| thread(e) != thread(EVENTS / 2));
    let cases = [
        ("swapped near the end", Causality::FullHb, swap(EVENTS - 2_000), EVENTS - 1, None),
        ("swapped near the beginning", Causality::FullHb, swap(2_000), EVENTS - 1, None),
        ("a thread left out", Causality::Maximal, Some(vec![]), EVENTS / 2, without),
    ];
    for (case, model, first, last, left_out) in cases {
        let mut list = first.unwrap_or_default();
        list.push(last);
        let start = Instant::now();
        let built = witness::build(model, names, batch, 0, &list, &|e| list.contains(&e) || Some(e) == left_out);
        let took = start.elapsed().as_secs_f64();
        match built {
            Err(error) => println!("  build {model:?}, {case}: {error} ({took:.3} s)"),
            Ok(schedule) => {
                let start = Instant::now();
                let moved = witness::moved(&schedule).into_iter().filter(|&moved| moved).count();
                let marked = start.elapsed().as_secs_f64();
                println!(
                    "  build {model:?}, {case}: {took:.3} s, {} events, {moved} moved ({marked:.3} s)",
                    schedule.len()
                );
            }
        }
    }
}

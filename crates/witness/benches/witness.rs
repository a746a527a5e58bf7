//! How long it takes to check and to build witnesses of five million events.

use event::{Batch, Names, Value};
use generate::{Generator, Options};
use std::time::Instant;
use trace::Trace;
use witness::Model;

const EVENTS: u64 = 5_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for all_ops in [false, true] {
        let options = Options { events: EVENTS, values: true, all_ops, ..Options::default() };
        let trace = Trace::read(&mut Generator::new(options)?)?;
        println!("{EVENTS} events{}", if all_ops { ", all operations" } else { "" });
        check(&trace.names, &trace.batch)?;
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

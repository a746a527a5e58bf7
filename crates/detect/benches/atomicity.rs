//! Events a second of the atomicity detector, from events in memory, on one core.
//!
//! `cargo bench -p foretrace-detect --bench atomicity [-- EVENTS]`; asked are 5 million on the trace of
//! `foretrace gen --events 10000000 --txn`.

use detect::atomicity::Atomicity;
use generate::{Generator, Options};
use std::time::Instant;
use trace::Trace;

const EVENTS: u64 = 10_000_000;

fn measure(what: &str, options: Options) {
    let mut generator = Generator::new(options).expect("these options make sense");
    let trace = Trace::read(&mut generator).expect("a generator does not fail");
    let events = trace.batch.events.len() as f64 / 1e6;
    let timed = || {
        let started = Instant::now();
        let mut atomicity = Atomicity::new();
        atomicity.batch(&trace.names, &trace.batch);
        (started.elapsed().as_secs_f64(), atomicity.finish())
    };
    let best = (0..5).map(|_| timed()).min_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((seconds, found)) = best {
        let speed = events / seconds;
        println!("{what:>12}  {speed:6.1} M events/s  {} of {} blocks violated", found.violated, found.blocks);
    }
}

fn main() {
    let events = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(EVENTS);
    let txn = Options { events, txn: true, ..Options::default() };
    measure("txn", txn.clone());
    measure("violated", Options { viol: Some(events / 2), ..txn.clone() });
    measure("racy", Options { racy: 0.05, ..txn.clone() });
    measure("128 threads", Options { threads: 128, ..txn.clone() });
    measure("churn", Options { churn: 0.01, ..txn.clone() });
    measure("all ops", Options { all_ops: true, ..txn });
}

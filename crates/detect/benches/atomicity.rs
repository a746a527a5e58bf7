//! Events a second of the atomicity detector, from events in memory, on one core; then the search for predicted
//! violations.
//!
//! `cargo bench -p foretrace-detect --bench atomicity [-- EVENTS]`; asked are 5 million on the trace of
//! `foretrace gen --events 10000000 --txn`.

use detect::Search;
use detect::atomicity::{Atomicity, predict};
use event::Value;
use generate::{Generator, Options};
use std::time::Instant;
use trace::Trace;
use trace::text::TextReader;

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

fn search(what: &str, options: Options) {
    let mut generator = Generator::new(options).expect("these options make sense");
    search_in(what, &Trace::read(&mut generator).expect("a generator does not fail"));
}

/// Blocks of a few accesses without locks, at a few sites: most of them can be violated.
fn unlocked(events: u64) -> Trace {
    let mut text = String::new();
    let mut random = 1u64;
    let mut below = |bound: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % bound
    };
    let mut inside = [0; 8];
    for _ in 0..events {
        let thread = below(8);
        let left = &mut inside[thread as usize];
        let (var, site) = (below(50), below(20));
        text += &match *left {
            0 => format!("T{thread}|begin(b{})|begin\n", below(4)),
            1 => format!("T{thread}|end|end\n"),
            _ => format!("T{thread}|{}(v{var})|s{site}\n", if below(3) == 0 { "w" } else { "r" }),
        };
        *left = if *left == 0 { 7 } else { *left - 1 };
    }
    Trace::read(&mut TextReader::new(text.as_bytes())).expect("it is a trace")
}

fn search_in(what: &str, trace: &Trace) {
    let mut atomicity = Atomicity::new();
    atomicity.batch(&trace.names, &trace.batch);
    let observed = atomicity.finish();
    let started = Instant::now();
    let found = predict(&trace.names, &trace.batch, &|_| Value::Unknown, None, &observed, &Search::default());
    let (seconds, events) = (started.elapsed().as_secs_f64(), trace.batch.events.len());
    println!(
        "{what:>12}  {seconds:.2} s for {events} events: {} found, {} asked, {} undecided, {} left out",
        found.found.len(),
        found.asked,
        found.undecided,
        found.left_out
    );
}

fn main() {
    let events = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(EVENTS);
    let txn = Options { events, txn: true, ..Options::default() };
    measure("txn", txn.clone());
    measure("violated", Options { viol: Some(events / 2), ..txn.clone() });
    measure("racy", Options { racy: 0.05, ..txn.clone() });
    measure("128 threads", Options { threads: 128, ..txn.clone() });
    measure("churn", Options { churn: 0.01, ..txn.clone() });
    measure("all ops", Options { all_ops: true, ..txn.clone() });
    let short = Options { events: events.min(200_000), ..txn };
    search("txn", short.clone());
    search("few vars", Options { vars: 200, racy: 0.05, ..short.clone() });
    search("all ops", Options { all_ops: true, racy: 0.05, vars: 200, ..short });
    search_in("unlocked", &unlocked(events.min(20_000)));
}

//! Events a second of the lock-order detector, from events in memory, and what its search and its memory come to.
//!
//! `cargo bench -p foretrace-detect --bench lock_order`; `--quick` for a tenth of the events.

use detect::lock_order::{LockOrder, LockOrderOptions};
use event::Batch;
use generate::{Generator, Options};
use std::time::Instant;
use trace::Source;

const ASKED: f64 = 20.0;

/// Seconds that this thread has worked, so that others on the machine do not count; else the seconds passed.
fn clock(begun: Instant) -> f64 {
    let worked = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let worked = worked.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    worked.map_or_else(|| begun.elapsed().as_secs_f64(), |nanoseconds| nanoseconds as f64 / 1e9)
}

/// The memory of this process now, in MB.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| kb / 1024)
}

fn run(name: &str, options: Options) -> Result<(), Box<dyn std::error::Error>> {
    let mut generator = Generator::new(options)?;
    let mut batches = vec![Batch::default()];
    while generator.next_batch(batches.last_mut().ok_or("no batch")?)? {
        batches.push(Batch::default());
    }
    let events: usize = batches.iter().map(|batch| batch.events.len()).sum();
    let before = resident().unwrap_or(0);
    let begun = Instant::now();
    let mut best = f64::INFINITY;
    let mut detector = LockOrder::new(LockOrderOptions::default());
    for _ in 0..3 {
        detector = LockOrder::new(LockOrderOptions::default());
        let start = clock(begun);
        for batch in &batches {
            detector.batch(generator.names(), batch);
        }
        best = best.min(clock(begun) - start);
    }
    let start = clock(begun);
    let report = detector.finish();
    let search = clock(begun) - start;
    let memory = resident().unwrap_or(0).saturating_sub(before);
    let rate = events as f64 / best / 1e6;
    let slow = if rate < ASKED { "  SLOW" } else { "" };
    let cut = if report.complete { "" } else { ", cut short" };
    println!("{name:>12} {events:>11} {rate:>10.1} {ASKED:>6.0} {search:>10.3} {memory:>7} MB{slow}");
    let (reported, more, searched) = (report.cycles.len(), report.left_out, report.searched);
    println!(
        "{:>12} {reported} cycles and {more} more, of up to {searched} threads{cut}; {} unrecorded",
        "", report.unrecorded
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let events = if std::env::args().any(|arg| arg == "--quick") { 1_000_000 } else { 10_000_000 };
    let base = Options { events, vars: 100_000, nest: 0.1, rev: 0.001, ..Options::default() };
    println!("                  events M events/s  asked   search s     memory");
    run("8 threads", base.clone())?;
    run("128 threads", Options { threads: 128, ..base.clone() })?;
    run("10000 locks", Options { locks: 10_000, ..base.clone() })?;
    run("every op", Options { all_ops: true, churn: 0.01, ..base.clone() })?;
    run("only locks", Options { pcs: 1.0, cslen: 1.0, nest: 0.5, ..base })
}

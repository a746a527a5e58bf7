//! All races of windows of generated traces: how long a window takes, and how many pairs stay undecided.
//!
//! `cargo bench -p foretrace-detect --bench maximal [-- small | large]`; asked are 95 of 100 windows of 1000 events of
//! 8 threads decided completely in less than a second each.

use detect::maximal::{KnownRaces, Maximal, Options as Limits, Report};
use event::Value;
use generate::{Generator, Options};
use reach::Windows;
use std::time::{Duration, Instant};
use trace::Trace;

/// A kind of program.
struct Shape {
    name: &'static str,
    options: Options,
}

fn shapes(events: u64, seed: u64) -> Vec<Shape> {
    let base = Options { events, threads: 8, vars: 200, locks: 8, seed, quantum: 6.0, ..Options::default() };
    let shape = |name, options| Shape { name, options };
    vec![
        shape("plain", Options { vars: 1000, locks: 100, ..base.clone() }),
        shape("few locks", Options { vars: 50, locks: 2, pcs: 0.3, racy: 0.02, ..base.clone() }),
        shape("many locks", Options { vars: 200, locks: 60, pcs: 0.3, racy: 0.05, ..base.clone() }),
        shape("racy", Options { vars: 50, locks: 4, racy: 0.5, writes: 0.4, ..base.clone() }),
        shape("racy, locks", Options { vars: 50, locks: 4, pcs: 0.4, racy: 0.5, cslen: 3.0, ..base.clone() }),
        shape(
            "nested",
            Options { vars: 100, locks: 10, pcs: 0.4, nest: 0.6, rev: 0.3, racy: 0.1, cslen: 3.0, ..base.clone() },
        ),
        shape("values", Options { vars: 50, locks: 4, pcs: 0.2, racy: 0.2, values: true, ..base.clone() }),
        shape("values, racy", Options { vars: 50, locks: 4, racy: 0.6, values: true, ..base.clone() }),
        shape("readers", Options { vars: 60, locks: 4, pcs: 0.3, readers: 0.5, racy: 0.1, ..base.clone() }),
        shape(
            "all",
            Options { vars: 100, locks: 8, pcs: 0.2, racy: 0.1, all_ops: true, values: true, waits: 0.1, ..base },
        ),
    ]
}

fn run(options: Options, limit: Duration) -> (f64, Report) {
    let size = options.events as usize;
    let trace = Trace::read(&mut Generator::new(options).expect("options")).expect("a trace");
    let started = Instant::now();
    let limits = Limits { per_window: Some(limit), ..Limits::default() };
    let mut maximal = Maximal::new(limits, KnownRaces::default());
    for window in Windows::new(&trace.names, &trace.batch, size) {
        maximal.window(&trace.names, &window, &|_| Value::Unknown);
    }
    (started.elapsed().as_secs_f64(), maximal.finish())
}

fn small() {
    let (mut windows, mut decided) = (0, 0);
    for number in 0..shapes(1, 1).len() {
        let (mut worst, mut sum) = (0f64, 0f64);
        let mut total = detect::maximal::Looked::default();
        let (mut name, mut racy, mut whole) = ("", 0, 0);
        for seed in 0..10 {
            let shape = shapes(1000, seed).swap_remove(number);
            name = shape.name;
            let (seconds, report) = run(shape.options, Duration::from_secs(1));
            let looked = report.looked;
            total.pairs += looked.pairs;
            total.asked += looked.asked;
            total.undecided += looked.undecided;
            racy += report.races.racy_events;
            whole += u64::from(looked.undecided == 0);
            worst = worst.max(seconds);
            sum += seconds;
        }
        windows += 10;
        decided += whole;
        println!(
            "{name:>14}  {whole:>2} of 10 windows decided  mean {:7.1} ms  worst {:7.1} ms  \
             {:>7} pairs, {:>6} asked, {:>5} undecided  {racy} racy events",
            sum * 100.0,
            worst * 1e3,
            total.pairs + total.undecided,
            total.asked,
            total.undecided
        );
    }
    println!("{decided} of {windows} windows of 1000 events decided in less than a second each");
}

fn large() {
    for shape in shapes(10_000, 1) {
        let (seconds, report) = run(shape.options, Duration::from_secs(60));
        let looked = report.looked;
        println!(
            "{:>14}  10000 events  {seconds:7.2} s  {:>8} pairs, {:>7} asked, {:>6} undecided  {} racy events",
            shape.name,
            looked.pairs + looked.undecided,
            looked.asked,
            looked.undecided,
            report.races.racy_events
        );
    }
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wants = |what: &str| wanted.is_empty() || wanted.iter().any(|arg| arg == what);
    if wants("small") {
        small();
    }
    if wants("large") {
        large();
    }
}

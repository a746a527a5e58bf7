//! Seconds that the deadlock detector takes on generated traces, from events in memory, and what it finds.
//!
//! `cargo bench -p foretrace-detect --bench deadlock`; `--quick` for a tenth of the events.

use detect::deadlock::{DeadlockOptions, Evidence, deadlocks};
use detect::sync_preserving::OnDemand;
use event::{Id, Value, VarId};
use generate::{Generator, Options};
use std::time::{Duration, Instant};
use trace::Trace;

fn run(name: &str, trace: &Trace) {
    let values: Vec<Value> = (0..trace.names.space(event::Space::Var).len() as u32)
        .map(|var| {
            let name = trace.names.var(VarId(var));
            let reported = trace.batch.inits.iter().find(|init| trace.names.str(init.name) == name);
            reported.map_or(Value::Unknown, |init| init.value)
        })
        .collect();
    let initial = |var: VarId| values.get(var.index()).copied().unwrap_or_default();
    for window in [0, 10_000] {
        let start = Instant::now();
        let deadline = Some(start + Duration::from_secs(60));
        let options = DeadlockOptions { window, deadline, ..DeadlockOptions::default() };
        let report = deadlocks(&mut OnDemand::new(&trace.names, &trace.batch), &initial, &options);
        let seconds = start.elapsed().as_secs_f64();
        let of = |evidence| report.deadlocks.iter().filter(|deadlock| deadlock.evidence == evidence).count();
        println!("{name:>16} {:>9} events, window {window:>6}: {seconds:>7.2} s", trace.batch.events.len());
        println!(
            "{:>16} {} patterns{}, {} candidates: {} observed, {} sync-preserving, {} maximal; {} undecided, {} apart",
            "",
            report.patterns,
            if report.all_patterns { "" } else { " (not all)" },
            report.candidates,
            of(Evidence::Observed),
            of(Evidence::SyncPreserving),
            of(Evidence::Maximal),
            report.undecided,
            report.apart
        );
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let events = if std::env::args().any(|arg| arg == "--quick") { 100_000 } else { 1_000_000 };
    let base = Options { events, vars: 10_000, nest: 0.1, rev: 0.02, ..Options::default() };
    let made = |options: Options| -> Result<Trace, Box<dyn std::error::Error>> {
        Ok(Trace::read(&mut Generator::new(options)?)?)
    };
    run("8 threads", &made(base.clone())?);
    run("128 threads", &made(Options { threads: 128, ..base.clone() })?);
    run("every op", &made(Options { all_ops: true, churn: 0.01, ..base.clone() })?);
    run("only locks", &made(Options { pcs: 1.0, cslen: 1.0, nest: 0.5, ..base })?);
    Ok(())
}

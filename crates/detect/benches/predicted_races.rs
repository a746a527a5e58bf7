//! Seconds that sync-preserving races and reversals take, from events in memory, on one core.
//!
//! `cargo bench -p foretrace-detect --bench predicted_races`; asked are less than 1 s for the server's trace, and less
//! than 5 s for a million events.

use detect::sync_preserving::{Options, SyncPreserving};
use generate::Generator;
use std::time::Instant;
use trace::Trace;

fn measure(what: &str, options: generate::Options) {
    let mut generator = Generator::new(options).expect("these options make sense");
    let trace = Trace::read(&mut generator).expect("a generator does not fail");
    let started = Instant::now();
    let mut predictor = SyncPreserving::new(&trace.names, &trace.batch).expect("few threads");
    let prepared = started.elapsed().as_secs_f64();
    let found = predictor.races(&Options { optimistic: false, ..Options::default() });
    let preserving = started.elapsed().as_secs_f64();
    let all = predictor.races(&Options::default());
    let both = started.elapsed().as_secs_f64() - (preserving - prepared);
    assert_eq!(found.sync_preserving, all.sync_preserving);
    println!(
        "{what:>12}  {:8} events  prepared {prepared:.3} s, sync-preserving {preserving:.3} s, \
         with reversals {both:.3} s: {} + {} racy events, {} unexamined",
        trace.batch.events.len(),
        all.sync_preserving.racy_events,
        all.optimistic.racy_events,
        all.unexamined_reversals
    );
}

fn main() {
    let plain = generate::Options::default();
    let server = generate::Options {
        events: 75_000,
        threads: 12,
        vars: 2_000,
        locks: 50,
        readers: 0.3,
        waits: 0.02,
        churn: 0.01,
        racy: 0.01,
        ..plain.clone()
    };
    measure("server", server);
    if std::env::args().any(|arg| arg == "server") {
        return;
    }
    measure("plain", plain.clone());
    measure("racy", generate::Options { racy: 0.05, pcs: 0.002, ..plain.clone() });
    measure("racy locks", generate::Options { racy: 0.05, ..plain.clone() });
    measure("128 threads", generate::Options { threads: 128, ..plain.clone() });
    measure("128 racy", generate::Options { threads: 128, racy: 0.05, ..plain.clone() });
    measure("churn", generate::Options { churn: 0.01, ..plain.clone() });
    measure("all ops", generate::Options { all_ops: true, ..plain });
}

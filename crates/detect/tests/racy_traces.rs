//! Generated traces with many races, locks and short turns.

use generate::Generator;
use trace::Trace;

/// A trace of so many events and threads, the same for the same seed.
pub(crate) fn make(events: u64, threads: u32, seed: u64, all_ops: bool) -> Trace {
    let options = generate::Options {
        events,
        threads,
        vars: 24,
        locks: 4,
        seed,
        quantum: 4.0,
        cslen: 3.0,
        pcs: [0.05, 0.2, 0.4][seed as usize % 3],
        racy: 0.3,
        nest: 0.3,
        rev: 0.2,
        readers: 0.2,
        waits: 0.1,
        churn: if seed.is_multiple_of(2) { 0.05 } else { 0.0 },
        all_ops,
        ..generate::Options::default()
    };
    let mut generator = Generator::new(options).expect("these options make sense");
    Trace::read(&mut generator).expect("a generator does not fail")
}

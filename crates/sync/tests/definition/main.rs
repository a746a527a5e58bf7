//! Both trackers against the definitions of docs/causality.md, by brute force, on traces with and without problems.

mod held;
mod random;
mod wakeups;

use generate::{Generator, Options};
use trace::Trace;

/// How many random traces each test looks at.
fn cases() -> u64 {
    std::env::var("FORETRACE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000)
}

/// Generated runs, which have no problems.
fn runs() -> impl Iterator<Item = Trace> {
    (0..cases().div_ceil(50)).map(|seed| {
        let options = Options {
            events: 400,
            threads: 2 + seed as u32 % 6,
            locks: 1 + seed as u32 % 4,
            pcs: 0.4,
            nest: 0.4,
            readers: 0.3,
            waits: 0.3,
            all_ops: seed % 2 == 0,
            stranded: seed % 3 == 0,
            seed,
            ..Options::default()
        };
        Trace::read(&mut Generator::new(options).expect("these options make sense")).expect("it is a trace")
    })
}

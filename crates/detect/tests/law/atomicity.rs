//! `atomicity`: the recorded run, at the events that close cycles.

use crate::Case;
use detect::atomicity::Atomicity;
use law::cases;
use std::collections::BTreeSet;

#[test]
fn the_recorded_run_is_serialisable_or_told() {
    let mut found = 0;
    for seed in 0..cases(40_000) {
        let case = Case::with_sites(4 << 32 | seed);
        let mut atomicity = Atomicity::new();
        atomicity.batch(&case.trace.names, &case.trace.batch);
        let report = atomicity.finish();
        let told: Vec<(usize, usize)> =
            report.found.iter().map(|found| (found.closed().event as usize, found.begin.event as usize)).collect();
        let recorded: Vec<usize> = (0..case.law.events().len()).collect();
        let closing = case.law.closing(&recorded);
        let shown = || format!("{report:?} {closing:?} seed {seed}\n{}", case.text);
        assert_eq!(told.is_empty(), case.law.serialisable(&recorded), "{}", shown());
        assert_eq!(told.first(), closing.first(), "{}", shown());
        let blocks: BTreeSet<usize> = told.iter().map(|told| told.1).collect();
        assert_eq!(blocks.len(), told.len(), "twice: {}", shown());
        assert!(blocks.is_subset(&case.law.observed_atomicity()), "{}", shown());
        for told in &told {
            assert!(closing.contains(told), "{}", shown());
        }
        assert_eq!(report.blocks as usize, case.law.transactions().blocks.len(), "{}", shown());
        assert_eq!((report.violated as usize, report.left_out), (told.len(), 0), "{}", shown());
        found += told.len();
    }
    println!("{found} violated blocks");
    assert!(found > 0);
}

//! The traces of the research tool RAPID, and a race behind a lock.

use crate::checked;
use detect::hb::Hb;
use detect::sync_preserving::{Options, SyncPreserving};
use std::fs::File;
use std::path::Path;
use trace::Trace;
use trace::text::TextReader;

fn read(name: &str) -> Trace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(name);
    Trace::read(&mut TextReader::new(File::open(path).expect("it is there"))).expect("it is a trace")
}

/// Racy events and sites, as RAPID's SyncP counts them.
#[test]
fn it_counts_what_rapid_counts() {
    let expected = [
        ("account", (3, 1)),
        ("mergesort", (3, 1)),
        ("twostage", (4, 1)),
        ("clean", (60, 4)),
        ("bubblesort", (269, 5)),
        ("readerswriters", (199, 4)),
    ];
    let counted = expected.map(|(name, _)| {
        let trace = read(&format!("traces/{name}.std"));
        let mut predictor = SyncPreserving::new(&trace.names, &trace.batch);
        let found = predictor.races(&Options::default()).sync_preserving;
        for race in &found.races {
            assert!(checked(&trace, &mut predictor, [race.earlier.event, race.later.event]).is_some());
        }
        (name, (found.racy_events, found.racy_sites))
    });
    assert_eq!(counted, expected);
}

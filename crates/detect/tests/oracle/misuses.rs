//! `misuse`: exactly the events that misuse something, on traces that need not make sense.

use detect::misuse::{Misuses, What};
use oracle::cases;
use oracle::misuses::{Misuse, misuses};
use oracle::random::Random;
use oracle::recorded::Recorded;
use std::collections::BTreeSet;
use trace::Trace;
use trace::text::TextReader;

/// Anything, in any order; every event at a site of its own.
fn senseless(r: &mut Random) -> String {
    const OPS: [&str; 16] = [
        "acq(l)",
        "acq(k)",
        "rel(l)",
        "rel(k)",
        "tacq(l)",
        "racq(l)",
        "rrel(l)",
        "req(l)",
        "wait(c,l)",
        "woken(c,l)",
        "woken(d,l)",
        "alloc(x)",
        "free(x)",
        "r(x)",
        "armw(x)",
        "w(y)",
    ];
    (0..r.below(12)).map(|site| format!("{}|{}|{site}\n", r.pick(&["A", "B"]), r.pick(&OPS))).collect()
}

#[test]
fn misuses_are_those_that_there_are() {
    let mut counts = [0; 3];
    let count = cases(40_000);
    for seed in 0..count {
        let text = senseless(&mut Random::new(6 << 32 | seed));
        let trace = Trace::read(&mut TextReader::new(text.as_bytes())).expect("a trace");
        let mut pass = Misuses::new();
        pass.batch(&trace.names, &trace.batch);
        let found = pass.finish();
        let how = |what| match what {
            What::Unlock(..) => Misuse::Unlock,
            What::WaitsForItself(..) => Misuse::Itself,
            What::AfterFree(..) => Misuse::Freed,
            What::Noted(..) => unreachable!("there are no notes"),
        };
        let reported: BTreeSet<_> = found.misuses.iter().map(|m| (m.at.event as usize, how(m.what))).collect();
        let expected = misuses(&Recorded::new(&trace.names, &trace.batch).events);
        assert_eq!(reported, expected, "seed {seed}\n{text}");
        assert_eq!((found.misuses.len(), found.left_out), (reported.len(), 0), "seed {seed}\n{text}");
        let unlocks = reported.iter().filter(|(_, how)| *how == Misuse::Unlock).map(|&(event, _)| event as u64);
        assert!(found.unlocks.iter().copied().eq(unlocks), "seed {seed}\n{text}");
        reported.iter().for_each(|&(_, how)| counts[how as usize] += 1);
    }
    println!("{counts:?}");
    assert!(counts.iter().all(|&n| n > count / 200), "{counts:?}");
}

//! Searches end soon after their deadline, on windows that are hard for them.

use detect::Search;
use detect::atomicity::{Atomicity, predict};
use detect::maximal::{KnownRaces, Maximal, Options};
use event::{Value, VarId};
use oracle::random::Random;
use oracle::read;
use reach::Windows;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Far more than the time that is given, for slow machines; far less than the searches would take.
const LATE: Duration = Duration::from_secs(30);

#[test]
fn many_wake_ups_in_a_window() {
    let mut r = Random::new(1);
    let mut text = String::new();
    for _ in 0..640 {
        let t = 1 + r.below(15);
        let _ = write!(
            text,
            "T{t}|r(go)=0|1\nT{t}|acq(l)|2\nT{t}|wait(c,l)|3\nT0|acq(l)|4\nT0|w(go)=1|5\nT0|notify(c)|6\n"
        );
        let _ = write!(text, "T0|w(go)=0|7\nT0|rel(l)|8\nT{t}|woken(c,l)|9\nT{t}|rel(l)|10\n");
    }
    let trace = read(&text);
    let begun = Instant::now();
    let options = Options { deadline: Some(begun + Duration::from_millis(300)), ..Options::default() };
    let mut maximal = Maximal::new(options, KnownRaces::default());
    for window in Windows::new(&trace.names, &trace.batch, 10_000) {
        maximal.window(&trace.names, &window, &|_: VarId| Value::Unknown);
    }
    assert!(maximal.finish().looked.undecided > 0);
    assert!(begun.elapsed() < LATE, "{:?}", begun.elapsed());
}

#[test]
fn long_blocks_of_many_sites() {
    let mut r = Random::new(1);
    let mut text = String::from("T0|begin(a)|b\nT1|begin(b)|b\n");
    for site in 0..9_900 {
        let _ = writeln!(text, "T{}|{}(v{})|{site}", r.below(2), ["r", "w"][r.below(2)], r.below(400));
    }
    let trace = read(&text);
    let begun = Instant::now();
    let search = Search { deadline: Some(begun + Duration::from_millis(300)), ..Search::default() };
    let mut recorded = Atomicity::new();
    recorded.batch(&trace.names, &trace.batch);
    let found = predict(&trace.names, &trace.batch, &|_: VarId| Value::Unknown, None, &recorded.finish(), &search);
    assert_eq!(found.unasked, 1);
    assert!(begun.elapsed() < LATE, "{:?}", begun.elapsed());
}

//! `lost-wakeup`: exactly the wake-ups that some run loses.

use crate::Case;
use detect::Search;
use detect::lost_wakeup::{LostWakeups, Wakeup, predict};
use event::Causality;
use oracle::cases;
use oracle::wakeups::Wait;
use std::collections::BTreeSet;
use witness::check_lost_wakeup;

fn wait(wakeup: &Wakeup) -> Wait {
    let [wait, notify, test] = [wakeup.wait, wakeup.notify, wakeup.test].map(|place| place.event as usize);
    Wait { wait, notify, test }
}

#[test]
fn lost_wake_ups_are_those_that_there_are() {
    let (mut lost_ones, mut observed_ones) = (0, 0);
    let count = cases(40_000);
    for seed in 0..count {
        let case = Case::random(5 << 32 | seed);
        let (names, batch) = (&case.trace.names, &case.trace.batch);
        let mut pass = LostWakeups::new();
        pass.batch(names, batch);
        let waits = pass.finish();
        let initial = |var| case.initial(var);
        let found = predict(names, batch, &initial, &waits, &Search { window: 100, ..Search::default() });
        let shown = || format!("{waits:?} {found:?} seed {seed}\n{}", case.text);
        assert_eq!(found.undecided + found.apart + found.unasked + waits.left_out, 0, "{}", shown());

        let mut reported = BTreeSet::new();
        for lost in &found.lost {
            let wait = wait(&lost.wakeup);
            let schedule = lost.schedule.whole();
            let [w, n, t] = [wait.wait, wait.notify, wait.test].map(|e| e as u64);
            let checked = check_lost_wakeup(Causality::Maximal, names, batch, &initial, &schedule, w, n, t);
            assert_eq!(checked, Ok(()), "{}", shown());
            let order: Vec<usize> = schedule.iter().map(|&e| e as usize).collect();
            assert!(case.oracle.shows_lost_wakeup(&order, wait), "{}", shown());
            let later = (n as usize + 1..batch.events.len()).any(|e| {
                let event = &case.oracle.events()[e];
                matches!(event.op, event::Op::Notify | event::Op::NotifyAll) && event.object == lost.wakeup.cond.0
            });
            assert_eq!(lost.wakeup.later.is_some(), later, "{}", shown());
            assert!(reported.insert(wait), "twice: {}", shown());
        }
        let expected = case.oracle.lost_wakeups();
        assert_eq!(reported, expected, "{}", shown());

        let observed: BTreeSet<(usize, usize)> =
            waits.observed.iter().map(|wakeup| (wakeup.wait.event as usize, wakeup.test.event as usize)).collect();
        assert_eq!(observed, case.oracle.observed_lost_wakeups(), "{}", shown());
        lost_ones += reported.len();
        observed_ones += observed.len();
    }
    println!("{lost_ones} lost, {observed_ones} observed");
    assert!(lost_ones as u64 > count / 100 && observed_ones as u64 > count / 400);
}

/// With little memory, tests of waits are not known; no read is taken for a test that is none.
#[test]
fn who_remembers_little_claims_less_and_nothing_else() {
    let (mut all, mut known) = (0, 0);
    let count = cases(20_000);
    for seed in 0..count {
        let case = Case::random(5 << 32 | seed);
        let (names, batch) = (&case.trace.names, &case.trace.batch);
        let waits = case.oracle.waits();
        for accesses in [2, 4, 6] {
            let mut pass = LostWakeups::remembering(accesses);
            pass.batch(names, batch);
            let found = pass.finish();
            let shown = || format!("{accesses}: {found:?} {waits:?} seed {seed}\n{}", case.text);
            let claimed: Vec<Wait> = found.candidates.iter().map(wait).collect();
            assert!(claimed.iter().all(|wait| waits.contains(wait)), "{}", shown());
            let observed = case.oracle.observed_lost_wakeups();
            let is_so = |wakeup: &Wakeup| observed.contains(&(wakeup.wait.event as usize, wakeup.test.event as usize));
            assert!(found.observed.iter().all(is_so), "{}", shown());
            all += waits.len();
            known += claimed.len();
        }
    }
    println!("{known} of {all} known");
    assert!(known > all / 3 && known < all, "{known} of {all}");
}

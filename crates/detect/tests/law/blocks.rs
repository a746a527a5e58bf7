//! `atomicity` and `lost-wakeup`: what they find is so, and what they promise to find they find.

use super::Case;
use detect::Search;
use detect::atomicity::{self, Atomicity};
use detect::lost_wakeup::{self, LostWakeups};
use law::cases;
use law::wakeups::Wait;
use std::collections::BTreeSet;
use witness::Model;

#[test]
fn violations_of_the_recorded_run_and_of_others() {
    let (mut observed, mut predicted, mut possible, mut reached) = (0, 0, 0, 0);
    for seed in 0..cases(3_000) {
        let case = Case::random(seed);
        let (names, batch) = (&case.trace.names, &case.trace.batch);
        let mut atomicity = Atomicity::new();
        atomicity.batch(names, batch);
        let found = atomicity.finish();
        let order: Vec<usize> = (0..batch.events.len()).collect();
        let first = found.found.first().map(|v| (v.closed().event as usize, v.begin.event as usize));
        assert_eq!(first, case.law.closing(&order).first().copied(), "{}", case.text);
        let violated = case.law.observed_atomicity();
        for violation in &found.found {
            assert!(violated.contains(&(violation.begin.event as usize)), "{violation:?}\n{}", case.text);
        }
        observed += found.found.len();

        let initial = |var| case.initial(var);
        let search = Search { steps: 100_000, ..Search::default() };
        let more = atomicity::predict(names, batch, &initial, None, &found, &search);
        let possibly = case.law.predicted_atomicity();
        for violation in &more.found {
            let schedule = violation.schedule.whole();
            let begin = violation.begin.event;
            assert!(possibly.contains(&(begin as usize)), "{violation:?}\n{}", case.text);
            let checked = witness::check_atomicity(Model::Maximal, names, batch, &initial, &schedule, begin);
            assert_eq!(checked, Ok(()), "{violation:?}\n{}", case.text);
        }
        predicted += more.found.len();
        if violated.is_empty() && !possibly.is_empty() {
            possible += 1;
            reached += usize::from(!more.found.is_empty());
        }
    }
    println!("{observed} observed, {predicted} predicted; in {reached} of {possible} runs that show none");
    assert!(std::env::var("FORETRACE_CASES").is_ok() || observed > 50 && predicted > 50 && reached * 2 > possible);
}

#[test]
fn all_lost_wakeups() {
    let (mut lost, mut observed) = (0, 0);
    for seed in 0..cases(6_000) {
        let case = Case::random(seed);
        let (names, batch) = (&case.trace.names, &case.trace.batch);
        let mut waits = LostWakeups::new();
        waits.batch(names, batch);
        let waits = waits.finish();
        let seen: BTreeSet<(usize, usize)> =
            waits.observed.iter().map(|w| (w.wait.event as usize, w.test.event as usize)).collect();
        assert_eq!(seen, case.law.observed_lost_wakeups(), "{}", case.text);
        observed += seen.len();

        let initial = |var| case.initial(var);
        let found = lost_wakeup::predict(names, batch, &initial, &waits, &Search::default());
        let mut got = BTreeSet::new();
        for one in &found.lost {
            let [wait, notify, test] = [one.wakeup.wait, one.wakeup.notify, one.wakeup.test].map(|place| place.event);
            let schedule = one.schedule.as_ref().expect("it is predicted").whole();
            let model = Model::Maximal;
            let checked = witness::check_lost_wakeup(model, names, batch, &initial, &schedule, wait, notify, test);
            assert_eq!(checked, Ok(()), "{one:?}\n{}", case.text);
            got.insert(Wait { wait: wait as usize, notify: notify as usize, test: test as usize });
        }
        assert_eq!(got, case.law.lost_wakeups(), "{}", case.text);
        lost += got.len();
    }
    println!("{lost} lost, {observed} observed");
    assert!(std::env::var("FORETRACE_CASES").is_ok() || lost > 20, "{lost} {observed}");
}

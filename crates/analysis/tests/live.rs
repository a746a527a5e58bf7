//! Findings of a live plan come out as soon as they are known, and `finish` reports them under the same fingerprints.

use analysis::{Analysis, Control, DetectorId, End, Plan};
use event::Batch;
use report::{Finding, Status};
use std::sync::atomic::AtomicBool;
use trace::Source;
use trace::text::TextReader;

/// A race at event 2, an unlock of a lock that is not held at event 5.
const TRACE: &str =
    "main|fork(T)|a.c:1\nmain|w(x)|a.c:2\nT|w(x)|a.c:3\nT|acq(l)|a.c:4\nT|rel(l)|a.c:5\nT|rel(l)|a.c:6\n";

/// Feeds the events of a trace one by one: what each of them brought to light, and the findings at the end.
fn one_by_one(plan: Plan) -> (Vec<Vec<Finding>>, Vec<Finding>) {
    let mut source = TextReader::new(TRACE.as_bytes());
    let mut whole = Batch::default();
    assert!(source.next_batch(&mut whole).expect("a trace"));
    let mut analysis = Analysis::new(plan).expect("a plan");
    let mut drained = Vec::new();
    for (index, &event) in whole.events.iter().enumerate() {
        let batch = Batch { first: index as u64, events: vec![event], ..whole.clone() };
        analysis.feed(&source, &batch);
        drained.push(analysis.drain(&source));
    }
    let outcome = analysis.finish(&source, End::default(), &Control::none()).expect("an outcome");
    (drained, outcome.report.findings.iter().cloned().collect())
}

#[test]
fn findings_come_when_they_are_known() {
    let (drained, all) = one_by_one(Plan::new().live());
    let events: Vec<usize> = (0..drained.len()).filter(|&event| !drained[event].is_empty()).collect();
    assert_eq!(events, [2, 5]);
    for early in drained.iter().flatten() {
        assert_eq!(early.status(), Status::Observed);
        let late = all.iter().find(|late| late.fingerprint == early.fingerprint).expect("it is reported at the end");
        assert_eq!((late.kind, &late.objects, late.status()), (early.kind, &early.objects, Status::Observed));
    }
}

#[test]
fn a_plan_that_is_not_live_reports_at_the_end() {
    let (drained, all) = one_by_one(Plan::new());
    assert!(drained.iter().all(Vec::is_empty));
    let (_, live) = one_by_one(Plan::new().live());
    let prints = |all: &[Finding]| all.iter().map(|finding| finding.fingerprint.clone()).collect::<Vec<_>>();
    assert_eq!(prints(&all), prints(&live));
}

#[test]
fn only_live_detectors_look_at_a_run_that_goes_on() {
    let (_, all) = one_by_one(Plan::new().observed_only());
    let by: Vec<&str> = all.iter().map(|finding| finding.detector.as_str()).collect();
    assert!(!by.is_empty() && by.iter().all(|name| DetectorId::named(name).is_some_and(DetectorId::is_live)), "{by:?}");
}

#[test]
fn a_cancelled_analysis_says_that_it_was_interrupted() {
    let cancel = AtomicBool::new(true);
    let mut source = TextReader::new(TRACE.as_bytes());
    let mut batch = Batch::default();
    assert!(source.next_batch(&mut batch).expect("a trace"));
    let mut analysis = Analysis::new(Plan::new()).expect("a plan");
    analysis.feed(&source, &batch);
    let control = Control { cancel: &cancel, ..Control::none() };
    let outcome = analysis.finish(&source, End { error: None, interrupted: true }, &control).expect("an outcome");
    assert!(outcome.interrupted && !outcome.report.trace.complete);
}

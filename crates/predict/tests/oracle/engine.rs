//! Predictions against brute force: verdicts, counts and witnesses of every model.

use crate::case::Case;
use crate::enumerate::Oracle;
use event::{Causality, Id, Value};
use oracle::{cases, initial_values};
use predict::{Counts, Options, Prediction, Predictor};
use property::check::{Const, Settings, Steps};
use property::steps::BoundSpec;
use std::path::Path;

/// What is predicted for a case.
fn predicted(case: &Case, model: Causality, window: Option<u64>, count: bool) -> Result<Prediction, String> {
    let steps = if case.property.all_steps { Steps::All } else { Steps::Relevant };
    let settings = Settings { causality: Some(model.into()), steps: Some(steps), window, ..Settings::default() };
    let init: Vec<(String, Const)> = case.given.iter().map(|(name, n)| (name.clone(), Const::Int(*n))).collect();
    let (names, batch) = (&case.trace.names, &case.trace.batch);
    let bound = BoundSpec::new(&case.spec(), settings, &init, Path::new(""), names, batch);
    let observed = bound.judge(0, names, batch, false).map_err(|error| error.to_string())?;
    let values = initial_values(&case.trace, &case.given);
    let initial = |var: event::VarId| values.get(var.index()).copied().unwrap_or(Value::Unknown);
    let options = Options { count, ..Options::default() };
    let predictor = Predictor::new(&bound, names, batch, &initial, options);
    let mut predictions = predictor.predict_one(0, &observed).map_err(|error| error.to_string())?;
    let prediction = predictions.instances.pop().ok_or("one instance")?;
    match &prediction.refused {
        Some(refused) => Err(format!("refused: {refused}")),
        None => Ok(prediction),
    }
}

/// Whether predictions are what brute force finds; if not, the difference.
fn compare(case: &Case, model: Causality) -> Result<(), String> {
    let oracle = Oracle::new(model, &case.trace, &case.property, &case.given);
    let expected = oracle.expected();
    let prediction = predicted(case, model, None, true)?;
    if !prediction.truncated.is_empty() {
        return Err(format!("truncated: {:?}", prediction.truncated));
    }
    let counts = Counts {
        cuts: expected.cuts,
        edges: expected.edges,
        runs: expected.runs.to_string(),
        bad_runs: expected.bad_runs.to_string(),
        dead_ends: expected.dead_ends,
    };
    if prediction.counts.as_ref() != Some(&counts) {
        return Err(format!("counted {:?}\nexpected {counts:?}", prediction.counts));
    }
    let predicted = expected.some_violates && !expected.recorded_violates;
    match &prediction.predicted {
        Some(_) if !predicted => Err(format!("predicted {:?}\nexpected {expected:?}", prediction.predicted)),
        None if predicted => Err(format!("nothing predicted\nexpected {expected:?}")),
        Some(predicted) if !oracle.is_violating_witness(&predicted.schedule) => {
            Err(format!("the witness does not show it: {predicted:?}"))
        }
        _ => Ok(()),
    }
}

#[test]
fn predictions_are_what_brute_force_finds() {
    let cases = cases(20_000);
    for seed in 0..cases {
        let case = Case::random(seed);
        for model in Causality::ALL {
            if let Err(difference) = compare(&case, model) {
                panic!("seed {seed}, {model:?}\n{}{difference}", case.shown());
            }
        }
    }
}

/// Whether some order of the events of a window, behind the recorded ones before it, violates the property.
fn window_violates(oracle: &Oracle, order: &mut Vec<usize>, end: usize, start: usize) -> bool {
    if order.len() > start && oracle.violates(order) {
        return true;
    }
    (start..end).any(|e| {
        let comes = oracle.may_come(order, e);
        let ends = oracle.may_only_end(order, e);
        order.push(e);
        let violates = (comes && window_violates(oracle, order, end, start)) || (ends && oracle.violates(order));
        order.pop();
        violates
    })
}

#[test]
fn windows_are_searched_completely_and_soundly() {
    let cases = cases(6_000);
    let (mut found, mut more) = (0, 0);
    for seed in 0..cases {
        let case = Case::random(seed * 31 + 7);
        let events = case.trace.batch.events.len();
        let size = 2 + seed as usize % 6;
        for model in [Causality::WeakHb, Causality::Maximal] {
            let oracle = Oracle::new(model, &case.trace, &case.property, &case.given);
            let recorded: Vec<usize> = (0..events).collect();
            if oracle.violates(&recorded) {
                continue;
            }
            let prediction = predicted(&case, model, Some(size as u64), false);
            let prediction = prediction.unwrap_or_else(|why| panic!("seed {seed}, {model:?}\n{}{why}", case.shown()));
            let violates = (0..events).step_by(size).any(|start| {
                window_violates(&oracle, &mut recorded[..start].to_vec(), (start + size).min(events), start)
            });
            let shown = || format!("seed {seed}, {model:?}, windows of {size}\n{}{prediction:?}", case.shown());
            assert_eq!(prediction.predicted.is_some(), violates, "{}", shown());
            assert_eq!(prediction.truncated.is_empty(), events <= size, "{}", shown());
            if let Some(predicted) = &prediction.predicted {
                assert!(oracle.is_violating_witness(&predicted.schedule), "{}", shown());
                found += 1;
            } else {
                more += u64::from(oracle.expected().some_violates);
            }
        }
    }
    println!("{found} violations in windows, {more} only across them");
    assert!(found > cases / 20 && more > cases / 100);
}

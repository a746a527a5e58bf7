//! Predictions against brute force: verdicts, counts and witnesses of every model.

use crate::case::{Case, cases};
use crate::definition::Model;
use crate::enumerate::Oracle;
use crate::meaning::initial_values;
use event::{Id, Value};
use predict::{Counts, Options, Predictor};
use property::check::{Causality, Const, Knobs, Steps};
use property::steps::BoundSpec;
use std::path::Path;

/// What a difference is.
fn compare(case: &Case, model: Model) -> Result<(), String> {
    let oracle = Oracle::new(model, &case.trace, &case.property, &case.given);
    let expected = oracle.expected();
    let causality = match model {
        Model::Observed => Causality::Observed,
        Model::SyncOnly => Causality::SyncOnly,
        Model::FullHb => Causality::FullHb,
        Model::WeakHb => Causality::WeakHb,
        Model::Maximal => Causality::Maximal,
    };
    let steps = if case.property.all_steps { Steps::All } else { Steps::Relevant };
    let knobs = Knobs { causality: Some(causality), steps: Some(steps), ..Knobs::default() };
    let init: Vec<(String, Const)> = case.given.iter().map(|(name, n)| (name.clone(), Const::Int(*n))).collect();
    let (names, batch) = (&case.trace.names, &case.trace.batch);
    let bound = BoundSpec::new(&case.spec(), knobs, &init, Path::new(""), names, batch);
    let observed = bound.judge(0, names, batch).map_err(|error| error.to_string())?;
    let values = initial_values(&case.trace, &case.given);
    let initial = |var: event::VarId| values.get(var.index()).copied().unwrap_or(Value::Unknown);
    let options = Options { count: true, ..Options::default() };
    let predictor = Predictor::new(&bound, names, batch, &initial, options);
    let predictions = predictor.predict(0, &observed).map_err(|error| error.to_string())?;
    let [prediction] = predictions.instances.as_slice() else { return Err("one instance".to_owned()) };

    if let Some(refused) = &prediction.refused {
        return Err(format!("refused: {refused}"));
    }
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
        for model in Model::ALL {
            if let Err(difference) = compare(&case, model) {
                panic!("seed {seed}, {model:?}\n{}{difference}", case.shown());
            }
        }
    }
}

//! A violation planted among concurrent writes of a long generated trace is found, and none where none is.

use event::{Causality, Space, Value, VarId};
use generate::{Generator, Options};
use predict::{Prediction, Predictor};
use property::check::{Settings, TraceNames, check_formula};
use property::monitor::Verdict;
use property::steps::BoundSpec;
use std::path::Path;
use trace::Trace;

/// What `full-hb` says of the property; the recorded run does not violate it.
fn predict(options: Options) -> Prediction {
    let trace = Trace::read(&mut Generator::new(options).expect("it makes sense")).expect("it does not fail");
    let (names, batch) = (&trace.names, &trace.batch);
    let variables: Vec<&str> =
        (0..names.space(Space::Var).len()).map(|number| names.get(Space::Var, number as u32)).collect();
    let known = TraceNames { variables: &variables, locks: &[], threads: &[] };
    let (_, spec) = check_formula("never-both", "!(a == 7 && b == 7)", known);
    let settings = Settings { causality: Some(Causality::FullHb.into()), ..Settings::default() };
    let bound = BoundSpec::new(&spec.expect("a formula"), settings, &[], Path::new(""), names, batch);
    let observed = bound.judge(0, names, batch, false).expect("a monitor");
    assert!(observed.iter().all(|outcome| outcome.verdict != Verdict::Violated));
    let initial = |_: VarId| Value::Unknown;
    let predictor = Predictor::new(&bound, names, batch, &initial, predict::Options::default());
    predictor.predict_one(0, &observed).expect("a monitor").instances.remove(0)
}

#[test]
fn what_is_planted_is_found_and_nothing_else() {
    for seed in 0..20 {
        let watch = vec!["a".to_owned(), "b".to_owned()];
        let quiet = Options { events: 50_000, seed, watch, watch_every: 20.0, ..Options::default() };
        let plant = 49_000;
        let planted = predict(Options { plant: Some(plant), ..quiet.clone() });
        let found = planted.predicted.expect("the violation");
        assert!((plant..plant + 500).contains(&found.event), "{}", found.event);
        assert_eq!(found.values, [("a", "7"), ("b", "7")].map(|(name, value)| (name.to_owned(), value.to_owned())));

        let without = predict(quiet);
        let said = (without.predicted, without.refused, without.truncated, without.causality);
        assert_eq!(said, (None, None, vec![], Causality::FullHb));
    }
}

//! Properties that are searched in one pass answer as if each were alone.

use super::garbage::count;
use super::logics::{PROPERTIES, program};
use super::shared::{initial, read, spec};
use event::{Causality, Id, Value, VarId};
use oracle::random::Random;
use predict::{Options, Predictor};
use property::check::Settings;
use property::steps::BoundSpec;
use std::path::Path;

#[test]
fn sharing_a_pass_does_not_show() {
    let mut predicted = 0;
    for seed in 0..count(600) {
        let mut r = Random::new(seed * 17 + 3);
        let trace = read(&program(&mut r, 9));
        // Several that look at the same events, and others; one of another model.
        let chosen: Vec<&str> = (0..6).map(|_| PROPERTIES[r.below(PROPERTIES.len())]).collect();
        let mut body: String =
            (0..).zip(&chosen).map(|(n, p)| p.replacen("property p", &format!("property p{n}"), 1)).collect();
        body +=
            "property same_a past { write(x) -> once write(y) } property same_b past { write(y) -> once write(x) } ";
        body += "property other past { write(x) -> !prev write(y) } with { causality = weak_hb; }";
        let spec = spec(&body);
        let (names, batch) = (&trace.names, &trace.batch);
        let causality = [None, Some(Causality::FullHb.into()), Some(Causality::Maximal.into())][r.below(3)];
        let window = [None, Some(4)][r.below(2)];
        let settings = Settings { causality, window, ..Settings::default() };
        let bound = BoundSpec::new(&spec, settings, &[], Path::new(""), names, batch);
        let numbers: Vec<usize> = (0..spec.properties.len()).collect();
        let mut observed = Vec::new();
        for &number in &numbers {
            let mut outcomes = bound.judge(number, names, batch, false).expect("a monitor");
            outcomes.iter_mut().for_each(|outcome| outcome.property = number);
            observed.extend(outcomes);
        }
        let values = initial(&trace);
        let first = |var: VarId| values.get(var.index()).copied().unwrap_or(Value::Unknown);
        let predictor = Predictor::new(&bound, names, batch, &first, Options { count: true, ..Options::default() });
        let together = predictor.predict(&numbers, &observed).expect("monitors");
        for (&number, together) in numbers.iter().zip(together) {
            let alone = predictor.predict_one(number, &observed).expect("a monitor");
            assert_eq!(together, alone, "seed {seed}, property {number}");
            predicted += alone.instances.iter().filter(|instance| instance.predicted.is_some()).count();
        }
    }
    println!("{predicted} predicted");
    assert!(predicted > 100);
}

//! A property over two variables on five million events under `full-hb`, with a violation planted near the end, and
//! without.
//!
//! `cargo bench -p foretrace-predict --bench long [-- EVENTS]`; asked are 10 seconds for all of `foretrace check`.

use event::{Causality, Space, Value, VarId};
use generate::{Generator, Options};
use predict::Predictor;
use property::check::{Settings, Spec, TraceNames, check_formula};
use property::steps::BoundSpec;
use std::path::Path;
use std::time::Instant;
use trace::Trace;

const EVENTS: u64 = 5_000_000;
const FORMULA: &str = "!(a == 7 && b == 7)";

fn timed<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let started = Instant::now();
    let result = run();
    (started.elapsed().as_secs_f64(), result)
}

fn best<T>(run: impl Fn() -> T) -> (f64, T) {
    let mut runs: Vec<(f64, T)> = (0..3).map(|_| timed(&run)).collect();
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    runs.swap_remove(0)
}

fn formula(trace: &Trace) -> Spec {
    let names = |space| -> Vec<&str> {
        (0..trace.names.space(space).len()).map(|number| trace.names.get(space, number as u32)).collect()
    };
    let (variables, locks, threads) = (names(Space::Var), names(Space::Lock), names(Space::Thread));
    let known = TraceNames { variables: &variables, locks: &locks, threads: &threads };
    check_formula("never-both", FORMULA, known).1.expect("the formula is one")
}

fn measure(options: &Options) {
    let (making, trace) = timed(|| {
        let mut generator = Generator::new(options.clone()).expect("these options make sense");
        Trace::read(&mut generator).expect("a generator does not fail")
    });
    let (names, batch) = (&trace.names, &trace.batch);
    let settings = Settings { causality: Some(Causality::FullHb.into()), ..Settings::default() };
    let spec = formula(&trace);
    let (binding, bound) = best(|| BoundSpec::new(&spec, settings, &[], Path::new(""), names, batch));
    let (looking, order) = best(|| order::Trace::new(names, batch));
    let instances = bound.instances(0, 1).expect("a monitor");
    let mut is_relevant = vec![false; batch.events.len()];
    instances.instances[0].steps.iter().for_each(|step| is_relevant[step.event as usize] = true);
    let is_relevant = |event: u64| is_relevant[event as usize];
    let (clocks, structure) = best(|| order::full_hb(&order, is_relevant));

    let initial = |_: VarId| Value::Unknown;
    let predictor = Predictor::new(&bound, names, batch, &initial, predict::Options::default());
    let (predicting, predictions) = timed(|| predictor.predict_one(0, &[]).expect("a monitor"));
    let prediction = &predictions.instances[0];
    assert!(prediction.refused.is_none() && prediction.truncated.is_empty(), "{prediction:?}");
    assert_eq!(prediction.predicted.is_some(), options.plant.is_some());

    let events = batch.events.len() as f64;
    let plant = options.plant.map_or("holds".to_owned(), |plant| format!("violated about event {plant}"));
    println!("{} events ({making:.2} s to make), {} steps, {plant}", batch.events.len(), structure.len());
    let row =
        |what: &str, seconds: f64| println!("  {what:<28}{seconds:6.3} s {:8.1} M events/s", events / seconds / 1e6);
    row("binding", binding);
    row("order::Trace", looking);
    row("clocks", clocks);
    let (mut built, mut checked) = (0.0, 0.0);
    if let Some(predicted) = &prediction.predicted {
        let path: Vec<u64> = predicted.schedule.iter().copied().filter(|&event| is_relevant(event)).collect();
        let model = Causality::FullHb;
        let (seconds, schedule) = timed(|| witness::build(model, names, batch, 0, &path, &is_relevant));
        assert_eq!(schedule.as_ref(), Ok(&predicted.schedule));
        built = seconds;
        let check = || witness::check(Causality::FullHb, names, batch, &initial, &predicted.schedule, false);
        let (seconds, fine) = timed(check);
        assert!(fine.is_ok());
        checked = seconds;
        row("witness: building", built);
        row("witness: checking", checked);
    }
    row("exploration and the rest", predicting - clocks - built - checked);
    row("prediction", predicting);
    row("in all", binding + looking + predicting);
}

fn main() {
    let events = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(EVENTS);
    let watch = vec!["a".to_owned(), "b".to_owned()];
    let quiet = Options { events, watch, ..Options::default() };
    println!("{FORMULA}, {} threads, {} variables, {} locks; one core", quiet.threads, quiet.vars, quiet.locks);
    measure(&Options { plant: Some(events / 50 * 49), ..quiet.clone() });
    measure(&quiet);
    println!("watched variables written ten times as often:");
    measure(&Options { watch_every: 100.0, ..quiet.clone() });
    println!("100 threads:");
    measure(&Options { threads: 100, ..quiet.clone() });
    println!("100 threads, with every operation:");
    measure(&Options { threads: 100, all_ops: true, waits: 0.2, readers: 0.2, ..quiet });
}

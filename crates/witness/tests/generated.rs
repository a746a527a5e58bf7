//! Generated traces with all operations: the recorded order is feasible in every model, what breaks it is refused.

use event::Value;
use generate::{Generator, Options};
use trace::Trace;
use witness::Model;

#[test]
fn the_recorded_run_is_feasible_in_every_model() {
    for seed in 0..8 {
        let options = Options { events: 10_000, seed, all_ops: true, values: seed % 2 == 0, ..Options::default() };
        let trace = Trace::read(&mut Generator::new(options).expect("options")).expect("a trace");
        let recorded: Vec<u64> = (0..10_000).collect();
        for model in Model::ALL {
            let check = |schedule: &[u64]| {
                witness::check(model, &trace.names, &trace.batch, &|_| Value::Unknown, schedule, false)
            };
            assert_eq!(check(&recorded).map(|checked| checked.terminal_read), Ok(false), "{model:?}, seed {seed}");
            let mut late = recorded.clone();
            let first = late.remove(0);
            late.push(first);
            assert!(check(&late).is_err(), "{model:?}, seed {seed}");
        }
    }
}

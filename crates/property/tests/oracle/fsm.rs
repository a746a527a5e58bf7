//! Machine monitors against the definition of bad runs.

use property::monitor::{CompileError, Monitor, Options, fsm};

use crate::naive_fsm;
use crate::random::Random;
use crate::run::{completions, forms, over_steps, verdicts};

fn check(seed: u64, machines: usize, runs: usize, holes: usize) {
    let mut r = Random::new(seed);
    let mut seen = [0; 6];
    for _ in 0..machines {
        let machine = r.fsm(3);
        let options = Options { unknown: if holes > 0 { 0b111 } else { 0 }, ..Options::default() };
        let monitors = forms(options).map(|options| fsm(&machine, &options).expect("compiles"));
        for _ in 0..runs {
            let run = r.run(3, if holes > 0 { 5 } else { 6 }, holes, 3);
            let all = completions(&run).iter().map(|run| naive_fsm::verdicts(&machine, run)).collect::<Vec<_>>();
            let want = over_steps(&all);
            for monitor in &monitors {
                assert_eq!(verdicts(monitor, &run), want, "{machine:?} on {run:?}: {:?}", monitor.size());
            }
            seen[want.last().expect("a step").1 as usize] += 1;
        }
    }
    let pairs = machines * runs;
    assert!(seen[0] > pairs / 20 && seen[1] > pairs / 20 && (holes == 0 || seen[5] > pairs / 50), "{seen:?}");
}

#[test]
fn known_atoms() {
    check(31, 7000, 15, 0);
}

#[test]
fn unknown_atoms() {
    check(32, 1500, 10, 4);
}

#[test]
fn a_state_that_does_not_exist_is_refused() {
    let mut machine = Random::new(33).fsm(1);
    machine.bad = 99;
    let states = machine.states.len();
    assert_eq!(fsm(&machine, &Options::default()).err(), Some(CompileError::NoSuchState { state: 99, states }));
}

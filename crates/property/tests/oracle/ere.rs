//! Pattern monitors against the definition of the languages, in every mode.

use property::monitor::{EreMode, Monitor, Options, ere};

use crate::naive_ere::Definition;
use crate::random::Random;
use crate::run::{completions, forms, over_steps, verdicts};

const MODES: [EreMode; 3] = [EreMode::Never, EreMode::NeverFromStart, EreMode::Follows];

fn check(seed: u64, patterns: usize, runs: usize, most: usize, holes: usize) {
    let mut r = Random::new(seed);
    let (mut pairs, mut done) = (0, 0);
    let mut seen = [[0; 6]; 3];
    while done < patterns {
        let size = r.below(most + 1);
        let pattern = r.ere(size, 2);
        let Some(definition) = Definition::new(&pattern, 2) else { continue };
        done += 1;
        let mode = MODES[done % 3];
        let options = Options { unknown: if holes > 0 { 0b11 } else { 0 }, ..Options::default() };
        let monitors = forms(options).map(|options| ere(&pattern, mode, &options).expect("compiles"));
        for _ in 0..runs {
            let run = r.run(2, if holes > 0 { 5 } else { 7 }, holes, 2);
            let all = completions(&run).iter().map(|run| definition.verdicts(run, mode)).collect::<Vec<_>>();
            let want = over_steps(&all);
            for monitor in &monitors {
                assert_eq!(verdicts(monitor, &run), want, "{mode:?} {pattern:?} on {run:?}: {:?}", monitor.size());
            }
            seen[done % 3][want.last().expect("a step").1 as usize] += 1;
            pairs += 1;
        }
    }
    assert_eq!(pairs, patterns * runs);
    let [never, from_start, follows] = seen;
    let some = pairs / 200;
    assert!(never[0] > some && never[1] > some && from_start[0] > some && from_start[1] > some, "{seen:?}");
    assert!(follows[1] > some && follows[3] > some && follows[4] > some, "{seen:?}");
    assert!(holes == 0 || seen.iter().all(|mode| mode[5] > some), "{seen:?}");
}

#[test]
fn known_atoms() {
    check(21, 9000, 12, 7, 0);
}

#[test]
fn unknown_atoms() {
    check(22, 2000, 10, 5, 4);
}

//! Random traces of nested sections and few accesses: reversals and deadlocks are frequent in them.

use crate::brute::random::Rng;
use std::fmt::Write;

const THREADS: usize = 4;
const LOCKS: usize = 3;

/// The text of a trace of so many events; the site of each is its index.
pub(crate) fn trace(seed: u64, events: usize) -> String {
    let mut rng = Rng::new(seed);
    let mut text = String::new();
    // By thread: the locks it has, the last taken last, and whether shared.
    let mut held: [Vec<(usize, bool)>; THREADS] = Default::default();
    let mut at = 0;
    let mut thread = 0;
    while at < events {
        if rng.below(3) == 0 {
            thread = rng.below(THREADS);
        }
        let lock = rng.below(LOCKS);
        let op = match rng.below(8) {
            0..=2 if held[thread].len() < 2 => {
                let shared = rng.below(4) == 0;
                let own = held[thread].iter().any(|hold| hold.0 == lock);
                let others = held.iter().flatten().any(|hold| hold.0 == lock && !(hold.1 && shared));
                if own || others {
                    continue;
                }
                held[thread].push((lock, shared));
                format!("{}(l{lock})", if shared { "racq" } else { "acq" })
            }
            0..=4 if !held[thread].is_empty() => {
                // Now and then not the one taken last.
                let last = held[thread].len() - 1;
                let (lock, shared) = held[thread].remove(if rng.below(5) == 0 { 0 } else { last });
                format!("{}(l{lock})", if shared { "rrel" } else { "rel" })
            }
            5..=7 => format!("{}(x{})", ["r", "w", "w"][rng.below(3)], rng.below(4)),
            _ => continue,
        };
        writeln!(text, "T{thread}|{op}|{at}").expect("a string takes all");
        at += 1;
    }
    text
}

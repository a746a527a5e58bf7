//! Detectors against brute force over the definitions of docs/detectors.md, on random small traces.
//!
//! `FORETRACE_CASES` says how many traces each test takes.

mod atomicity;
mod deadlocks;
mod misuses;
mod prefilter;
mod races;
mod unlooped_waits;
mod wakeups;
mod wide_deadlocks;

use event::{Causality, Id, Value, VarId};
use oracle::definition::Definition;
use oracle::random::Random;
use oracle::schedule::{faulty_trace, random_trace};
use oracle::{initial_values, read};
use trace::Trace;

/// A random trace, and what is so.
struct Case {
    text: String,
    trace: Trace,
    oracle: Definition,
    values: Vec<Value>,
}

impl Case {
    fn new(text: String) -> Case {
        let trace = read(&text);
        let values = initial_values(&trace, &[]);
        let oracle = Definition::new(Causality::Maximal, &trace.names, &trace.batch, &values);
        Case { text, trace, oracle, values }
    }

    /// Most have the shapes of errors, some have something of everything.
    fn random(seed: u64) -> Case {
        let mut r = Random::new(seed);
        let text = if r.percent(80) { faulty_trace(&mut r) } else { random_trace(&mut r) };
        Case::new(text)
    }

    /// So, with a site of its own for every event.
    fn with_sites(seed: u64) -> Case {
        let case = Case::random(seed);
        let mut number = 0;
        let line = |line: &str| match line.rsplit_once('|') {
            Some((event, _)) => {
                number += 1;
                format!("{event}|{number}\n")
            }
            None => format!("{line}\n"),
        };
        Case::new(case.text.lines().map(line).collect())
    }

    fn initial(&self, var: VarId) -> Value {
        self.values.get(var.index()).copied().unwrap_or_default()
    }

    fn site(&self, e: usize) -> u32 {
        self.trace.batch.events[e].site().0
    }
}

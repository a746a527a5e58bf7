//! One random question, from its number.

use crate::formulas::Formulas;
use crate::meaning::{Judge, Property};
use event::Space;
use oracle::random::Random;
use oracle::recorded::Recorded;
use oracle::schedule::random_trace;
use oracle::{initial_values, read};
use property::check::{Spec, TraceNames, check_formula};
use property::syntax::render;
use std::collections::BTreeSet;
use trace::Trace;

/// A trace, a property of it, and initial values that win over those of the trace.
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) trace: Trace,
    pub(crate) property: Property,
    pub(crate) given: Vec<(String, i64)>,
}

impl Case {
    pub(crate) fn random(seed: u64) -> Case {
        let mut r = Random::new(seed);
        // Threads that all wait for each other from the beginning make no trace worth a question.
        let (text, trace) = loop {
            let text = random_trace(&mut r);
            let trace = read(&text);
            let threads: BTreeSet<u32> = trace.batch.events.iter().map(|e| e.thread().0).collect();
            if threads.len() >= 2 && trace.batch.events.len() >= 3 {
                break (text, trace);
            }
        };
        let mut given = Vec::new();
        if r.percent(15) {
            given.push(((*r.pick(&["x", "y"])).to_owned(), r.below(3) as i64));
        }
        // Most properties hold on the recorded run: what others do is the question.
        let run = Recorded::new(&trace.names, &trace.batch);
        let order: Vec<usize> = (0..run.events.len()).collect();
        let initial = initial_values(&trace, &given);
        let tries = if r.percent(85) { 8 } else { 1 };
        let mut property = Formulas::new(&trace).property(&mut r);
        for _ in 1..tries {
            let judge = Judge::new(&property, &trace.names, &run.events, &initial);
            let truths = judge.truths(&run.events, &order);
            if !truths.contains(&Some(false)) && (!truths.contains(&None) || r.percent(30)) {
                break;
            }
            property = Formulas::new(&trace).property(&mut r);
        }
        Case { text, trace, property, given }
    }

    /// In words, for the failure of a test.
    pub(crate) fn shown(&self) -> String {
        let Case { text, property, given, .. } = self;
        let steps = if property.all_steps { "all" } else { "relevant" };
        format!("{text}--property '{}' --steps {steps} --init {given:?}\n", property.text())
    }

    /// The property as the language understands its text.
    pub(crate) fn spec(&self) -> Spec {
        self.spec_of(&self.property.text())
    }

    /// A formula as the language understands it.
    pub(crate) fn spec_of(&self, formula: &str) -> Spec {
        let names = &self.trace.names;
        let list = |space| -> Vec<&str> { (0..names.space(space).len()).map(|n| names.get(space, n as u32)).collect() };
        let (variables, locks, threads) = (list(Space::Var), list(Space::Lock), list(Space::Thread));
        let known = TraceNames { variables: &variables, locks: &locks, threads: &threads };
        let (sources, checked) = check_formula("property-1", formula, known);
        checked.unwrap_or_else(|diagnostics| panic!("{}", render(&diagnostics, &sources, false)))
    }
}

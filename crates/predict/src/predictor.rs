//! What is asked, and what is answered.

use event::{Batch, Causality, CausalityChoice, Names, Value, VarId};
use property::compile::NoMonitor;
use property::run::Outcome;
use property::steps::BoundSpec;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How far predictions go, beside the settings of the specification.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Count cuts, edges and runs; nothing is pruned then.
    pub count: bool,
    /// For each model of `auto`, and each property; those searched together share it.
    pub time: Duration,
    /// Memory for levels.
    pub bytes: usize,
    /// Threads that may work at once.
    pub threads: usize,
    /// Instances of one property that are looked at.
    pub instances: usize,
    /// Complete violating runs to list, for small lattices.
    pub list: usize,
    /// The trace is that of a complete run: the rule for the end holds for other complete runs, too.
    pub at_end: bool,
    /// Set from outside to stop the search.
    pub stop: Option<&'a AtomicBool>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            count: false,
            time: Duration::from_secs(10),
            bytes: 1 << 30,
            threads: 1,
            instances: 1000,
            list: 0,
            at_end: false,
            stop: None,
        }
    }
}

/// Exact numbers of a lattice; runs as decimal numbers.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[allow(missing_docs, reason = "docs/causality.md defines them")]
pub struct Counts {
    pub cuts: u64,
    pub edges: u64,
    pub runs: String,
    pub bad_runs: String,
    pub dead_ends: u64,
}

/// A model that was tried and is not the one of the verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tried {
    /// The model.
    pub causality: Causality,
    /// What cut it short; empty if the model was covered completely, without a violation.
    pub cut_short: Vec<String>,
}

/// A violation on another run than the recorded one, or a complete run that fails only by the rule for the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Predicted {
    /// The schedule, as indexes of events, up to and including the violating one; all events, if only the end shows it.
    /// Never empty: what violates at step 0 violates on the recorded run, too.
    pub schedule: Vec<u64>,
    /// The violating event: the last of the schedule. If only the end shows it, the last event that does something to
    /// the instance.
    pub event: u64,
    /// It is a read that would see another value.
    pub terminal: bool,
    /// What the property's variables hold then, by name.
    pub values: Vec<(String, String)>,
}

/// What the other runs say of one instance of a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prediction {
    /// The number of the property in its specification.
    pub property: usize,
    /// What its parameters stand for, as in [`Outcome::instance`]; empty for a property without parameters.
    pub instance: Vec<(String, String)>,
    /// The model of the verdict and of the counts.
    pub causality: Causality,
    /// The other models that were tried.
    pub tried: Vec<Tried>,
    /// A violation, if one was found. Instances that the recorded run violates are not searched for another.
    pub predicted: Option<Predicted>,
    /// A complete run that is not violated and fails by the rule for its end, if one was found. Instances of which the
    /// recorded run is such a run are not searched for another.
    pub unfulfilled: Option<Predicted>,
    /// A violation whose schedule holds an event that the recorder was not sure of, and that event: it may be none.
    pub doubtful: Option<(Predicted, u64)>,
    /// What cut the search short; empty if the model was covered completely.
    pub truncated: Vec<String>,
    /// With [`Options::count`], if the lattice could be counted.
    pub counts: Option<Counts>,
    /// With [`Options::list`]: complete runs that violate, as the counted events in their order.
    pub bad_runs: Vec<Vec<u64>>,
    /// A violation that was found and whose witness was refused: a fault of this program, to be reported.
    pub refused: Option<String>,
}

/// All predictions for one property.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Predictions {
    /// One for each instance.
    pub instances: Vec<Prediction>,
    /// Instances that were not looked at.
    pub omitted: u64,
}

/// Predicts for one specification on one trace.
pub struct Predictor<'a> {
    pub(crate) bound: &'a BoundSpec,
    pub(crate) names: &'a Names,
    pub(crate) batch: &'a Batch,
    pub(crate) trace: order::Trace<'a>,
    /// What each variable holds at first.
    pub(crate) initial: &'a dyn Fn(VarId) -> Value,
    pub(crate) options: Options<'a>,
}

impl<'a> Predictor<'a> {
    /// A predictor for a specification bound to a whole trace. `initial` gives what each variable of the trace holds at
    /// first, if anybody said: the command line, else the specification, else the trace.
    pub fn new(
        bound: &'a BoundSpec,
        names: &'a Names,
        batch: &'a Batch,
        initial: &'a dyn Fn(VarId) -> Value,
        options: Options<'a>,
    ) -> Predictor<'a> {
        Predictor { bound, names, batch, trace: order::Trace::new(names, batch), initial, options }
    }

    /// The model that is asked for.
    pub fn causality(&self, property: usize) -> CausalityChoice {
        self.bound.settings(property).causality.unwrap_or_default()
    }

    /// Searches the other runs for violations of some properties, those with the same settings in one pass.
    /// `observed` is what the recorded run said of them, and of their instances. One answer for each; or which
    /// property has no monitor.
    pub fn predict(&self, properties: &[usize], observed: &[Outcome]) -> Result<Vec<Predictions>, (usize, NoMonitor)> {
        crate::search::search(self, properties, observed)
    }

    /// Searches the other runs for violations of one property.
    pub fn predict_one(&self, property: usize, observed: &[Outcome]) -> Result<Predictions, NoMonitor> {
        let mut found = self.predict(&[property], observed).map_err(|(_, reason)| reason)?;
        Ok(found.pop().unwrap_or_default())
    }
}

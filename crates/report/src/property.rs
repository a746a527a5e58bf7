//! What became of each property of the user's.

use event::Causality;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The verdict on a property, or on one of its instances: the recorded run and the search of other runs together.
///
/// The verdict on the recorded run alone is that of its monitor; docs/semantics.md, "Verdicts", says how it becomes
/// this one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No run that the model admits violates it.
    Holds,
    /// The recorded run violates it.
    Violated,
    /// Only another run violates it.
    Predicted,
    /// The recorded run ended before it was fulfilled.
    Unfulfilled,
    /// Only another complete run ends before it is fulfilled.
    PredictedUnfulfilled,
    /// Nothing was found, and the search was cut short.
    Truncated,
    /// Not violated, but at some step the recorded values do not decide it.
    Unknown,
    /// It holds only because nothing that it speaks of happened: it never had a step.
    Vacuous,
}

impl Verdict {
    /// How bad it is; the worst is 0.
    pub const fn severity(self) -> u8 {
        match self {
            Verdict::Violated => 0,
            Verdict::Predicted => 1,
            Verdict::Unfulfilled => 2,
            Verdict::PredictedUnfulfilled => 3,
            Verdict::Truncated => 4,
            Verdict::Unknown => 5,
            Verdict::Vacuous => 6,
            Verdict::Holds => 7,
        }
    }

    /// The verdict as the JSON spells it.
    pub const fn text(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Predicted => "predicted",
            Verdict::Unfulfilled => "unfulfilled",
            Verdict::PredictedUnfulfilled => "predicted-unfulfilled",
            Verdict::Truncated => "truncated",
            Verdict::Unknown => "unknown",
            Verdict::Vacuous => "vacuous",
        }
    }
}

/// How a property that holds and looks ahead stood at the end of the recorded run: the monitor's verdict there, beside
/// [`Verdict::Holds`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Nothing that could follow would change it.
    Satisfied,
    /// Fulfilled so far.
    Fulfilled,
    /// Something was still owed.
    Pending,
}

impl End {
    /// The state as the JSON spells it.
    pub const fn text(self) -> &'static str {
        match self {
            End::Satisfied => "satisfied",
            End::Fulfilled => "fulfilled",
            End::Pending => "pending",
        }
    }
}

/// A causality model that was tried and is not the one of the verdict.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Tried {
    /// The model.
    #[serde(with = "crate::causality")]
    pub causality: Causality,
    /// What cut its search short; `None` if it was covered completely, without a violation.
    #[serde(rename = "why", with = "tried")]
    pub cut_short: Option<String>,
}

/// The JSON spelling of what came of a model.
mod tried {
    use serde::{Deserialize, Deserializer, Serializer};

    const COVERED: &str = "no violation";

    #[allow(clippy::ref_option, reason = "serde passes fields by reference")]
    pub(super) fn serialize<S: Serializer>(cut_short: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(cut_short.as_deref().unwrap_or(COVERED))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
        let why = String::deserialize(deserializer)?;
        Ok(Some(why).filter(|why| why != COVERED))
    }
}

/// The result of one property, or of one instance of a property with parameters. What was not computed is `None`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PropertyResult {
    /// The property's name.
    pub name: String,
    /// The logic it is written in.
    pub logic: String,
    /// The causality model that decided which runs count.
    #[serde(with = "crate::causality")]
    pub causality: Causality,
    /// What can be said of it.
    pub verdict: Verdict,
    /// The parameters' values, if this is an instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<BTreeMap<String, String>>,
    /// Cuts of the lattice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuts: Option<u64>,
    /// Edges of the lattice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<u64>,
    /// Runs through the lattice, as a decimal number of any length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<String>,
    /// Runs that violate the property, as a decimal number of any length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_runs: Option<String>,
    /// Cuts from which no run goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_ends: Option<u64>,
    /// The search was cut short.
    #[serde(default)]
    pub truncated: bool,
    /// What cut it short, in words; not in the JSON.
    #[serde(skip)]
    pub cut_short: Vec<String>,
    /// The other models that were tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<Vec<Tried>>,
    /// How it stood at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// The whole violating schedule as event indexes, up to and including the violating event; empty if step 0
    /// violates. A run that only its end leaves unfulfilled has all events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Vec<u64>>,
    /// The event that violates; of a predicted run that is unfulfilled, the last event that concerns the property.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violating_event: Option<u64>,
    /// Instances that do not hold and have no entry of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances_omitted: Option<u64>,
    /// Of a vacuous property: its bindings that saw nothing, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
}

impl PropertyResult {
    /// A result with a verdict and no figures.
    pub fn new(name: &str, logic: &str, causality: Causality, verdict: Verdict) -> PropertyResult {
        PropertyResult {
            name: name.to_owned(),
            logic: logic.to_owned(),
            causality,
            verdict,
            instance: None,
            cuts: None,
            edges: None,
            runs: None,
            bad_runs: None,
            dead_ends: None,
            truncated: verdict == Verdict::Truncated,
            cut_short: Vec::new(),
            tried: None,
            end: None,
            witness: None,
            violating_event: None,
            instances_omitted: None,
            unseen: Vec::new(),
        }
    }

    /// The parameters' values as text, `[o = C@3, n = 2]`.
    pub(crate) fn instance_text(&self) -> Option<String> {
        let values: Vec<String> = self.instance.as_ref()?.iter().map(|(k, v)| format!("{k} = {v}")).collect();
        Some(format!("[{}]", values.join(", ")))
    }

    /// Whether more steps could change the verdict: only the rule for the end gives it.
    pub(crate) fn is_provisional(&self) -> bool {
        matches!(self.verdict, Verdict::Unfulfilled | Verdict::PredictedUnfulfilled)
    }

    /// Whether the search was cut short, with or without a violation found.
    pub fn is_truncated(&self) -> bool {
        self.truncated || self.verdict == Verdict::Truncated
    }
}

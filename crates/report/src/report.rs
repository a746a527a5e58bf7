//! Everything one analysis of one trace has to say.

use crate::{Findings, Process, ProcessOf, PropertyResult, SuppressionFigures};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeMap;

/// The version of the JSON that this program writes, and the newest that it reads.
pub const SCHEMA_VERSION: u32 = 1;

/// What a renderer gets to see. `stats` aside, the same input gives the same report.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    schema_version: Schema,
    /// The program that made it.
    pub tool: String,
    /// That program's version.
    pub version: String,
    /// The trace that was analysed.
    pub trace: TraceFigures,
    /// What became of the properties.
    #[serde(default)]
    pub properties: Vec<PropertyResult>,
    /// What was found.
    #[serde(default)]
    pub findings: Findings,
    /// The processes of the program, if one was watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<Process>,
    /// What became of the user's suppressions, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppressions: Option<SuppressionFigures>,
    /// What it cost.
    #[serde(default)]
    pub stats: Stats,
}

impl Report {
    /// A report of this program, in this version of it, that has nothing to say yet.
    pub fn new(version: &str, trace: TraceFigures) -> Report {
        Report {
            schema_version: Schema,
            tool: "foretrace".to_owned(),
            version: version.to_owned(),
            trace,
            properties: Vec::new(),
            findings: Findings::default(),
            processes: Vec::new(),
            suppressions: None,
            stats: Stats::default(),
        }
    }

    /// Says of every finding in which process it was found.
    pub fn set_process(&mut self, process: &ProcessOf) {
        self.findings.update(|finding| finding.process = Some(process.clone()));
    }

    /// Takes in what was found in another process of the same program. Its events are those of its own trace; every
    /// finding says whose it is.
    pub fn absorb(&mut self, pid: u32, other: Report) {
        self.findings.add(other.findings.iter().cloned());
        self.trace.complete &= other.trace.complete;
        self.trace.losses.extend(other.trace.losses.into_iter().map(|loss| format!("process {pid}: {loss}")));
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Schema;

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(SCHEMA_VERSION)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Schema, D::Error> {
        match u32::deserialize(deserializer)? {
            SCHEMA_VERSION => Ok(Schema),
            other => {
                Err(de::Error::custom(format!("schema_version {other} is not one that can be read ({SCHEMA_VERSION})")))
            }
        }
    }
}

/// How large the trace is, and what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TraceFigures {
    /// Events.
    pub events: u64,
    /// Threads.
    pub threads: u64,
    /// Variables.
    pub variables: u64,
    /// Locks.
    pub locks: u64,
    /// Nothing is known to be missing.
    pub complete: bool,
    /// What the validator found wrong, in trace order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// How many more problems there are than those listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub problems_omitted: u64,
    /// What is missing, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Default for TraceFigures {
    fn default() -> Self {
        TraceFigures {
            events: 0,
            threads: 0,
            variables: 0,
            locks: 0,
            complete: true,
            problems: Vec::new(),
            problems_omitted: 0,
            losses: Vec::new(),
        }
    }
}

impl TraceFigures {
    /// Nothing is known to be missing, neither by the flag nor by the list.
    pub fn is_complete(&self) -> bool {
        self.complete && self.losses.is_empty()
    }
}

/// Something in the trace that no real run can have done.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// The event concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// Where in the input (`line 12`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What is wrong.
    pub message: String,
}

/// What the analysis cost; the only part that differs between two runs on the same input.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Stats {
    /// Wall-clock time.
    pub seconds: f64,
    /// The most memory that was resident.
    pub peak_rss_bytes: u64,
    /// Figures by analysis.
    #[serde(default)]
    pub per_analysis: BTreeMap<String, AnalysisStats>,
}

/// What one analysis cost and counted.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct AnalysisStats {
    /// Its time.
    pub seconds: f64,
    /// Events that are the later half of a race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub racy_events: Option<u64>,
    /// The distinct sites of those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub racy_sites: Option<u64>,
    /// What it found and does not list, because it was too much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
    /// Windows of the trace that it looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<u64>,
    /// Windows that it could not decide, or did not come to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<u64>,
    /// What was left unsearched, in words, if the search was cut short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<String>,
    /// What its definition leaves aside in this trace, in words; nothing was cut short for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

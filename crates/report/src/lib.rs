//! What was found, who it is, and how it is shown: findings, fingerprints, the text and JSON renderers.
//!
//! Detectors make [`Finding`]s whose strings are already resolved and never print; renderers see only a [`Report`].

mod called;
mod causality;
mod columns;
mod event_order;
mod evidence;
mod exit;
mod finding;
mod findings;
mod fingerprint;
mod frames;
mod json;
mod layout;
mod origin;
mod paths;
mod plain;
mod process;
mod property;
mod report;
mod site;
mod style;
mod suppressions;
mod text;
mod wire;

pub use columns::{Schedule, Step, columns, side_by_side};
pub use event_order::EventOrder;
pub use evidence::{Confirm, Evidence, EvidenceError, Status, Unshown};
pub use exit::{exit_code, notes};
pub use finding::{Exhibit, Finding, Kind, Side};
pub use findings::Findings;
pub use fingerprint::{code_identity, fingerprint, object_identity, side_identity, site_identity};
pub use json::{ReadError, read_json, render_json};
pub use origin::{Creation, Entity, Origin};
pub use paths::Paths;
pub use plain::{harmless, wrap};
pub use process::{Process, ProcessOf, signal_text};
pub use property::{End, PropertyResult, Tried, Verdict};
pub use report::{AnalysisStats, Problem, Report, SCHEMA_VERSION, Stats, TraceFigures};
pub use site::{site_text, split_site};
pub use style::bold;
pub use suppressions::{SuppressionError, SuppressionFigures, Suppressions, UsedRule};
pub use text::{SHOWN_FINDINGS, TextOptions, render_finding, render_text};

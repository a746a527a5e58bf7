//! What an analysis is to look for: detectors, specifications, and the limits of its searches.

use crate::detectors::DetectorId;
use event::CausalityChoice;
use property::check::{Const, Settings, Spec};
use property::syntax::Sources;
use report::Suppressions;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A specification with what is needed to explain it.
#[derive(Clone, Debug)]
pub(crate) struct PlannedSpec {
    pub(crate) spec: Spec,
    pub(crate) sources: Sources,
    /// The folder that paths in it are relative to.
    pub(crate) folder: PathBuf,
}

/// What an analysis is to look for. Without further words: all detectors, no property.
#[derive(Clone, Default)]
pub struct Plan {
    /// `None`: those that the `check` lines of the specifications name, or all of them if there is no such line.
    pub(crate) detectors: Option<Vec<DetectorId>>,
    pub(crate) specs: Vec<PlannedSpec>,
    /// What the caller says, before what specifications say.
    pub(crate) overrides: Settings,
    pub(crate) init: Vec<(String, Const)>,
    pub(crate) count: bool,
    pub(crate) search_time: Option<Duration>,
    pub(crate) recording: Option<Duration>,
    pub(crate) suppressions: Option<Suppressions>,
    pub(crate) live: bool,
    pub(crate) observed_only: bool,
    pub(crate) rereadable: bool,
    pub(crate) retained_at_first: Option<usize>,
}

impl Plan {
    /// A plan with all detectors and no property.
    pub fn new() -> Plan {
        Plan::default()
    }

    /// Runs just these detectors, whatever the `check` lines of specifications say.
    #[must_use]
    pub fn detectors(mut self, detectors: impl IntoIterator<Item = DetectorId>) -> Plan {
        self.detectors = Some(detectors.into_iter().collect());
        self
    }

    /// Checks the properties of a specification, too. Paths in it are relative to `folder`.
    #[must_use]
    pub fn spec(mut self, spec: Spec, sources: Sources, folder: &Path) -> Plan {
        self.specs.push(PlannedSpec { spec, sources, folder: folder.to_owned() });
        self
    }

    /// Options that count before those of specifications.
    #[must_use]
    pub fn options(mut self, overrides: Settings) -> Plan {
        self.overrides = overrides;
        self
    }

    /// Initial values of variables, before those of the specifications and of the trace.
    #[must_use]
    pub fn init(mut self, values: Vec<(String, Const)>) -> Plan {
        self.init = values;
        self
    }

    /// Counts the cuts, edges and runs of the lattices.
    #[must_use]
    pub fn count(mut self, count: bool) -> Plan {
        self.count = count;
        self
    }

    /// Lets each detector that searches take so long.
    #[must_use]
    pub fn search_time(mut self, each: Option<Duration>) -> Plan {
        self.search_time = each;
        self
    }

    /// The trace was recorded just now and took so long: the user does not expect searches to take much longer.
    #[must_use]
    pub fn recorded_in(mut self, took: Option<Duration>) -> Plan {
        self.recording = took;
        self
    }

    /// Marks the findings that these rules match as suppressed.
    #[must_use]
    pub fn suppressions(mut self, rules: Option<Suppressions>) -> Plan {
        self.suppressions = rules;
        self
    }

    /// The trace can be read again ([`Control::reread`](crate::Control::reread)): then one that is long is not retained
    /// for witnesses of observed races alone, and for searches only when it is known that there is something to search.
    #[must_use]
    pub fn rereadable(mut self, rereadable: bool) -> Plan {
        self.rereadable = rereadable;
        self
    }

    /// Of a trace that can be read again, retains at first no more than so many events (else a number that is thought
    /// to be right); more only if the whole is found to be needed.
    #[must_use]
    pub fn retain_at_first(mut self, events: usize) -> Plan {
        self.retained_at_first = Some(events);
        self
    }

    /// Reports what the recorded run shows as soon as it is there, by [`Analysis::drain`](crate::Analysis::drain).
    #[must_use]
    pub fn live(mut self) -> Plan {
        self.live = true;
        self
    }

    /// Looks only for what the recorded run shows in one pass: the live detectors, and properties on this run.
    #[must_use]
    pub fn observed_only(mut self) -> Plan {
        self.observed_only = true;
        self.count = false;
        self.overrides.causality = Some(CausalityChoice::OBSERVED);
        self
    }
}

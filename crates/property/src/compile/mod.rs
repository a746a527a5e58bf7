//! Specifications with the monitors of their properties, compiled once and shared by all that run them.

mod condition;
mod monitors;
mod possible;

pub use condition::shortest_with_condition;
pub use monitors::{Compiled, NoMonitor, compile, compile_known};
pub use possible::Letters;

use crate::check::{Property, Settings, Spec};
use crate::monitor::AnyMonitor;
use monitors::compile_unknown;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A specification and its monitors. The recorded run, the search of other runs and the evaluation of single schedules
/// share one.
pub struct CompiledSpec {
    pub(crate) spec: Arc<Spec>,
    /// Files of user-defined logics are found from here.
    folder: PathBuf,
    /// By property.
    properties: Vec<CompiledProperty>,
}

struct CompiledProperty {
    settings: Settings,
    /// For runs on which any value can be unknown; compiled when it is first needed.
    monitor: OnceLock<Result<Arc<Compiled>, NoMonitor>>,
}

impl CompiledSpec {
    /// Takes a specification. `settings` are those of the command line, which win. Files of user-defined logics are
    /// found from `folder`.
    pub fn new(spec: Spec, settings: Settings, folder: &Path) -> CompiledSpec {
        let properties = spec.properties.iter().map(|property| CompiledProperty {
            settings: settings.or(property.settings).or(spec.settings),
            monitor: OnceLock::new(),
        });
        CompiledSpec { properties: properties.collect(), spec: Arc::new(spec), folder: folder.to_owned() }
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    pub(crate) fn property(&self, number: usize) -> &Property {
        &self.spec.properties[number]
    }

    /// The settings of a property: those of the command line, its own, those of the specification.
    pub fn settings(&self, property: usize) -> Settings {
        self.properties[property].settings
    }

    /// The monitor of a property for any run.
    pub(crate) fn monitor(&self, number: usize) -> Result<Arc<Compiled>, NoMonitor> {
        let CompiledProperty { settings, monitor } = &self.properties[number];
        let make = || compile(self.property(number), settings, &self.folder).map(Arc::new);
        monitor.get_or_init(make).clone()
    }

    /// The monitor of a property for runs on which only these of its atoms can be unknown.
    ///
    /// A table for any run serves these runs, too. A larger monitor is compiled again for them: with fewer letters it
    /// may become a table, from which the search learns which states cannot be violated any more.
    pub(crate) fn monitor_for(&self, number: usize, unknown: u64) -> Result<Arc<Compiled>, NoMonitor> {
        match self.monitor(number) {
            Ok(compiled) if matches!(compiled.monitor, AnyMonitor::Table(_)) => Ok(compiled),
            _ => {
                let settings = &self.properties[number].settings;
                compile_unknown(self.property(number), settings, &self.folder, unknown).map(Arc::new)
            }
        }
    }
}

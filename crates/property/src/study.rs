//! A study of a property before it is checked: the size of its monitor, what can happen to it, whether it is useless.

use crate::check::{Atom, Logic, Property, Settings, Spec};
use crate::compile::{Letters, NoMonitor, compile, compile_known, shortest_with_condition};
use crate::monitor::{Exploration, Letter, Monitor, Size};
use crate::syntax::{Diagnostic, Sources};
use std::path::Path;

/// Steps that are tried at most.
const LIMIT: usize = 1 << 18;

/// Steps that are tried at most of a logic that has to be asked.
const ASKING_LIMIT: usize = 1 << 12;

/// What is known of a property.
pub struct Study {
    /// The settings in force.
    pub settings: Settings,
    /// `None`: monitors do not evaluate it.
    pub monitor: Option<MonitorStudy>,
}

/// What is known of a monitor.
pub struct MonitorStudy {
    /// Where every value is known.
    pub size: Size,
    /// Where values can be unknown, if they can.
    pub with_unknowns: Option<Size>,
    /// All of it.
    pub automaton: Exploration,
    /// By runs that can be.
    pub runs: Exploration,
    /// For a property with a condition: a shortest good run on which that comes true, if one was found.
    pub condition: Option<Option<Vec<Letter>>>,
}

/// Compiles the monitor of a property and explores it.
pub fn study(spec: &Spec, property: &Property, sources: &Sources) -> Result<Study, NoMonitor> {
    let settings = property.settings.or(spec.settings);
    if matches!(property.logic, Logic::Mttl { .. }) {
        return Ok(Study { settings, monitor: None });
    }
    let file = Path::new(sources.name(property.span.file));
    let folder = file.parent().unwrap_or(Path::new(""));
    let letters = Letters::new(spec, property, &settings);
    let compiled = compile_known(property, &settings, folder, &letters)?;
    // A logic that is asked is not started twice for the sake of a figure.
    let asks = compiled.asked.is_some();
    let can_be_unknown = property.atoms.iter().any(|(atom, _)| matches!(atom, Atom::State(_)));
    let with_unknowns = match can_be_unknown && !asks {
        true => Some(compile(property, &settings, folder)?.monitor.size()),
        false => None,
    };
    let limit = if asks { ASKING_LIMIT } else { LIMIT };
    let automaton = letters.automaton(&compiled.monitor, limit);
    let runs = letters.runs(&compiled.monitor, limit);
    if let Some(error) = compiled.asked.as_ref().and_then(|asked| asked.error()) {
        return Err(NoMonitor::Logic(error));
    }
    let condition = shortest_with_condition(property, &settings, &letters, LIMIT)?;
    // Only now: a monitor that is discovered as it runs has its states after that.
    let size = compiled.monitor.size();
    Ok(Study { settings, monitor: Some(MonitorStudy { size, with_unknowns, automaton, runs, condition }) })
}

/// What makes a property useless, for one that is about to be checked. Large ones, and those that would start a
/// program, are not looked into.
pub fn useless(spec: &Spec, property: &Property, sources: &Sources) -> Option<Diagnostic> {
    const SMALL: usize = 8;
    if property.atoms.len() > SMALL || matches!(property.logic, Logic::Logic { .. }) {
        return None;
    }
    warnings(property, &study(spec, property, sources).ok()?)
}

/// What makes a property useless.
pub fn warnings(property: &Property, study: &Study) -> Option<Diagnostic> {
    let runs = &study.monitor.as_ref()?.runs;
    let name = &property.name;
    let warning = |message, label, help| {
        let warning = Diagnostic::warning("useless", message).at(property.name_span, label);
        Some(warning.help(help))
    };
    if runs.is_violated_at_start() {
        return warning(
            format!("the property `{name}` is violated at the very first step of every run"),
            "false at step 0, before anything happens",
            "check the initial values; to speak of later steps only, write `yesterday true -> …`",
        );
    }
    if !runs.is_complete() {
        return None;
    }
    if !runs.can_violate() && !runs.can_be_unfulfilled() {
        return warning(
            format!("the property `{name}` can never be violated"),
            "true on every run",
            "it would find nothing; `foretrace spec` says in words what it means",
        );
    }
    if runs.shortest_satisfying().is_none() {
        return warning(
            format!("the property `{name}` can never be satisfied"),
            "every run violates it or leaves it unfulfilled",
            "it would always complain; `foretrace spec` says in words what it means",
        );
    }
    None
}

/// Why a property cannot be used.
pub fn failure(property: &Property, reason: &NoMonitor) -> Diagnostic {
    let message = format!("the property `{}` has no monitor: {reason}", property.name);
    let label = match reason {
        NoMonitor::Logic(_) => "its logic does not work",
        _ => "cannot be monitored",
    };
    Diagnostic::error("monitor", message).at(property.name_span, label)
}

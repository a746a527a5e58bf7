//! A property's monitor.

use crate::check::{AtEnd, Atom, Knobs, Logic, Property, Steps};
use crate::logic;
use crate::monitor::{self, AnyMonitor, Asked, CompileError, EreMode, Options, Possible, UserError};
use crate::syntax::ast;
use std::path::Path;

/// A compiled property.
pub struct Compiled {
    /// Its monitor.
    pub monitor: AnyMonitor,
    /// The questions put to a user-defined logic.
    pub asked: Option<Asked>,
}

/// Why a property cannot be checked here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoMonitor {
    /// It is too large, or wrong in a way that only shows now.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The logic it is written in does not work.
    #[error(transparent)]
    Logic(#[from] logic::LogicError),
    /// MTTL is not evaluated by monitors.
    #[error("mttl properties are parsed and checked, but not evaluated in this version")]
    Mttl,
}

impl From<UserError> for NoMonitor {
    fn from(error: UserError) -> Self {
        match error {
            UserError::Compile(error) => NoMonitor::Compile(error),
            UserError::Logic(error) => NoMonitor::Logic(error),
        }
    }
}

/// Compiles a property with these knobs. Files of user-defined logics are found from `folder`.
pub fn compile(property: &Property, knobs: &Knobs, folder: &Path) -> Result<Compiled, NoMonitor> {
    let mask = |wanted: fn(&Atom) -> bool| {
        let atoms = property.atoms.iter().enumerate().take(64).filter(|(_, (atom, _))| wanted(atom));
        atoms.fold(0, |set, (i, _)| set | 1u64 << i)
    };
    let events = mask(|atom| matches!(atom, Atom::Event(_)));
    let at_start = |letter: &monitor::Letter| letter.holds & events == 0;
    // With relevant steps, an event that makes no atom true can still be a step: a write of a variable.
    let states = mask(|atom| !matches!(atom, Atom::Event(_)));
    let all = knobs.steps == Some(Steps::All);
    let later = |letter: &monitor::Letter| all || states != 0 || letter.holds & events != 0;
    let options = Options {
        unknown: mask(|atom| matches!(atom, Atom::State(_))),
        at_end: match knobs.at_end.unwrap_or(AtEnd::Stutter) {
            AtEnd::Stutter => monitor::AtEnd::Stutter,
            AtEnd::Strong => monitor::AtEnd::Strong,
            AtEnd::Weak => monitor::AtEnd::Weak,
            AtEnd::None => monitor::AtEnd::None,
        },
        possible: Possible { at_start: &at_start, later: &later },
        ..Options::default()
    };
    let plain = |monitor| Ok(Compiled { monitor, asked: None });
    match &property.logic {
        Logic::Past(formula) => plain(monitor::past(formula, &options)?),
        Logic::Future(formula) => plain(monitor::future(formula, &options)?),
        Logic::Ere { mode, ere } => {
            let mode = match mode {
                ast::EreMode::Never => EreMode::Never,
                ast::EreMode::NeverFromStart => EreMode::NeverFromStart,
                ast::EreMode::Follows => EreMode::Follows,
            };
            plain(monitor::ere(ere, mode, &options)?)
        }
        Logic::Fsm(machine) => plain(monitor::fsm(machine, &options)?),
        Logic::Mttl { .. } => Err(NoMonitor::Mttl),
        Logic::Logic { which, lines, propositions } => {
            let names: Vec<String> = propositions.iter().map(|(name, _)| name.clone()).collect();
            let logic = logic::start(which, lines, &names, folder)?;
            let (monitor, asked) = monitor::user(logic, propositions, &options)?;
            Ok(Compiled { monitor, asked: Some(asked) })
        }
    }
}

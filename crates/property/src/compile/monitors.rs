//! A property's monitor.

use super::possible::{Kinds, Letters, mask};
use crate::check::{AtEnd, Atom, Logic, Property, Settings};
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

/// Conditions on parameters in one property.
const MAX_CONDITIONS: usize = 5;

/// Why a property cannot be checked here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoMonitor {
    /// It is too large, or wrong in a way that only shows now.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The logic it is written in does not work.
    #[error(transparent)]
    Logic(#[from] logic::LogicError),
    /// Conditions on parameters are followed in every way they can turn out.
    #[error(
        "{0} conditions on parameters inside a formula; at most {MAX_CONDITIONS} can be followed (`where` has no limit)"
    )]
    TooManyConditions(usize),
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

/// Compiles a property with these settings. Files of user-defined logics are found from `folder`.
pub fn compile(property: &Property, settings: &Settings, folder: &Path) -> Result<Compiled, NoMonitor> {
    compile_unknown(property, settings, folder, u64::MAX)
}

/// Compiles a property for runs on which of its atoms only these can be unknown.
pub(super) fn compile_unknown(
    property: &Property,
    settings: &Settings,
    folder: &Path,
    unknown: u64,
) -> Result<Compiled, NoMonitor> {
    let kinds = Kinds::new(property, settings);
    let possible = Possible { at_start: &|letter| kinds.at_start(letter), later: &|letter| kinds.later(letter) };
    let conditions = property.atoms.iter().filter(|(atom, _)| matches!(atom, Atom::Instance(_))).count();
    if conditions > MAX_CONDITIONS {
        return Err(NoMonitor::TooManyConditions(conditions));
    }
    let unknown = unknown & mask(property, |atom| !matches!(atom, Atom::Event(_)));
    compile_with(property, settings, folder, unknown, possible)
}

/// Compiles a property for runs on which every value is known, to say what it means.
pub fn compile_known(
    property: &Property,
    settings: &Settings,
    folder: &Path,
    letters: &Letters,
) -> Result<Compiled, NoMonitor> {
    let possible = Possible { at_start: &|letter| letters.at_start(letter), later: &|letter| letters.later(letter) };
    compile_with(property, settings, folder, 0, possible)
}

fn compile_with(
    property: &Property,
    settings: &Settings,
    folder: &Path,
    unknown: u64,
    possible: Possible<'_>,
) -> Result<Compiled, NoMonitor> {
    let options = Options {
        unknown,
        at_end: match settings.at_end.unwrap_or(AtEnd::Stutter) {
            AtEnd::Stutter => monitor::AtEnd::Stutter,
            AtEnd::Strong => monitor::AtEnd::Strong,
            AtEnd::Weak => monitor::AtEnd::Weak,
            AtEnd::None => monitor::AtEnd::None,
        },
        possible,
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

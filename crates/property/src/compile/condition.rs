//! Runs that satisfy a property not merely because its condition never comes true.

use super::monitors::{NoMonitor, compile_known};
use super::possible::Letters;
use crate::Formula;
use crate::check::{Logic, Property, Settings};
use crate::monitor::Letter;
use std::path::Path;

/// For a property of the form `a -> b` (past) or `always (a -> b)` (future): a shortest run that satisfies it and on
/// which `a` holds somewhere, if one was found in so many steps. `None`: it has no such form.
pub fn shortest_with_condition(
    property: &Property,
    settings: &Settings,
    letters: &Letters,
    limit: usize,
) -> Result<Option<Option<Vec<Letter>>>, NoMonitor> {
    let and = |f, g| Formula::And(Box::new(f), Box::new(g));
    let (logic, past) = match &property.logic {
        Logic::Past(whole @ Formula::Implies(a, _)) => {
            // To be violated by such a run.
            let met = and((**a).clone(), Formula::Hist(Box::new(whole.clone())));
            (Logic::Past(Formula::Not(Box::new(met))), true)
        }
        Logic::Future(whole @ Formula::Always(inner)) => {
            let Formula::Implies(a, _) = &**inner else { return Ok(None) };
            (Logic::Future(and(whole.clone(), Formula::Eventually(a.clone()))), false)
        }
        _ => return Ok(None),
    };
    let changed = Property { logic, ..property.clone() };
    // Neither of these logics reads files.
    let compiled = compile_known(&changed, settings, Path::new(""), letters)?;
    let found = letters.runs(&compiled.monitor, limit);
    Ok(Some(if past { found.shortest_violating() } else { found.shortest_satisfying() }))
}

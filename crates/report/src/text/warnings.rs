//! Warnings that are patterns only: one line for each variable behind the findings, globals first; and one for those
//! whose accesses no other order of the recorded events brings together.

use super::{Shown, count, entries};
use crate::origin::{Creation, Entity};
use crate::plain::harmless;
use crate::{Finding, Kind, Report, Status, object_identity};
use std::collections::HashMap;
use std::io;

/// Whether a finding says no more than that a variable has no common lock.
pub(super) fn is_pattern(finding: &Finding) -> bool {
    finding.status() == Status::Warning && finding.kind == Kind::Race && finding.detector == "lockset"
}

/// A variable, or all that are made alike, with the warnings of it.
struct Variable<'a> {
    /// The one that is shown: one that may happen as recorded, if there is such.
    first: &'a Finding,
    warnings: u64,
}

/// The patterns of a report.
pub(super) struct Patterns<'a> {
    variables: Vec<Variable<'a>>,
}

impl<'a> Patterns<'a> {
    /// All that are not shown in full.
    pub(super) fn of(report: &'a Report, in_full: bool) -> Patterns<'a> {
        let mut variables: Vec<Variable<'a>> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for finding in report.findings.iter().filter(|finding| !in_full && !finding.suppressed && is_pattern(finding)) {
            let place = *places.entry(identity(finding)).or_insert(variables.len());
            match variables.get_mut(place) {
                Some(known) => {
                    known.warnings += 1;
                    if known.first.kept_apart && !finding.kept_apart {
                        known.first = finding;
                    }
                }
                None => variables.push(Variable { first: finding, warnings: 1 }),
            }
        }
        variables.sort_by_key(|variable| !is_global(variable.first));
        Patterns { variables }
    }

    /// How many warnings are only counted.
    pub(super) fn kept_apart(&self) -> u64 {
        self.variables.iter().filter(|variable| variable.first.kept_apart).map(|variable| variable.warnings).sum()
    }

    pub(super) fn render(&self, shown: &Shown, out: &mut dyn io::Write) -> io::Result<()> {
        if self.variables.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        let lines = self.variables.iter().filter(|variable| !variable.first.kept_apart);
        let lines: Vec<String> = lines.map(|variable| line(variable, shown)).collect();
        entries("warnings", &lines, 0, shown.width, out)?;
        let apart = self.variables.iter().filter(|variable| variable.first.kept_apart).count() as u64;
        let which = match apart {
            0 => return Ok(()),
            1 => "1 variable is".to_owned(),
            n => format!("{n} variables are"),
        };
        let more = if lines.is_empty() { "" } else { "… and " };
        let text = format!(
            "{more}{which} accessed without a common lock, in an order that the program seems to make; \
             --warnings shows more"
        );
        entries(if lines.is_empty() { "warnings" } else { "" }, &[text], 0, shown.width, out)
    }
}

/// What makes a variable the same as another: its name without numbers, or who made it.
fn identity(finding: &Finding) -> String {
    let made =
        finding.origins.iter().find(|origin| origin.of == Entity::Variable && origin.made == Creation::Allocated);
    match made {
        Some(origin) => crate::code_identity(&origin.site, &origin.stack),
        None => finding.objects.iter().map(|name| object_identity(name)).collect::<Vec<_>>().join(" "),
    }
}

/// Whether the program's text names it: it is neither on the heap, nor part of an object, nor on a stack.
fn is_global(finding: &Finding) -> bool {
    finding.objects.iter().all(|name| object_identity(name) == *name && !name.starts_with("heap"))
}

fn line(variable: &Variable<'_>, shown: &Shown) -> String {
    let more = match variable.warnings - 1 {
        0 => String::new(),
        n => format!(" (and {} alike)", count(n, "warning")),
    };
    harmless(&format!("{}: no common lock{more}", super::finding::headline(variable.first, &shown.paths))).into_owned()
}

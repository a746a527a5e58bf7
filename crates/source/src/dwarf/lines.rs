//! The line table of one unit: addresses to files and lines.

use super::link::text;
use crate::error::Flaw;
use crate::image::Bytes;
use crate::limits::Budget;
use gimli::UnitRef;

struct Row {
    address: u64,
    file: u32,
    line: u32,
}

/// Rows of one stretch of code, by address.
struct Sequence {
    start: u64,
    end: u64,
    rows: Vec<Row>,
}

/// The line table of a unit.
#[derive(Default)]
pub(super) struct Lines {
    sequences: Vec<Sequence>,
}

impl Lines {
    /// Reads the table, as far as it goes.
    pub(super) fn read(unit: UnitRef<'_, Bytes>, budget: &mut Budget) -> (Lines, Option<Flaw>) {
        let mut lines = Lines::default();
        let flaw = lines.fill(unit, budget).err();
        lines.sequences.sort_by_key(|s| s.start);
        (lines, flaw)
    }

    fn fill(&mut self, unit: UnitRef<'_, Bytes>, budget: &mut Budget) -> Result<(), Flaw> {
        let Some(program) = unit.line_program.clone() else { return Ok(()) };
        let mut rows = program.rows();
        let mut sequence: Vec<Row> = Vec::new();
        while let Some((_, row)) = rows.next_row()? {
            budget.keep(1)?;
            if row.end_sequence() {
                let start = sequence.first().map_or(0, |r| r.address);
                // What the linker dropped lies at 0.
                if start != 0 && start < row.address() {
                    let mut rows = std::mem::take(&mut sequence);
                    rows.shrink_to_fit();
                    self.sequences.push(Sequence { start, end: row.address(), rows });
                }
                sequence.clear();
                continue;
            }
            let file = u32::try_from(row.file_index()).unwrap_or(u32::MAX);
            let line = row.line().map_or(0, |n| u32::try_from(n.get()).unwrap_or(0));
            match sequence.last_mut() {
                Some(last) if last.address == row.address() => (last.file, last.line) = (file, line),
                _ => sequence.push(Row { address: row.address(), file, line }),
            }
        }
        Ok(())
    }

    /// The file (its number in the table) and line of an address. Where the compiler says that an instruction is of no
    /// line, the one before it is the best there is, as long as it is not before `floor`, where the function begins.
    pub(super) fn at(&self, address: u64, floor: u64) -> Option<(u32, u32)> {
        let after = self.sequences.partition_point(|s| s.start <= address);
        let sequence = self.sequences[..after].last().filter(|s| address < s.end)?;
        let after = sequence.rows.partition_point(|r| r.address <= address);
        let rows = &sequence.rows[..after];
        let mut before = rows.iter().rev().take(64).take_while(|r| r.address >= floor);
        let row = rows.last().filter(|r| r.line != 0).or_else(|| before.find(|r| r.line != 0)).or(rows.last())?;
        Some((row.file, row.line))
    }

    /// The code of a line of the files whose numbers `is_wanted` accepts: first addresses, and those behind.
    pub(super) fn code(&self, line: u32, is_wanted: impl Fn(u32) -> bool) -> Vec<(u64, u64)> {
        let mut found: Vec<(u64, u64)> = Vec::new();
        for Sequence { end, rows, .. } in &self.sequences {
            // Instructions of no line belong to the one before, as in `at`.
            let mut is_here = false;
            for (number, row) in rows.iter().enumerate() {
                is_here = if row.line == 0 { is_here } else { row.line == line && is_wanted(row.file) };
                if is_here {
                    found.push((row.address, rows.get(number + 1).map_or(*end, |next| next.address)));
                }
            }
        }
        found
    }

    /// The path of a file of the table.
    pub(super) fn file(&self, unit: UnitRef<'_, Bytes>, file: u32) -> String {
        path(unit, file).unwrap_or_default()
    }
}

fn path(unit: UnitRef<'_, Bytes>, file: u32) -> Option<String> {
    let header = unit.line_program.as_ref()?.header();
    let entry = header.file(u64::from(file))?;
    let mut path = unit.comp_dir.as_ref().map(text).unwrap_or_default();
    if let Some(folder) = entry.directory(header) {
        join(&mut path, &text(&unit.attr_string(folder).ok()?));
    }
    join(&mut path, &text(&unit.attr_string(entry.path_name()).ok()?));
    Some(path)
}

fn join(path: &mut String, part: &str) {
    let part = part.strip_prefix("./").unwrap_or(part);
    if part.starts_with('/') {
        path.clear();
    } else if part.is_empty() || part == "." {
        return;
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(part);
}

//! DWARF of one file: which unit has what, read unit by unit when it is asked for.

mod abbreviations;
mod lines;
mod link;
mod lookup;
pub(crate) mod parameters;
mod survey;
pub(crate) mod types;

use crate::error::Flaw;
use crate::image::{Bytes, Image};
use crate::limits::Budget;
use gimli::{Dwarf, UnitOffset, UnitType};
use lines::Lines;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
pub(crate) use survey::{Function, Location, Survey, Variable};

/// An entry of the debug information.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Die {
    pub(crate) unit: usize,
    pub(crate) offset: UnitOffset<usize>,
}

struct Unit {
    inner: gimli::Unit<Bytes>,
    survey: Option<Arc<Survey>>,
    lines: Option<Arc<Lines>>,
}

/// A function at an address, innermost inlined first, and where in its source.
pub(crate) struct Level {
    pub(crate) function: Option<Die>,
    pub(crate) file: String,
    pub(crate) line: u32,
}

/// The debug information of one file.
pub(crate) struct Debug {
    dwarf: Dwarf<Bytes>,
    units: Vec<Unit>,
    /// First address, address behind, the greatest of these so far, unit; by first address.
    ranges: Vec<(u64, u64, u64, usize)>,
    budget: Budget,
    pub(crate) types: HashMap<Die, Arc<types::Type>>,
    names: HashMap<Die, Arc<link::Linked>>,
    /// The first thing that was wrong, if any: the rest of what it concerns is missing.
    pub(crate) flaw: Option<Flaw>,
}

impl Debug {
    /// Takes the debug information out of an image. `None` if there is none.
    pub(crate) fn take(image: &mut Image) -> Option<Debug> {
        let mut dwarf = image.dwarf.take()?;
        let mut budget = Budget::for_bytes(image.dwarf_bytes);
        let mut flaw = abbreviations::check(&dwarf, &mut budget).err();
        if flaw.is_none() {
            dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        }
        let mut debug = Debug {
            dwarf,
            units: Vec::new(),
            ranges: Vec::new(),
            budget,
            types: HashMap::new(),
            names: HashMap::new(),
            flaw: None,
        };
        if flaw.is_none() {
            flaw = debug.read_units().err();
        }
        debug.flaw = flaw;
        Some(debug)
    }

    fn read_units(&mut self) -> Result<(), Flaw> {
        let mut headers = self.dwarf.units();
        while let Some(header) = headers.next()? {
            if matches!(header.type_(), UnitType::Type { .. } | UnitType::SplitType { .. }) {
                continue;
            }
            self.budget.keep(1)?;
            let Ok(inner) = self.dwarf.unit(header) else { continue };
            // Each unit holds the file names of its line program, which a hostile file shares among all units.
            let names = inner.line_program.as_ref().map_or(0, |p| p.header().header_length());
            self.budget.keep(names as u64)?;
            let unit = self.units.len();
            self.units.push(Unit { inner, survey: None, lines: None });
            if self.unit_ranges(unit)? == 0 {
                // Its head does not say what it covers: ask its functions.
                let survey = self.survey(unit);
                self.ranges.extend(survey.ranges.iter().map(|r| (r.low, r.high, 0, unit)));
            }
        }
        self.ranges.sort_unstable();
        let mut furthest = 0;
        for range in &mut self.ranges {
            furthest = range.1.max(furthest);
            range.2 = furthest;
        }
        Ok(())
    }

    fn unit_ranges(&mut self, unit: usize) -> Result<usize, Flaw> {
        let before = self.ranges.len();
        let inner = &self.units[unit].inner;
        let Ok(mut ranges) = self.dwarf.unit_ranges(inner) else { return Ok(0) };
        while let Ok(Some(range)) = ranges.next() {
            self.budget.keep(1)?;
            // What the linker dropped lies at 0.
            if 0 < range.begin && range.begin < range.end {
                self.ranges.push((range.begin, range.end, 0, unit));
            }
        }
        Ok(self.ranges.len() - before)
    }

    pub(crate) fn unit_count(&self) -> usize {
        self.units.len()
    }

    /// Functions and variables of a unit.
    pub(crate) fn survey(&mut self, unit: usize) -> Arc<Survey> {
        let Debug { dwarf, units, budget, flaw, .. } = self;
        let Unit { inner, survey, .. } = &mut units[unit];
        let survey = survey.get_or_insert_with(|| {
            let (survey, wrong) = survey::survey(inner.unit_ref(dwarf), budget);
            *flaw = flaw.or(wrong);
            Arc::new(survey)
        });
        Arc::clone(survey)
    }

    fn lines(&mut self, unit: usize) -> Arc<Lines> {
        let Debug { dwarf, units, budget, flaw, .. } = self;
        let Unit { inner, lines, .. } = &mut units[unit];
        let lines = lines.get_or_insert_with(|| {
            let (lines, wrong) = Lines::read(inner.unit_ref(dwarf), budget);
            *flaw = flaw.or(wrong);
            Arc::new(lines)
        });
        Arc::clone(lines)
    }

    /// The name of the unit's source file, as the compiler was given it.
    pub(crate) fn unit_file(&self, unit: usize) -> String {
        self.units[unit].inner.name.as_ref().map(link::text).unwrap_or_default()
    }

    /// The functions that an address lies in, innermost first.
    pub(crate) fn levels(&mut self, address: u64) -> Vec<Level> {
        let mut at = self.ranges.partition_point(|r| r.0 <= address);
        while at > 0 && self.ranges[at - 1].2 > address {
            at -= 1;
            let (_, end, _, unit) = self.ranges[at];
            if address < end {
                let levels = self.levels_in(unit, address);
                if !levels.is_empty() {
                    return levels;
                }
            }
        }
        Vec::new()
    }

    fn levels_in(&mut self, unit: usize, address: u64) -> Vec<Level> {
        let survey = self.survey(unit);
        let functions = survey.at(address);
        let lines = self.lines(unit);
        let mut here = lines.at(address, functions.last().map_or(address, |(_, low)| *low));
        if functions.is_empty() {
            let Some((file, line)) = here else { return Vec::new() };
            return vec![Level { function: None, file: lines.file(self.unit_ref(unit), file), line }];
        }
        let mut levels = Vec::with_capacity(functions.len());
        for (function, _) in functions.iter().rev() {
            let (file, line) = here.take().unwrap_or_default();
            let file = if file == 0 && line == 0 { String::new() } else { lines.file(self.unit_ref(unit), file) };
            levels.push(Level { function: Some(Die { unit, offset: function.die }), file, line });
            here = Some((function.call_file, function.call_line));
        }
        levels
    }

    /// All code of a line: first addresses, and those behind. `is_file` says of a path whether it is the file.
    pub(crate) fn code_of_line(&mut self, line: u32, is_file: impl Fn(&str) -> bool) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        for unit in 0..self.units.len() {
            let lines = self.lines(unit);
            let here = self.unit_ref(unit);
            // Most lines of a unit are of few files: each path is made once.
            let known = RefCell::new(HashMap::new());
            let is_wanted = |file| *known.borrow_mut().entry(file).or_insert_with(|| is_file(&lines.file(here, file)));
            found.extend(lines.code(line, is_wanted));
        }
        found
    }

    fn unit_ref(&self, unit: usize) -> gimli::UnitRef<'_, Bytes> {
        self.units[unit].inner.unit_ref(&self.dwarf)
    }
}

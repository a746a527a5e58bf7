//! One walk through a unit's entries: every piece of code and every variable at a fixed address.

use super::link::text;
use crate::error::Flaw;
use crate::image::Bytes;
use crate::limits::Budget;
use gimli::{AttributeValue, DwTag, EntriesRaw, Expression, Operation, UnitOffset, UnitRef};
use std::collections::HashMap;
use std::sync::Arc;

/// A function's own code, or a copy of it inlined into another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Function {
    pub(crate) die: UnitOffset<usize>,
    /// How many calls were inlined around it: 0 is a function of its own.
    pub(crate) depth: u32,
    pub(crate) call_file: u32,
    pub(crate) call_line: u32,
}

/// Code of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct CodeRange {
    pub(crate) depth: u32,
    pub(crate) low: u64,
    pub(crate) high: u64,
    pub(crate) function: u32,
}

/// Where a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Location {
    /// At an address of the file.
    Static(u64),
    /// So far into each thread's copy.
    ThreadLocal(u64),
    /// Nowhere: the compiler did not need it.
    Gone,
}

/// A variable that lives as long as the program (or the thread).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Variable {
    pub(crate) die: UnitOffset<usize>,
    pub(crate) place: Location,
    /// The function around it, for a local static one.
    pub(crate) function: Option<UnitOffset<usize>>,
}

/// What a unit has.
#[derive(Default)]
pub(crate) struct Survey {
    pub(crate) functions: Vec<Function>,
    /// By depth, then address.
    pub(crate) ranges: Vec<CodeRange>,
    pub(crate) variables: Vec<Variable>,
    /// The namespaces and classes around functions, variables and classes whose mangled names do not say them.
    pub(super) scopes: HashMap<UnitOffset<usize>, Arc<str>>,
}

impl Survey {
    /// The functions that an address lies in, outermost first, and where that piece of their code begins.
    pub(super) fn at(&self, address: u64) -> Vec<(&Function, u64)> {
        let mut found = Vec::new();
        let mut ranges = &self.ranges[..];
        loop {
            let depth = found.len() as u32;
            let after = ranges.partition_point(|r| (r.depth, r.low) <= (depth, address));
            let Some(range) = ranges[..after].last().filter(|r| r.depth == depth && address < r.high) else { break };
            found.push((&self.functions[range.function as usize], range.low));
            ranges = &ranges[after..];
        }
        found
    }
}

/// Walks through a unit. What was found before something wrong stands.
pub(super) fn survey(unit: UnitRef<'_, Bytes>, budget: &mut Budget) -> (Survey, Option<Flaw>) {
    let mut walk = Walk { unit, budget, survey: Survey::default(), around: Vec::new() };
    let flaw = walk.run().err();
    let mut survey = walk.survey;
    survey.ranges.sort_unstable();
    (survey, flaw)
}

/// What lies around an entry.
#[derive(Clone, Default)]
struct Around {
    /// Entries below this depth are in it.
    depth: isize,
    function: Option<UnitOffset<usize>>,
    /// The depth of the next inlined call.
    inlined: u32,
    scope: Option<Arc<str>>,
    /// The function's name, of which the classes in it need to speak.
    name: Option<AttributeValue<Bytes>>,
}

struct Walk<'a> {
    unit: UnitRef<'a, Bytes>,
    budget: &'a mut Budget,
    survey: Survey,
    around: Vec<Around>,
}

/// The attributes that are of use.
#[derive(Default)]
struct Attributes {
    low: Option<u64>,
    high: Option<AttributeValue<Bytes>>,
    ranges: Option<AttributeValue<Bytes>>,
    name: Option<AttributeValue<Bytes>>,
    location: Option<AttributeValue<Bytes>>,
    call_file: u32,
    call_line: u32,
    declaration: bool,
    /// It has a mangled name, or belongs to an entry that stands somewhere else and whose scope counts.
    placed: bool,
}

impl Walk<'_> {
    fn run(&mut self) -> Result<(), Flaw> {
        let unit = self.unit;
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let depth = entries.next_depth();
            let die = entries.next_offset();
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            self.budget.work(1 + abbreviation.attributes().len() as u64)?;
            while self.around.last().is_some_and(|a| a.depth >= depth) {
                self.around.pop();
            }
            let tag = abbreviation.tag();
            // Up to DWARF 4 a static member is declared as a member.
            let variable = matches!(tag, gimli::DW_TAG_variable | gimli::DW_TAG_member);
            let code = is_code(tag);
            if !code && !variable && !is_scope(tag) {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let attributes = self.attributes(&mut entries, abbreviation.attributes())?;
            // Of classes, so that parameters that point to one can be distinguished.
            self.remember_scope(die, &attributes)?;
            if variable {
                if tag == gimli::DW_TAG_variable {
                    self.variable(die, &attributes)?;
                }
                continue;
            }
            let inner = if code { self.function(die, tag, &attributes)? } else { self.scope(&attributes)? };
            if abbreviation.has_children() {
                self.budget.keep(1)?;
                self.around.push(Around { depth, ..inner });
            }
        }
        Ok(())
    }

    fn here(&self) -> Around {
        self.around.last().cloned().unwrap_or_default()
    }

    fn attributes(
        &self,
        entries: &mut EntriesRaw<'_, Bytes>,
        specs: &[gimli::AttributeSpecification],
    ) -> Result<Attributes, Flaw> {
        let mut found = Attributes::default();
        for spec in specs {
            let attribute = entries.read_attribute(*spec)?;
            let number = || attribute.udata_value().and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
            match attribute.name() {
                gimli::DW_AT_low_pc => found.low = self.unit.attr_address(attribute.value()).ok().flatten(),
                gimli::DW_AT_high_pc => found.high = Some(attribute.value()),
                gimli::DW_AT_ranges => found.ranges = Some(attribute.value()),
                gimli::DW_AT_name => found.name = Some(attribute.value()),
                gimli::DW_AT_location => found.location = Some(attribute.value()),
                gimli::DW_AT_call_file => found.call_file = number(),
                gimli::DW_AT_call_line => found.call_line = number(),
                gimli::DW_AT_declaration => found.declaration = true,
                gimli::DW_AT_specification
                | gimli::DW_AT_abstract_origin
                | gimli::DW_AT_linkage_name
                | gimli::DW_AT_MIPS_linkage_name => found.placed = true,
                _ => {}
            }
        }
        Ok(found)
    }

    fn remember_scope(&mut self, die: UnitOffset<usize>, attributes: &Attributes) -> Result<(), Flaw> {
        let around = self.around.last().filter(|around| around.function.is_none());
        let scope = around.and_then(|around| around.scope.as_ref());
        if let Some(scope) = scope.filter(|_| !attributes.placed && attributes.name.is_some()) {
            self.budget.keep(2)?;
            self.survey.scopes.insert(die, Arc::clone(scope));
        }
        Ok(())
    }

    fn scope(&mut self, attributes: &Attributes) -> Result<Around, Flaw> {
        let mut around = self.here();
        let string = |name: Option<AttributeValue<Bytes>>| name.and_then(|name| self.unit.attr_string(name).ok());
        // A class in a function that has no name is that of a lambda expression.
        let lambda = around.function.take().map(|_| "{lambda}".to_owned());
        let function = string(around.name.take()).map(|name| text(&name));
        let own = string(attributes.name.clone()).map(|name| text(&name)).or(lambda);
        if own.is_some() {
            let parts = [around.scope.as_deref(), function.as_deref(), own.as_deref()];
            let inner = parts.into_iter().flatten().collect::<Vec<_>>().join("::");
            // Scopes within scopes within scopes add up.
            self.budget.keep(inner.len() as u64 / 32 + 1)?;
            around.scope = (inner.len() <= crate::limits::MAX_NAME_BYTES).then(|| inner.into());
        }
        Ok(around)
    }

    fn function(&mut self, die: UnitOffset<usize>, tag: DwTag, attributes: &Attributes) -> Result<Around, Flaw> {
        let outer = self.here();
        let inlined = tag == gimli::DW_TAG_inlined_subroutine;
        let depth = if inlined { outer.inlined } else { 0 };
        let before = self.survey.ranges.len();
        self.add_ranges(attributes, depth)?;
        let found = self.survey.ranges.len() > before;
        if found {
            self.budget.keep(1)?;
            let (call_file, call_line) = (attributes.call_file, attributes.call_line);
            self.survey.functions.push(Function { die, depth, call_file, call_line });
        }
        // Without code of its own, what is inlined into it takes its place.
        let next = if found { depth.saturating_add(1) } else { depth };
        let name = attributes.name.clone();
        Ok(Around { depth: 0, function: Some(die), inlined: next, scope: outer.scope, name })
    }

    fn add_ranges(&mut self, attributes: &Attributes, depth: u32) -> Result<(), Flaw> {
        let function = self.survey.functions.len() as u32;
        if let Some(value) = attributes.ranges.clone() {
            let Ok(Some(mut ranges)) = self.unit.attr_ranges(value) else { return Ok(()) };
            while let Ok(Some(range)) = ranges.next() {
                self.budget.keep(1)?;
                self.add_range(CodeRange { depth, low: range.begin, high: range.end, function });
            }
        } else if let (Some(low), Some(high)) = (attributes.low, attributes.high.clone()) {
            let high = match self.unit.attr_address(high.clone()) {
                Ok(Some(high)) => Some(high),
                _ => high.udata_value().and_then(|size| low.checked_add(size)),
            };
            self.budget.keep(1)?;
            self.add_range(CodeRange { depth, low, high: high.unwrap_or(0), function });
        }
        Ok(())
    }

    fn add_range(&mut self, range: CodeRange) {
        // What the linker dropped lies at 0.
        if 0 < range.low && range.low < range.high {
            self.survey.ranges.push(range);
        }
    }

    fn variable(&mut self, die: UnitOffset<usize>, attributes: &Attributes) -> Result<(), Flaw> {
        let around = self.here();
        let place = match &attributes.location {
            Some(AttributeValue::Exprloc(location)) => match place(self.unit, location) {
                Some(place) => place,
                None => return Ok(()),
            },
            // Only of variables outside of functions is it worth to say that they are gone.
            _ if around.function.is_none() && !attributes.declaration => Location::Gone,
            _ => return Ok(()),
        };
        self.budget.keep(1)?;
        self.survey.variables.push(Variable { die, place, function: around.function });
        Ok(())
    }
}

fn is_code(tag: DwTag) -> bool {
    matches!(tag, gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine)
}

fn is_scope(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_namespace | gimli::DW_TAG_class_type | gimli::DW_TAG_structure_type | gimli::DW_TAG_union_type
    )
}

/// The address that a location always is; `None` for registers and the stack.
fn place(unit: UnitRef<'_, Bytes>, location: &Expression<Bytes>) -> Option<Location> {
    let mut operations = location.clone().operations(unit.encoding());
    // A constant alone is no address; that it counts in the thread's copy must follow.
    let (mut at, mut place) = match operations.next().ok()?? {
        Operation::Address { address } => (address, Some(Location::Static(address))),
        Operation::AddressIndex { index } => unit.address(index).ok().map(|at| (at, Some(Location::Static(at))))?,
        Operation::ConstantIndex { index } => (unit.address(index).ok()?, None),
        Operation::UnsignedConstant { value } => (value, None),
        _ => return None,
    };
    while let Ok(Some(operation)) = operations.next() {
        match operation {
            Operation::PlusConstant { value } => {
                at = at.wrapping_add(value);
                place = place.map(|_| Location::Static(at));
            }
            Operation::TLS => return Some(Location::ThreadLocal(at)),
            _ => return None,
        }
    }
    place.filter(|place| *place != Location::Static(0))
}

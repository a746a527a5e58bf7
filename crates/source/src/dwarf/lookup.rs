//! Entries by name: the variables of a function, and types.

use super::{Debug, Die};
use crate::limits::MAX_TYPE_DEPTH;
use gimli::{DebuggingInformationEntry, DwTag};

/// Entries of one name that are looked at.
const MANY: usize = 64;

impl Debug {
    /// The types of the variables and parameters of this name in a function; not in those that are inlined into it.
    pub(crate) fn locals(&mut self, function: Die, name: &str) -> Vec<Die> {
        let is_wanted = |tag| matches!(tag, gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter);
        let mut found = self.within(function.unit, Some(function), is_wanted, is_code);
        // A copy has its names from what it is a copy of.
        found.retain(|&die| self.linked(die).name == name);
        found.into_iter().filter_map(|die| self.linked(die).type_of).collect()
    }

    /// The types of global variables of this name that a unit declares or defines.
    pub(crate) fn globals(&mut self, unit: usize, name: &str) -> Vec<Die> {
        let mut found = self.within(unit, None, |tag| tag == gimli::DW_TAG_variable, is_code);
        found.retain(|&die| self.linked(die).name == name);
        found.into_iter().filter_map(|die| self.linked(die).type_of).collect()
    }

    /// The structs, classes, unions and names of types that a unit has under this name, without its scope.
    pub(crate) fn types_named(&mut self, unit: usize, name: &str) -> Vec<Die> {
        let is_wanted = |tag| {
            matches!(
                tag,
                gimli::DW_TAG_structure_type
                    | gimli::DW_TAG_class_type
                    | gimli::DW_TAG_union_type
                    | gimli::DW_TAG_typedef
            )
        };
        let mut found = self.within(unit, None, is_wanted, |_| false);
        found.retain(|&die| {
            let own = self.entry(die).and_then(|entry| entry.attr_value(gimli::DW_AT_name));
            own.and_then(|own| self.string(unit, own)).is_some_and(|own| own == name)
        });
        found.truncate(MANY);
        found
    }

    /// What a pointer points to.
    pub(crate) fn pointee(&self, pointer: Die) -> Option<Die> {
        let mut at = pointer;
        for _ in 0..MAX_TYPE_DEPTH {
            let entry = self.entry(at)?;
            let inner = self.follow(at.unit, entry.attr_value(gimli::DW_AT_type));
            match entry.tag() {
                gimli::DW_TAG_pointer_type => return inner,
                gimli::DW_TAG_typedef
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_atomic_type
                | gimli::DW_TAG_restrict_type => at = inner?,
                _ => return None,
            }
        }
        None
    }

    /// The entries of some kinds below another, or in a unit; not in what is `closed`.
    fn within(
        &mut self,
        unit: usize,
        below: Option<Die>,
        is_wanted: impl Fn(DwTag) -> bool,
        is_closed: impl Fn(DwTag) -> bool,
    ) -> Vec<Die> {
        let Debug { dwarf, units, budget, .. } = self;
        let mut found = Vec::new();
        let Some(here) = units.get(unit) else { return found };
        let Ok(mut entries) = here.inner.unit_ref(dwarf).entries_raw(below.map(|die| die.offset)) else { return found };
        let mut entry = DebuggingInformationEntry::null();
        // The depth of what is closed, while in it.
        let mut closed: Option<isize> = None;
        let mut is_first = below.is_some();
        while !entries.is_empty() && (is_first || below.is_none() || entries.next_depth() > 0) {
            let (depth, offset) = (entries.next_depth(), entries.next_offset());
            if budget.work(1).is_err() {
                break;
            }
            match entries.read_entry(&mut entry) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(_) => break,
            }
            if std::mem::take(&mut is_first) {
                continue;
            }
            if closed.is_some_and(|closed| depth > closed) {
                continue;
            }
            closed = is_closed(entry.tag()).then_some(depth);
            if is_wanted(entry.tag()) {
                if budget.keep(1).is_err() {
                    break;
                }
                found.push(Die { unit, offset });
            }
        }
        found
    }
}

fn is_code(tag: DwTag) -> bool {
    matches!(tag, gimli::DW_TAG_inlined_subroutine | gimli::DW_TAG_subprogram)
}

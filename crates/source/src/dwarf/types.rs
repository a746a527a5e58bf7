//! Types: how large, and what lies where in them.

use super::{Debug, Die};
use crate::limits::MAX_TYPE_DEPTH;
use gimli::{AttributeValue, DwAte, DwTag};
use std::sync::Arc;

/// What the bytes of a variable mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// A whole number with a sign.
    Signed,
    /// A whole number without a sign.
    Unsigned,
    /// `float` or `double`.
    Float,
    /// `bool`.
    Bool,
    /// A pointer.
    Pointer,
    /// A struct, union, class or array: not one value.
    Aggregate,
    /// There is no debug information that would say.
    Unknown,
}

/// A member of a struct, union or class, or a base class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    /// Empty for an anonymous one.
    pub(crate) name: String,
    pub(crate) base: bool,
    pub(crate) offset: u64,
    /// Of a bit-field: its first bit, from the beginning of the struct, and how many.
    pub(crate) bits: Option<(u64, u64)>,
    pub(crate) type_of: Option<Die>,
}

/// A type, but for its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    Scalar {
        size: u64,
        kind: ValueKind,
    },
    Record {
        size: u64,
        name: String,
        members: Vec<Member>,
    },
    /// The number of elements in each dimension; the last may be open (0).
    Array {
        element: Option<Die>,
        counts: Vec<u64>,
    },
    /// Another name for it, or a qualifier.
    Alias(Option<Die>),
    Unknown,
}

impl Debug {
    /// The type, with aliases and qualifiers taken off.
    pub(crate) fn type_of(&mut self, die: Option<Die>) -> Arc<Type> {
        let mut at = die;
        for _ in 0..MAX_TYPE_DEPTH {
            let Some(die) = at else { break };
            let known = self.types.get(&die).cloned();
            let found = known.unwrap_or_else(|| {
                let found = Arc::new(self.read_type(die).unwrap_or(Type::Unknown));
                if self.budget.keep(found.weight()).is_ok() {
                    self.types.insert(die, Arc::clone(&found));
                }
                found
            });
            match &*found {
                Type::Alias(next) => at = *next,
                _ => return found,
            }
        }
        Arc::new(Type::Unknown)
    }

    /// The bytes of a value of the type; 0 if that is not known.
    pub(crate) fn size_of(&mut self, die: Option<Die>) -> u64 {
        let mut factor = 1u64;
        let mut at = die;
        for _ in 0..MAX_TYPE_DEPTH {
            match &*self.type_of(at) {
                Type::Scalar { size, .. } | Type::Record { size, .. } => return size.saturating_mul(factor),
                Type::Array { element, counts } => {
                    factor = counts.iter().fold(factor, |n, count| n.saturating_mul(*count));
                    at = *element;
                }
                Type::Alias(_) | Type::Unknown => return 0,
            }
        }
        0
    }

    /// What the bytes of the type mean. A class around a single value of its own size (`std::atomic<int>`) is that
    /// value.
    pub(crate) fn kind_of(&mut self, die: Option<Die>) -> ValueKind {
        let mut at = die;
        for _ in 0..MAX_TYPE_DEPTH {
            match &*self.type_of(at) {
                Type::Scalar { kind, .. } => return *kind,
                Type::Record { size, members, .. } => {
                    let [member] = &members[..] else { return ValueKind::Aggregate };
                    if self.size_of(member.type_of) != *size {
                        return ValueKind::Aggregate;
                    }
                    at = member.type_of;
                }
                Type::Array { .. } => return ValueKind::Aggregate,
                Type::Alias(_) | Type::Unknown => return ValueKind::Unknown,
            }
        }
        ValueKind::Unknown
    }

    fn read_type(&self, die: Die) -> Option<Type> {
        let entry = self.entry(die)?;
        let size = || entry.attr(gimli::DW_AT_byte_size).and_then(|a| a.udata_value());
        let inner = || self.follow(die.unit, entry.attr_value(gimli::DW_AT_type));
        Some(match entry.tag() {
            gimli::DW_TAG_base_type => {
                let encoding = match entry.attr_value(gimli::DW_AT_encoding) {
                    Some(AttributeValue::Encoding(encoding)) => encoding,
                    _ => gimli::DW_ATE_unsigned,
                };
                Type::Scalar { size: size()?, kind: kind(encoding) }
            }
            gimli::DW_TAG_enumeration_type => {
                let kind = match inner().and_then(|die| self.read_type(die)) {
                    Some(Type::Scalar { kind, .. }) => kind,
                    _ => ValueKind::Unsigned,
                };
                Type::Scalar { size: size().unwrap_or(4), kind }
            }
            tag if is_pointer(tag) => Type::Scalar { size: size().unwrap_or(8), kind: ValueKind::Pointer },
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                let name = entry.attr_value(gimli::DW_AT_name).and_then(|n| self.string(die.unit, n));
                Type::Record { size: size()?, name: name.unwrap_or_default(), members: self.members(die)? }
            }
            gimli::DW_TAG_array_type => Type::Array { element: inner(), counts: self.counts(die)? },
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_immutable_type => Type::Alias(inner()),
            _ => return None,
        })
    }

    fn members(&self, die: Die) -> Option<Vec<Member>> {
        let unit = self.unit_ref(die.unit);
        let mut entries = unit.entries_raw(Some(die.offset)).ok()?;
        let mut entry = gimli::DebuggingInformationEntry::null();
        entries.read_entry(&mut entry).ok()?;
        let mut members = Vec::new();
        while !entries.is_empty() && entries.next_depth() > 0 {
            let depth = entries.next_depth();
            if !entries.read_entry(&mut entry).ok()? {
                continue;
            }
            let base = entry.tag() == gimli::DW_TAG_inheritance;
            // A static member is declared here and lies elsewhere.
            let declared =
                entry.attr(gimli::DW_AT_external).is_some() || entry.attr(gimli::DW_AT_declaration).is_some();
            if depth != 1 || declared || !(base || entry.tag() == gimli::DW_TAG_member) {
                continue;
            }
            let number = |name| entry.attr(name).and_then(|a| a.udata_value());
            let offset = match entry.attr(gimli::DW_AT_data_member_location) {
                // The place of a virtual base is found at run time.
                Some(place) => match place.udata_value() {
                    Some(offset) => offset,
                    None => continue,
                },
                None => 0,
            };
            let bits = number(gimli::DW_AT_bit_size).map(|size| {
                let first = match (number(gimli::DW_AT_data_bit_offset), number(gimli::DW_AT_bit_offset)) {
                    (Some(first), _) => first,
                    // DWARF 3 counts from the most significant bit of the storage unit.
                    (None, Some(from_top)) => {
                        let unit = number(gimli::DW_AT_byte_size).unwrap_or(4).wrapping_mul(8);
                        offset.wrapping_mul(8).wrapping_add(unit.wrapping_sub(from_top).wrapping_sub(size))
                    }
                    (None, None) => offset.wrapping_mul(8),
                };
                (first, size)
            });
            let name = entry.attr_value(gimli::DW_AT_name).and_then(|n| self.string(die.unit, n));
            members.push(Member {
                name: name.unwrap_or_default(),
                base,
                offset: bits.map_or(offset, |(first, _)| first / 8),
                bits,
                type_of: self.follow(die.unit, entry.attr_value(gimli::DW_AT_type)),
            });
        }
        Some(members)
    }

    fn counts(&self, die: Die) -> Option<Vec<u64>> {
        let unit = self.unit_ref(die.unit);
        let mut entries = unit.entries_raw(Some(die.offset)).ok()?;
        let mut entry = gimli::DebuggingInformationEntry::null();
        entries.read_entry(&mut entry).ok()?;
        let mut counts = Vec::new();
        while !entries.is_empty() && entries.next_depth() > 0 && counts.len() < MAX_TYPE_DEPTH {
            let depth = entries.next_depth();
            if entries.read_entry(&mut entry).ok()? && depth == 1 && entry.tag() == gimli::DW_TAG_subrange_type {
                let number = |name| entry.attr(name).and_then(|a| a.udata_value());
                let last = number(gimli::DW_AT_upper_bound).and_then(|n| n.checked_add(1));
                counts.push(number(gimli::DW_AT_count).or(last).unwrap_or(0));
            }
        }
        Some(counts)
    }
}

impl Type {
    fn weight(&self) -> u64 {
        match self {
            Type::Record { members, name, .. } => {
                members.iter().map(|m| 4 + m.name.len() as u64 / 16).sum::<u64>() + name.len() as u64 / 16 + 1
            }
            _ => 1,
        }
    }
}

fn is_pointer(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type
            | gimli::DW_TAG_ptr_to_member_type
    )
}

fn kind(encoding: DwAte) -> ValueKind {
    match encoding {
        gimli::DW_ATE_boolean => ValueKind::Bool,
        gimli::DW_ATE_float => ValueKind::Float,
        gimli::DW_ATE_signed | gimli::DW_ATE_signed_char => ValueKind::Signed,
        gimli::DW_ATE_address => ValueKind::Pointer,
        gimli::DW_ATE_complex_float => ValueKind::Aggregate,
        _ => ValueKind::Unsigned,
    }
}

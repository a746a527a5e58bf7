//! Names of entries: an entry may be a copy of another (`abstract_origin`) or complete one (`specification`).

use super::{Debug, Die};
use crate::demangle::{demangle, rust, shorten};
use crate::image::Bytes;
use crate::limits::{MAX_LINKS, MAX_NAME_BYTES};
use gimli::{AttributeValue, DebuggingInformationEntry};
use std::sync::Arc;

/// What the chain of an entry says.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Linked {
    /// The name without its scope, as the source has it.
    pub(crate) name: String,
    /// The name with its scope, if it has one.
    pub(crate) qualified: Option<String>,
    /// The mangled name.
    pub(crate) symbol: Option<String>,
    /// Whether the name is one of Rust's, which says where it belongs without a file.
    pub(crate) rust: bool,
    /// Whether other files see it.
    pub(crate) external: bool,
    pub(crate) line: u32,
    /// Whether the compiler has inlined calls of the function. Nothing else may be left of them.
    pub(crate) inlined: bool,
    /// The type, and the size where a copy has one of its own.
    pub(crate) type_of: Option<Die>,
    /// The last entry of the chain.
    pub(crate) origin: Option<Die>,
}

/// A string of the debug information, cut off where it is longer than any name.
pub(crate) fn text(bytes: &Bytes) -> String {
    let bytes = bytes.bytes();
    String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_NAME_BYTES)]).into_owned()
}

impl Debug {
    pub(crate) fn entry(&self, die: Die) -> Option<DebuggingInformationEntry<Bytes>> {
        self.units.get(die.unit)?.inner.entry(die.offset).ok()
    }

    pub(crate) fn string(&self, unit: usize, value: AttributeValue<Bytes>) -> Option<String> {
        self.unit_ref(unit).attr_string(value).ok().map(|s| text(&s))
    }

    /// The entry that an attribute refers to, in this unit or another. Types that are found by a signature are not
    /// followed.
    pub(crate) fn follow(&self, unit: usize, value: Option<AttributeValue<Bytes>>) -> Option<Die> {
        match value? {
            AttributeValue::UnitRef(offset) => Some(Die { unit, offset }),
            AttributeValue::DebugInfoRef(offset) => {
                let start = |u: &super::Unit| u.inner.header.debug_info_offset();
                let unit = self.units.partition_point(|u| start(u).is_some_and(|s| s <= offset)).checked_sub(1)?;
                Some(Die { unit, offset: offset.to_unit_offset(&self.units[unit].inner.header)? })
            }
            _ => None,
        }
    }

    /// The names and the type of an entry.
    pub(crate) fn linked(&mut self, die: Die) -> Arc<Linked> {
        if let Some(known) = self.names.get(&die) {
            return Arc::clone(known);
        }
        let mut linked = self.link(die);
        if linked.qualified.is_none() && linked.name.len() < MAX_NAME_BYTES {
            linked.qualified = linked.origin.and_then(|origin| {
                let scope = self.survey(origin.unit).scopes.get(&origin.offset).cloned()?;
                Some(shorten(&format!("{scope}::{}", linked.name)))
            });
        }
        if linked.name.contains('<') {
            linked.name = shorten(&linked.name);
        }
        let linked = Arc::new(linked);
        // Many entries can share one long string, so what is remembered of them is bounded.
        let long = linked.name.len() + linked.symbol.as_ref().map_or(0, String::len);
        if self.budget.keep(long as u64 / 16 + 1).is_ok() {
            self.names.insert(die, Arc::clone(&linked));
        }
        linked
    }

    fn link(&self, die: Die) -> Linked {
        let mut linked = Linked::default();
        let mut at = Some(die);
        for _ in 0..MAX_LINKS {
            let Some(die) = at.take() else { break };
            let Some(entry) = self.entry(die) else { break };
            linked.origin = Some(die);
            let mut specification = None;
            for attribute in entry.attrs() {
                match attribute.name() {
                    gimli::DW_AT_name if linked.name.is_empty() => {
                        linked.name = self.string(die.unit, attribute.value()).unwrap_or_default();
                    }
                    gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name if linked.symbol.is_none() => {
                        linked.symbol = self.string(die.unit, attribute.value());
                    }
                    gimli::DW_AT_external => linked.external |= attribute.value() == AttributeValue::Flag(true),
                    gimli::DW_AT_decl_line if linked.line == 0 => {
                        linked.line = attribute.udata_value().and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
                    }
                    gimli::DW_AT_inline => {
                        linked.inlined |= matches!(
                            attribute.value(),
                            AttributeValue::Inline(gimli::DW_INL_inlined | gimli::DW_INL_declared_inlined)
                        );
                    }
                    // A definition knows the length of an array whose declaration leaves it open.
                    gimli::DW_AT_type if linked.type_of.is_none() => {
                        linked.type_of = self.follow(die.unit, Some(attribute.value()));
                    }
                    gimli::DW_AT_abstract_origin => at = self.follow(die.unit, Some(attribute.value())),
                    gimli::DW_AT_specification => specification = self.follow(die.unit, Some(attribute.value())),
                    _ => {}
                }
            }
            at = at.or(specification);
        }
        linked.rust = linked.symbol.as_deref().is_some_and(|symbol| rust(symbol).is_some());
        linked.qualified = linked.symbol.as_deref().map(demangle).filter(|name| !name.starts_with("_Z"));
        linked
    }
}

//! What the classes of a program know of each other's fields before any of them is loaded.

use crate::class::Class;
use crate::class_filter::ClassFilter;
use crate::error::Result;
use crate::hooks::{ClassContext, ClassInfo, Woven};
use crate::offline::{bounded, weave_offline};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Names of members, and of classes.
type Name = Box<[u8]>;

/// The classes of a program. Several may have one name (for other releases of Java, or in other jars): then only what
/// they agree on is known.
#[derive(Default, Debug)]
pub struct Program {
    /// Which classes are watched.
    filter: ClassFilter,
    classes: FxHashMap<Name, Fields>,
    /// The size of all names; at [`MOST`], nothing is known any more.
    size: usize,
}

/// The most memory that names may take: a hundred times that of large programs.
const MOST: usize = 1 << 29;

#[derive(Default, PartialEq, Eq, Debug)]
struct Fields {
    parent: Option<Name>,
    flags: FxHashMap<(Name, Name), u16>,
    /// There are several classes of this name, and they differ.
    is_in_doubt: bool,
}

impl Program {
    /// A program of which only the filter is known.
    pub fn new(filter: ClassFilter) -> Program {
        Program { filter, ..Program::default() }
    }

    /// Weaves one of its classes ([`weave_offline`]).
    pub fn weave(&self, file: &[u8]) -> Result<Woven> {
        weave_offline(file, self, &self.filter)
    }

    /// Adds a class.
    pub fn add(&mut self, file: &[u8]) -> Result<()> {
        let class = Class::read(file)?;
        bounded(&class)?;
        let ClassInfo { name, parent, fields, .. } = ClassInfo::of(&class)?;
        let names = fields.iter().map(|(name, descriptor, _)| name.len() + descriptor.len()).sum::<usize>();
        self.size = (self.size + name.len() + names).min(MOST);
        if self.size == MOST {
            self.classes = FxHashMap::default();
            return Ok(());
        }
        let flags =
            fields.into_iter().map(|(name, descriptor, flags)| ((name.into(), descriptor.into()), flags)).collect();
        let new = Fields { parent: parent.map(Name::from), flags, is_in_doubt: false };
        match self.classes.entry(name.into()) {
            Entry::Vacant(entry) => _ = entry.insert(new),
            Entry::Occupied(mut entry) if *entry.get() != new => {
                entry.insert(Fields { is_in_doubt: true, ..Fields::default() });
            }
            Entry::Occupied(_) => {}
        }
        Ok(())
    }
}

impl ClassContext for Program {
    fn field(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<u16> {
        let field = (name.into(), descriptor.into());
        let mut class = self.classes.get(class)?;
        // A hostile class may be its own super class.
        for _ in 0..self.classes.len() {
            if class.is_in_doubt {
                return None;
            }
            if let Some(flags) = class.flags.get(&field) {
                return Some(*flags);
            }
            class = self.classes.get(class.parent.as_ref()?)?;
        }
        None
    }

    fn is_watched(&self, class: &[u8]) -> bool {
        !class.starts_with(b"[") && std::str::from_utf8(class).is_ok_and(|name| self.filter.has(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::access;
    use crate::{Member, inert};

    /// A class with a field of these flags.
    fn class(field: u16) -> Vec<u8> {
        let (_, file) = inert(b"a/").expect("a class");
        let mut class = Class::read(&file).expect("a class");
        let name = class.constants.add_text(b"x").expect("room");
        let descriptor = class.constants.add_text(b"I").expect("room");
        class.fields.push(Member { access: field, name, descriptor, attributes: Vec::new() });
        class.write().expect("room")
    }

    #[test]
    fn only_what_all_classes_of_a_name_say_is_known() {
        let name = inert(b"a/").expect("a class").0;
        let mut program = Program::default();
        assert_eq!(program.field(&name, b"x", b"I"), None);
        for (flags, known) in [(access::FINAL, Some(access::FINAL)), (access::FINAL, Some(access::FINAL)), (0, None)] {
            program.add(&class(flags)).expect("a class");
            assert_eq!(program.field(&name, b"x", b"I"), known);
        }
        assert_eq!(program.field(&name, b"y", b"I"), None);
    }
}

//! The names of the trace being read, and the bounds on them.

use super::escape;
use super::value::Literal;
use crate::limits::MAX_NAME_BYTES;
use event::{Id, Names, Space, StrId, Value};

/// What is wrong with a line.
#[derive(Debug)]
pub enum Fault {
    /// It is not what the format allows.
    Malformed(String),
    /// It asks for more than this program is willing to hold.
    TooLarge(String),
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Fault::Malformed(message)
    }
}

/// Names by their text.
#[derive(Debug)]
pub struct Table {
    pub(super) names: Names,
    /// The bytes that all names together may take.
    limit: usize,
    scratch: String,
}

impl Default for Table {
    fn default() -> Self {
        Table { names: Names::default(), limit: MAX_NAME_BYTES, scratch: String::new() }
    }
}

impl Table {
    /// The number of a name as it is written in a text trace.
    pub(super) fn name(&mut self, space: Space, name: &str) -> Result<u32, Fault> {
        self.escaped(space, name, escape::read_name)
    }

    /// The number of a site.
    pub(super) fn site(&mut self, site: &str) -> Result<u32, Fault> {
        self.escaped(Space::Site, site, escape::read_site)
    }

    /// The value of a literal.
    pub(super) fn value(&mut self, literal: Literal<'_>) -> Result<Value, Fault> {
        match literal {
            Literal::Value(value) => Ok(value),
            Literal::Str(text) => {
                let number = self.escaped(Space::Str, text, escape::read_string)?;
                Ok(Value::Str(StrId::from_index(number as usize)))
            }
        }
    }

    fn escaped(&mut self, space: Space, text: &str, read: fn(&mut String, &str)) -> Result<u32, Fault> {
        if !text.contains('\\') {
            return self.exact(space, text);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        read(&mut scratch, text);
        let number = self.exact(space, &scratch);
        self.scratch = scratch;
        number
    }

    /// The number of a name that has no escapes.
    #[inline]
    pub(super) fn exact(&mut self, space: Space, name: &str) -> Result<u32, Fault> {
        match self.names.space(space).find(name.as_bytes()) {
            Some(number) => Ok(number),
            None => self.add(space, name),
        }
    }

    #[cold]
    fn add(&mut self, space: Space, name: &str) -> Result<u32, Fault> {
        if self.names.memory() + name.len() > self.limit {
            return Err(Fault::TooLarge(format!("the names take more than {} bytes of memory together", self.limit)));
        }
        self.names
            .add(space, name)
            .map_err(|_| Fault::TooLarge(format!("more than {} names of one kind ({space:?})", space.capacity())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_over_all_spaces() {
        let mut table = Table::default();
        assert!(matches!(table.name(Space::Var, "abc"), Ok(0)));
        table.limit = table.names.memory();
        assert!(matches!(table.name(Space::Var, "abc"), Ok(0)));
        assert!(matches!(table.site("de"), Err(Fault::TooLarge(_))));
        assert!(matches!(table.value(Literal::Str("fg")), Err(Fault::TooLarge(_))));
        table.limit += 100;
        assert!(matches!(table.site("de"), Ok(1)));
        let full = |table: &mut Table| (0..1000).any(|n| table.name(Space::Lock, &format!("l{n}")).is_err());
        assert!(full(&mut table) && table.names.memory() < table.limit + 1000);
    }
}

//! Cells: three words for each field that several threads may write, added to its class as fields (`Cells.java` draws
//! them).

use crate::class::{Class, Member, access};
use crate::error::Result;

/// How the names of a cell's words begin; the number of the field in its class and the word's letter follow.
pub const CELL: &str = "foretrace$";
/// The letters of its words.
pub const CELL_WORDS: [char; 3] = ['w', 'r', 'd'];

/// The flags of a word. It is transient so that it is not serialised, and changes no serial version.
pub(crate) const CELL_ACCESS: u16 = access::PRIVATE | access::TRANSIENT | access::SYNTHETIC;

/// Whether a field with these flags has a cell in its object.
fn has_cell(flags: u16) -> bool {
    flags & (access::STATIC | access::FINAL) == 0
}

impl Class<'_> {
    /// Adds the cells of its fields. Returns whether there are any.
    pub(super) fn add_cells(&mut self) -> Result<bool> {
        let with_cells: Vec<usize> = self
            .fields
            .iter()
            .enumerate()
            .filter(|(_, field)| has_cell(field.access))
            .map(|(number, _)| number)
            .collect();
        for &number in &with_cells {
            for word in CELL_WORDS {
                let name = self.constants.add_text(format!("{CELL}{number}{word}").as_bytes())?;
                let descriptor = self.constants.add_text(b"J")?;
                self.fields.push(Member { access: CELL_ACCESS, name, descriptor, attributes: Vec::new() });
            }
        }
        Ok(!with_cells.is_empty())
    }
}

//! Cells: three words for each field that more than one thread may write, added to its class. The agent keeps in them who accessed the field last.

use crate::class::{Class, Member, access};
use crate::error::Result;

/// How the names of a cell's words begin; behind it are the number of the field in its class, and the word's letter.
pub const CELL: &str = "foretrace$";
/// The letters of its words.
pub const CELL_WORDS: [char; 3] = ['w', 'r', 'd'];

/// The flags of a word. Transient: nobody writes it to a file, and it changes no class's serial number.
pub(crate) const CELL_ACCESS: u16 = access::PRIVATE | access::TRANSIENT | access::SYNTHETIC;

/// Whether a field with these flags has a cell in its object.
pub fn has_cell(flags: u16) -> bool {
    flags & (access::STATIC | access::FINAL) == 0
}

impl Class<'_> {
    /// Adds the cells of its fields. Whether there are any.
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

//! Where functions are entered: the room that `foretrace cc` leaves there, and the parameters that are passed.

use super::{Binder, NotBound};
use crate::dwarf::parameters::Parameter;
use crate::headers;
use crate::symbols::Kind;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSegment};

/// One place where a function begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The address of its first instruction in its file.
    pub low: u64,
    /// Whether there is room for a hook: six bytes before the function, and two at its begin, that do nothing.
    pub has_room: bool,
    /// Its parameters. `None`: there is no debug information that would say.
    pub parameters: Option<Vec<Parameter>>,
}

/// Bytes that are looked at before and after the first address of a function.
const BEFORE: u64 = 5;
const AFTER: u64 = 6;
/// An instruction that may stand before the room.
const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

impl Binder {
    /// The entries of a function that [`Binder::function`] finds, inlined copies left out.
    pub fn entries(&mut self, query: &str) -> Result<Vec<Entry>, NotBound> {
        let found = self.matching_functions(query)?;
        let program = found[0].program;
        let mut places: Vec<_> =
            found.iter().filter(|entry| !entry.code.inlined).map(|entry| (entry.code.low, entry.die)).collect();
        places.sort_unstable();
        places.dedup();
        let file = &mut self.programs[program];
        let code = headers::read(&file.image.path).unwrap_or_default();
        let mut entries = Vec::new();
        for (low, die) in places {
            let symbol = file.image.symbols.at(low, &[Kind::Function]);
            let symbol = symbol.filter(|symbol| symbol.address == low);
            let name = symbol.map(|symbol| file.image.symbols.name(symbol)).unwrap_or_default();
            // Unlikely parts of a function lie elsewhere, and are jumped to.
            if name.contains(".cold") {
                continue;
            }
            let is_clone = [".isra", ".constprop", ".part"].iter().any(|mark| name.contains(mark));
            let parameters = file.debug.as_mut().zip(die).map(|(debug, die)| debug.parameters(die, low, is_clone));
            entries.push(Entry { low, has_room: has_room(&code, low), parameters });
        }
        Ok(entries)
    }
}

/// Whether a hook can be put before the function at an address of a file.
fn has_room(file: &[u8], low: u64) -> bool {
    let Ok(file) = ElfFile64::<Endianness>::parse(file) else { return false };
    let Some(from) = low.checked_sub(BEFORE) else { return false };
    let bytes = file.segments().find_map(|segment| segment.data_range(from, BEFORE + AFTER).ok().flatten());
    bytes.is_some_and(is_room)
}

/// Five bytes that do nothing, maybe the mark of a place that is jumped to, and two more of them.
fn is_room(bytes: &[u8]) -> bool {
    let Some((before, after)) = bytes.split_at_checked(BEFORE as usize) else { return false };
    let after = after.strip_prefix(&ENDBR64).unwrap_or(after);
    let is_idle = *before == [0x90; 5] || *before == [0x0f, 0x1f, 0x44, 0x00, 0x00];
    is_idle && (after.starts_with(&[0x90, 0x90]) || after.starts_with(&[0x66, 0x90]))
}

#[cfg(test)]
mod tests {
    use super::is_room;

    #[test]
    fn only_instructions_that_do_nothing_are_room() {
        let gcc = [0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x55, 0x48, 0x89, 0xe5];
        let clang = [0x0f, 0x1f, 0x44, 0x00, 0x00, 0x66, 0x90, 0x50, 0xc3, 0xcc, 0xcc];
        let marked = [0x90, 0x90, 0x90, 0x90, 0x90, 0xf3, 0x0f, 0x1e, 0xfa, 0x90, 0x90];
        assert!([gcc, clang, marked].iter().all(|bytes| is_room(bytes)));
        let plain = [0x90, 0x90, 0x90, 0x90, 0x90, 0x55, 0x48, 0x89, 0xe5, 0x53, 0x50];
        let behind_code = [0x90, 0x90, 0x90, 0x90, 0xc3, 0x90, 0x90, 0x55, 0x48, 0x89, 0xe5];
        assert!([plain, behind_code].iter().all(|bytes| !is_room(bytes)));
        assert!(!is_room(&[]) && !is_room(&[0x90; 4]));
    }
}

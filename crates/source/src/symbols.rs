//! The symbol table: functions and variables by address and by name, for files without debug information.

use crate::limits::MAX_NAME_BYTES;
use object::Endianness;
use object::elf::{self, Sym64};
use object::read::elf::{ElfFile64, SectionHeader as _, Sym as _};
use std::sync::Arc;

/// What a symbol names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Function,
    Variable,
    ThreadLocal,
}

/// A symbol that the file defines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) kind: Kind,
    /// Whether only its own file sees it.
    pub(crate) local: bool,
    name: u32,
    /// The name of the source file it comes from, if it is local and the table says it.
    file: u32,
}

/// The symbols of a file, by address. Names stay in the string table, which a hostile file cannot blow up.
#[derive(Default)]
pub(crate) struct Symbols {
    strings: Arc<[u8]>,
    list: Vec<Symbol>,
}

impl Symbols {
    /// The symbols of `.symtab`, or of `.dynsym` if that is all there is.
    pub(crate) fn read(file: &ElfFile64<'_, Endianness>) -> Symbols {
        let full = Symbols::of_type(file, elf::SHT_SYMTAB);
        if full.len() > 0 { full } else { Symbols::of_type(file, elf::SHT_DYNSYM) }
    }

    fn of_type(file: &ElfFile64<'_, Endianness>, kind: elf::SectionType) -> Symbols {
        let (endian, data) = (file.endian(), file.data());
        let sections = file.elf_section_table();
        let Some(header) = sections.iter().find(|s| s.sh_type(endian) == kind) else { return Symbols::default() };
        let Ok(entries) = header.data_as_array::<Sym64<Endianness>, _>(endian, data) else { return Symbols::default() };
        let strings = sections.section(header.link(endian)).and_then(|s| s.data(endian, data)).unwrap_or_default();
        let mut list = Vec::new();
        let mut source = 0;
        for entry in entries {
            let kind = match entry.st_type() {
                elf::STT_FILE => {
                    source = entry.st_name(endian);
                    continue;
                }
                elf::STT_FUNC | elf::STT_GNU_IFUNC => Kind::Function,
                elf::STT_OBJECT | elf::STT_COMMON => Kind::Variable,
                elf::STT_TLS => Kind::ThreadLocal,
                _ => continue,
            };
            if entry.is_undefined(endian) {
                continue;
            }
            let local = entry.st_bind() == elf::STB_LOCAL;
            list.push(Symbol {
                address: entry.st_value(endian),
                size: entry.st_size(endian),
                kind,
                local,
                name: entry.st_name(endian),
                file: if local { source } else { 0 },
            });
        }
        // Of several names for one place the largest, then the global one comes first.
        list.sort_by_key(|s| (s.address, std::cmp::Reverse(s.size), s.local));
        Symbols { strings: Arc::from(strings), list }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Symbol> {
        self.list.iter()
    }

    fn text(&self, at: u32) -> &str {
        let bytes = self.strings.get(at as usize..).unwrap_or_default();
        let bytes = &bytes[..bytes.len().min(MAX_NAME_BYTES)];
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        std::str::from_utf8(&bytes[..end]).unwrap_or_default()
    }

    /// The symbol's name as it stands in the file.
    pub(crate) fn name(&self, symbol: &Symbol) -> &str {
        self.text(symbol.name)
    }

    /// The source file of a local symbol, or the empty string.
    pub(crate) fn file(&self, symbol: &Symbol) -> &str {
        if symbol.file == 0 { "" } else { self.text(symbol.file) }
    }

    /// The symbol of one of the kinds that contains an address. One without a size reaches to the next symbol.
    pub(crate) fn at(&self, address: u64, kinds: &[Kind]) -> Option<&Symbol> {
        // Symbols may lie in each other; beyond a few steps back there is nothing that contains the address.
        const STEPS: usize = 64;
        let after = self.list.partition_point(|s| s.address <= address);
        let near = self.list[..after].iter().rev().take(STEPS);
        let mut sized = near.clone().filter(|s| kinds.contains(&s.kind) && !self.name(s).is_empty());
        let inside = sized.find(|s| address - s.address < s.size);
        inside.or_else(|| {
            let first = near.clone().next()?.address;
            let mut unsized_ones = near.take_while(|s| s.address == first);
            unsized_ones.find(|s| s.size == 0 && kinds.contains(&s.kind) && !self.name(s).is_empty())
        })
    }
}

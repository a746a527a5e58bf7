//! What is taken out of an ELF file: symbols, debug sections, and where to find more of them.

use crate::Error;
use crate::headers;
use crate::limits::{MAX_FILE_BYTES, MAX_UNPACKED_BYTES};
use crate::symbols::Symbols;
use gimli::{EndianArcSlice, RunTimeEndian, SectionId};
use object::read::elf::{Dyn as _, ElfFile64, SectionHeader as _};
use object::{CompressionFormat, Endianness, Object, ObjectSection};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A section's bytes, as gimli reads them.
pub(crate) type Bytes = EndianArcSlice<RunTimeEndian>;

/// The parts of an ELF file that are of use here; the rest is not kept.
pub(crate) struct Image {
    pub(crate) path: PathBuf,
    pub(crate) symbols: Symbols,
    /// The debug information, if the file has any.
    pub(crate) dwarf: Option<gimli::Dwarf<Bytes>>,
    /// How many bytes of it there are.
    pub(crate) dwarf_bytes: u64,
    pub(crate) build_id: Vec<u8>,
    pub(crate) debug_link: Option<String>,
    /// The names of the shared libraries it needs, and where it says they may lie.
    pub(crate) needed: Vec<String>,
    pub(crate) run_paths: Vec<String>,
}

impl Image {
    /// Reads a 64-bit ELF file.
    pub(crate) fn read(path: &Path) -> Result<Image, Error> {
        let bytes = headers::read(path)?;
        let bad = |e: object::Error| Error::new(path, format!("not a program: {e}"));
        let file = ElfFile64::<Endianness>::parse(&*bytes).map_err(bad)?;
        let mut unpacked = 0;
        let dwarf = sections(&file, path, &mut unpacked)?;
        let (needed, run_paths) = dynamic(&file);
        Ok(Image {
            path: path.to_owned(),
            symbols: Symbols::read(&file),
            dwarf,
            dwarf_bytes: unpacked,
            build_id: file.build_id().ok().flatten().unwrap_or_default().iter().take(64).copied().collect(),
            debug_link: file
                .gnu_debuglink()
                .ok()
                .flatten()
                .and_then(|(name, _)| Some(std::str::from_utf8(name).ok()?.to_owned()))
                .filter(|name| !name.contains('/') && name.len() < 256),
            needed,
            run_paths,
        })
    }

    /// Adds the debug information and symbols of a separate file, if this one has none of its own. Of the system's
    /// libraries the names of functions are enough, and their files are large.
    pub(crate) fn with_separate_debug(mut self) -> Image {
        if self.dwarf.is_some() || crate::is_system_module(&self.path) {
            return self;
        }
        for path in self.separate_files() {
            // Reading a large file only to see that it is the wrong one would be a pity, but there are at most four.
            let Ok(other) = Image::read(&path) else { continue };
            if other.dwarf.is_some() && (self.build_id.is_empty() || self.build_id == other.build_id) {
                self.dwarf = other.dwarf;
                self.dwarf_bytes = other.dwarf_bytes;
                if other.symbols.len() > self.symbols.len() {
                    self.symbols = other.symbols;
                }
                break;
            }
        }
        self
    }

    /// Where a separate file with debug information is looked for, as gdb does.
    fn separate_files(&self) -> Vec<PathBuf> {
        let debug = Path::new("/usr/lib/debug");
        let mut found = Vec::new();
        if let Some((first, rest)) = self.build_id.split_first().filter(|(_, rest)| !rest.is_empty()) {
            let hex: String = rest.iter().map(|b| format!("{b:02x}")).collect();
            found.push(debug.join(format!(".build-id/{first:02x}/{hex}.debug")));
        }
        if let (Some(name), Some(folder)) = (&self.debug_link, self.path.parent()) {
            found.push(folder.join(name));
            found.push(folder.join(".debug").join(name));
            if let Ok(below) = folder.strip_prefix("/") {
                found.push(debug.join(below).join(name));
            }
        }
        found.retain(|path| *path != self.path && path.is_file());
        found
    }
}

/// The DWARF sections, unpacked, if there is a `.debug_info`.
fn sections(
    file: &ElfFile64<'_, Endianness>,
    path: &Path,
    unpacked: &mut u64,
) -> Result<Option<gimli::Dwarf<Bytes>>, Error> {
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    if file.section_by_name(".debug_info").is_none_or(|section| section.size() == 0) {
        return Ok(None);
    }
    let dwarf = gimli::Dwarf::load(|id: SectionId| -> Result<Bytes, Error> {
        let empty = || Bytes::new(Arc::from(Vec::new()), endian);
        let Some(section) = file.section_by_name(id.name()) else { return Ok(empty()) };
        let bad = |e: object::Error| Error::new(path, format!("{}: {e}", id.name()));
        let range = section.compressed_file_range().map_err(bad)?;
        let bound = if range.format == CompressionFormat::None { MAX_FILE_BYTES } else { MAX_UNPACKED_BYTES };
        *unpacked = unpacked.saturating_add(range.uncompressed_size);
        if *unpacked > bound {
            return Err(Error::new(path, format!("{} is too large", id.name())));
        }
        let data = section.uncompressed_data().map_err(bad)?;
        Ok(Bytes::new(Arc::from(data.as_ref()), endian))
    })?;
    Ok(Some(dwarf))
}

/// The libraries a file needs, and the folders it names for them.
pub(crate) fn dynamic(file: &ElfFile64<'_, Endianness>) -> (Vec<String>, Vec<String>) {
    use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH};
    let (endian, data) = (file.endian(), file.data());
    let sections = file.elf_section_table();
    let mut needed = Vec::new();
    let mut folders = Vec::new();
    for section in sections.iter() {
        let Ok(Some((entries, strings))) = section.dynamic(endian, data) else { continue };
        let Ok(strings) = sections.strings(endian, data, strings) else { continue };
        for entry in entries.iter().take(1 << 12) {
            let tag = entry.tag(endian);
            if tag != DT_NEEDED && tag != DT_RPATH && tag != DT_RUNPATH {
                continue;
            }
            let text = entry.val32(endian).and_then(|at| strings.get(at).ok()).unwrap_or_default();
            let Ok(text) = std::str::from_utf8(&text[..text.len().min(4096)]) else { continue };
            if tag == DT_NEEDED {
                needed.push(text.to_owned());
            } else {
                folders.extend(text.split(':').take(64).map(str::to_owned));
            }
        }
        break;
    }
    (needed, folders)
}

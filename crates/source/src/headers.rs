//! The first bytes of an ELF file: what it is and where its parts are loaded, without reading the rest.

use crate::Error;
use crate::limits::{MAX_FILE_BYTES, MAX_PROGRAM_HEADERS};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;

const PT_LOAD: u32 = 1;
const PT_INTERP: u32 = 3;
const PT_TLS: u32 = 7;

/// A part of the file that is loaded into memory (`PT_LOAD`), or the image of thread-local variables (`PT_TLS`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) file_size: u64,
    pub(crate) size: u64,
    pub(crate) align: u64,
}

/// What the headers say.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Headers {
    /// `e_type`: 2 is an executable at a fixed address, 3 one that can be loaded anywhere, or a library.
    pub(crate) kind: u16,
    /// `e_machine`.
    pub(crate) machine: u16,
    pub(crate) loads: Vec<Segment>,
    pub(crate) tls: Option<Segment>,
    /// Whether it asks for a dynamic loader.
    pub(crate) interpreter: bool,
}

/// Opens a plain file of a size we are willing to read. Anything else (a pipe could block for ever) is an error.
pub(crate) fn open(path: &Path) -> Result<(File, u64), Error> {
    let meta = std::fs::metadata(path).map_err(|e| Error::new(path, e))?;
    if !meta.is_file() {
        return Err(Error::new(path, "not a file"));
    }
    let file = File::open(path).map_err(|e| Error::new(path, e))?;
    let len = file.metadata().map_err(|e| Error::new(path, e))?.len();
    if len > MAX_FILE_BYTES {
        return Err(Error::new(path, format!("larger than {} GiB", MAX_FILE_BYTES >> 30)));
    }
    Ok((file, len))
}

/// The whole file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let (file, len) = open(path)?;
    let mut bytes = Vec::new();
    let room = usize::try_from(len).ok().and_then(|len| bytes.try_reserve_exact(len).ok());
    room.ok_or_else(|| Error::new(path, "too large for memory"))?;
    file.take(len).read_to_end(&mut bytes).map_err(|e| Error::new(path, e))?;
    Ok(bytes)
}

/// The headers of a file, `None` if it is not a 64-bit little-endian ELF file.
pub(crate) fn of_file(path: &Path) -> Result<Option<Headers>, Error> {
    let (file, _) = open(path)?;
    let mut head = [0; 64];
    if file.read_exact_at(&mut head, 0).is_err() {
        return Ok(None);
    }
    let Some((at, count)) = table(&head) else { return Ok(None) };
    let mut bytes = vec![0; usize::from(count) * 56];
    if file.read_exact_at(&mut bytes, at).is_err() {
        return Err(Error::new(path, "its program headers lie outside of the file"));
    }
    Ok(Some(parse(&head, &bytes)))
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

/// Where the program headers are, and how many.
fn table(head: &[u8; 64]) -> Option<(u64, u16)> {
    let elf = head.starts_with(b"\x7fELF") && head[4] == 2 && head[5] == 1;
    let entry = u16_at(head, 54);
    let count = u16_at(head, 56);
    (elf && (count == 0 || entry == 56) && count <= MAX_PROGRAM_HEADERS).then(|| (u64_at(head, 32), count))
}

fn parse(head: &[u8; 64], table: &[u8]) -> Headers {
    let mut headers = Headers { kind: u16_at(head, 16), machine: u16_at(head, 18), ..Headers::default() };
    for entry in table.chunks_exact(56) {
        let segment = Segment {
            offset: u64_at(entry, 8),
            address: u64_at(entry, 16),
            file_size: u64_at(entry, 32),
            size: u64_at(entry, 40),
            align: u64_at(entry, 48),
        };
        match u64_at(entry, 0) as u32 {
            PT_LOAD => headers.loads.push(segment),
            PT_TLS => headers.tls = Some(segment),
            PT_INTERP => headers.interpreter = true,
            _ => {}
        }
    }
    headers
}

//! Writes archives, from begin to end.

use super::entry::Entry;
use super::read::Archive;
use super::{ELSEWHERE, signature};
use crate::error::Result;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::{self, Read, Seek, Write};

/// The version that readers of large archives must know.
const VERSION_64: u16 = 45;

/// An archive that is being written.
pub(crate) struct Writer<W> {
    out: Counted<W>,
    /// What the archive takes for its begin.
    base: u64,
    /// The entries, to be sorted as in the directory: old entries by their numbers there, then new ones.
    entries: Vec<(usize, Entry)>,
    comment: Vec<u8>,
}

/// Counts what is written.
struct Counted<W> {
    out: W,
    at: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.at += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Writer<W> {
    /// An archive that begins and ends as another.
    pub(crate) fn like<R: Read + Seek>(archive: &mut Archive<R>, out: W) -> Result<Writer<W>> {
        let mut out = Counted { out, at: 0 };
        archive.copy(0, archive.before(), &mut out)?;
        Ok(Writer { out, base: archive.base, entries: Vec::new(), comment: archive.comment.clone() })
    }

    /// Copies an entry with what lies after it.
    pub(crate) fn copy<R: Read + Seek>(&mut self, archive: &mut Archive<R>, number: usize, end: u64) -> Result<()> {
        let mut entry = archive.entries[number].clone();
        let begin = std::mem::replace(&mut entry.at, self.out.at - self.base);
        self.entries.push((number, entry));
        archive.copy(begin, end, &mut self.out)
    }

    /// Writes an entry with new data, packed as it was.
    pub(crate) fn replace<R: Read + Seek>(
        &mut self,
        archive: &mut Archive<R>,
        number: usize,
        data: &[u8],
    ) -> Result<()> {
        let (extra, _) = archive.local(number)?;
        self.write(number, archive.entries[number].clone(), &extra, data)
    }

    /// Adds an entry.
    pub(crate) fn add(&mut self, entry: Entry, data: &[u8]) -> Result<()> {
        self.write(usize::MAX, entry, &[], data)
    }

    fn write(&mut self, number: usize, mut entry: Entry, extra: &[u8], data: &[u8]) -> Result<()> {
        let packed = if entry.is_stored() {
            data.into()
        } else {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(data)?;
            std::borrow::Cow::from(encoder.finish()?)
        };
        let small = |size: usize| u32::try_from(size).ok().filter(|&size| size != ELSEWHERE);
        let (Some(size), Some(packed_size)) = (small(data.len()), small(packed.len())) else {
            return Err(entry.wrong("it would be larger than 4 GiB"));
        };
        entry.set_sizes(crc32fast::hash(data), packed_size.into(), size.into());
        entry.at = self.out.at - self.base;
        let mut header = signature::LOCAL.to_le_bytes().to_vec();
        for part in [entry.needed, entry.flags, entry.method] {
            header.extend(part.to_le_bytes());
        }
        for part in [entry.time, entry.sum, packed_size, size] {
            header.extend(part.to_le_bytes());
        }
        header.extend((entry.name.len() as u16).to_le_bytes());
        header.extend((extra.len() as u16).to_le_bytes());
        header.extend(&entry.name);
        header.extend(extra);
        self.out.write_all(&header)?;
        self.out.write_all(&packed)?;
        self.entries.push((number, entry));
        Ok(())
    }

    /// Writes the directory.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.entries.sort_by_key(|&(number, _)| number);
        let mut bytes = Vec::new();
        self.entries.iter().for_each(|(_, entry)| entry.write(&mut bytes));
        let (at, size, count) = (self.out.at - self.base, bytes.len() as u64, self.entries.len() as u64);
        if count >= u16::MAX.into() || at >= ELSEWHERE.into() || size >= ELSEWHERE.into() {
            let end = self.out.at - self.base + size;
            bytes.extend(signature::END_64.to_le_bytes());
            // The size of what follows.
            bytes.extend(44u64.to_le_bytes());
            [VERSION_64, VERSION_64].into_iter().for_each(|version| bytes.extend(version.to_le_bytes()));
            bytes.extend(0u64.to_le_bytes());
            [count, count, size, at].into_iter().for_each(|part| bytes.extend(part.to_le_bytes()));
            bytes.extend(signature::LOCATOR_64.to_le_bytes());
            bytes.extend(0u32.to_le_bytes());
            bytes.extend(end.to_le_bytes());
            bytes.extend(1u32.to_le_bytes());
        }
        bytes.extend(signature::END.to_le_bytes());
        bytes.extend(0u32.to_le_bytes());
        let short = u16::try_from(count).unwrap_or(u16::MAX);
        [short, short].into_iter().for_each(|count| bytes.extend(count.to_le_bytes()));
        for part in [size, at] {
            bytes.extend(u32::try_from(part).unwrap_or(ELSEWHERE).to_le_bytes());
        }
        bytes.extend((self.comment.len() as u16).to_le_bytes());
        bytes.extend(&self.comment);
        self.out.write_all(&bytes)?;
        self.out.flush()?;
        Ok(())
    }
}

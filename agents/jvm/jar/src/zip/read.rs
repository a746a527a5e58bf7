//! Reads archives: their directory, and the data of entries.

use super::entry::Entry;
use super::{signature, u16_at, u32_at, u64_at, without_64};
use crate::error::{Error, Result};
use flate2::bufread::DeflateDecoder;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

const END_SIZE: usize = 22;
const END_64_SIZE: usize = 56;
const LOCATOR_SIZE: usize = 20;
const LOCAL_SIZE: usize = 30;
/// The largest directory that is read.
const MOST: u64 = 1 << 28;

/// An archive.
pub(crate) struct Archive<R> {
    input: R,
    /// The entries, in the order of the directory.
    pub(crate) entries: Vec<Entry>,
    /// The entries in the order of the file: the number of each, and where it ends with what lies after it.
    pub(crate) order: Vec<(usize, u64)>,
    /// What the archive takes for its begin. Something may be before it, like a script.
    pub(super) base: u64,
    pub(super) comment: Vec<u8>,
}

/// Where the directory is.
struct Directory {
    at: u64,
    size: u64,
    base: u64,
    /// How many entries it has; in an old archive, only the lower bits.
    count: u64,
    is_64: bool,
    comment: Vec<u8>,
}

impl<R: Read + Seek> Archive<R> {
    pub(crate) fn open(mut input: R) -> Result<Archive<R>> {
        let directory = find_directory(&mut input)?;
        let mut bytes = vec![0; directory.size as usize];
        input.seek(SeekFrom::Start(directory.at))?;
        input.read_exact(&mut bytes)?;
        let (mut entries, mut begin) = (Vec::new(), 0);
        while begin < bytes.len() {
            let (mut entry, size) = Entry::read(&bytes[begin..])?;
            begin += size;
            entry.at = entry.at.checked_add(directory.base).ok_or(Error::Directory("an entry is too far away"))?;
            entries.push(entry);
        }
        let count = entries.len() as u64;
        if if directory.is_64 { count } else { count & 0xffff } != directory.count {
            return Err(Error::Directory("it has more or fewer entries than it says"));
        }
        let order = order(&entries, directory.at)?;
        Ok(Archive { input, entries, order, base: directory.base, comment: directory.comment })
    }

    /// How many bytes come before the first entry.
    pub(crate) fn before(&self) -> u64 {
        self.order.first().map_or(self.base, |&(first, _)| self.entries[first].at)
    }

    /// Copies a part of the file as it is.
    pub(super) fn copy(&mut self, from: u64, to: u64, out: &mut dyn Write) -> Result<()> {
        self.input.seek(SeekFrom::Start(from))?;
        let size = to - from;
        match io::copy(&mut self.input.by_ref().take(size), out)? {
            copied if copied == size => Ok(()),
            _ => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
    }

    /// The extra fields of an entry's own header, without those that new data makes wrong; and where its data begins.
    pub(super) fn local(&mut self, number: usize) -> Result<(Vec<u8>, u64)> {
        let (entry, input) = (&self.entries[number], &mut self.input);
        let mut header = [0; LOCAL_SIZE];
        let mut read = || {
            input.seek(SeekFrom::Start(entry.at))?;
            input.read_exact(&mut header)
        };
        if read().is_err() || u32_at(&header, 0) != signature::LOCAL {
            return Err(entry.wrong("nothing begins where the directory says that it is"));
        }
        let [name, extra] = [26, 28].map(|at| u16_at(&header, at));
        let mut bytes = vec![0; extra.into()];
        input.seek(SeekFrom::Current(name.into()))?;
        input.read_exact(&mut bytes).map_err(|_| entry.wrong("its header is cut off"))?;
        let begin = entry.at + LOCAL_SIZE as u64 + u64::from(name) + u64::from(extra);
        Ok((without_64(&bytes), begin))
    }

    /// The data of an entry, if it is what the directory says.
    pub(crate) fn read(&mut self, number: usize, end: u64) -> Result<Vec<u8>> {
        let (_, begin) = self.local(number)?;
        let entry = &self.entries[number];
        if begin.checked_add(entry.packed).is_none_or(|data_end| data_end > end) {
            return Err(Error::Overlap { name: entry.shown() });
        }
        self.input.seek(SeekFrom::Start(begin))?;
        let packed = self.input.by_ref().take(entry.packed);
        let mut data = Vec::new();
        // One byte more shows that there is more. Memory grows only with what is really there.
        let most = entry.size.saturating_add(1);
        if entry.is_stored() {
            packed.take(most).read_to_end(&mut data)?;
        } else {
            let mut unpacked = DeflateDecoder::new(BufReader::with_capacity(1 << 14, packed)).take(most);
            unpacked.read_to_end(&mut data).map_err(|error| entry.wrong(error))?;
        }
        if data.len() as u64 != entry.size {
            return Err(entry.wrong("it is not as long as the directory says"));
        }
        if crc32fast::hash(&data) != entry.sum {
            return Err(entry.wrong("its checksum is wrong"));
        }
        Ok(data)
    }
}

/// The entries in the order of the file, and where each ends.
fn order(entries: &[Entry], directory: u64) -> Result<Vec<(usize, u64)>> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|&number| entries[number].at);
    let ends: Vec<u64> =
        order.iter().skip(1).map(|&number| entries[number].at).chain([directory]).take(order.len()).collect();
    let order: Vec<(usize, u64)> = order.into_iter().zip(ends).collect();
    for &(number, end) in &order {
        let entry = &entries[number];
        let least = LOCAL_SIZE as u64 + entry.name.len() as u64;
        let begins = entry.at.checked_add(least).and_then(|begin| begin.checked_add(entry.packed));
        if begins.is_none_or(|least| least > end) {
            return Err(Error::Overlap { name: entry.shown() });
        }
    }
    Ok(order)
}

/// Finds the directory, from the end of the file.
fn find_directory<R: Read + Seek>(input: &mut R) -> Result<Directory> {
    let size = input.seek(SeekFrom::End(0))?;
    let tail = size.min((END_SIZE + usize::from(u16::MAX) + LOCATOR_SIZE + END_64_SIZE) as u64);
    let mut bytes = vec![0; tail as usize];
    input.seek(SeekFrom::Start(size - tail))?;
    input.read_exact(&mut bytes)?;
    let is_end = |&at: &usize| {
        u32_at(&bytes, at) == signature::END && at + END_SIZE + usize::from(u16_at(&bytes, at + 20)) == bytes.len()
    };
    let last = bytes.len().checked_sub(END_SIZE).ok_or(Error::NotAnArchive)?;
    let end = (0..=last).rev().find(is_end).ok_or(Error::NotAnArchive)?;
    let comment = bytes[end + END_SIZE..].to_vec();
    if u16_at(&bytes, end + 4) != u16_at(&bytes, end + 6) {
        return Err(Error::Directory("the archive has several parts"));
    }
    let end_64 = end
        .checked_sub(LOCATOR_SIZE)
        .filter(|&at| u32_at(&bytes, at) == signature::LOCATOR_64)
        .and_then(|at| at.checked_sub(END_64_SIZE))
        .filter(|&at| u32_at(&bytes, at) == signature::END_64);
    let (at, [count, length, summary]) = match end_64 {
        Some(at) => (at, [32, 40, 48].map(|field| u64_at(&bytes, at + field))),
        None => {
            let [length, summary] = [12, 16].map(|field| u64::from(u32_at(&bytes, end + field)));
            (end, [u16_at(&bytes, end + 10).into(), length, summary])
        }
    };
    // The directory ends where its end record begins.
    let begin = (size - tail + at as u64).checked_sub(length).ok_or(Error::Directory("it is longer than the file"))?;
    let base = begin.checked_sub(summary).ok_or(Error::Directory("it is not where it says to be"))?;
    if length > MOST {
        return Err(Error::Directory("it is too large"));
    }
    Ok(Directory { at: begin, size: length, base, count, is_64: end_64.is_some(), comment })
}

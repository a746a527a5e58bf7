//! An entry, as the directory of an archive has it.

use super::{ELSEWHERE, EXTRA_64, extras, signature, u16_at, u32_at, u64_at, without_64};
use crate::error::{Error, Result};

/// Its data is encrypted.
const ENCRYPTED: u16 = 1;
/// Its sizes follow its data.
const SIZES_FOLLOW: u16 = 8;
/// How data is packed.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// An entry.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    made_by: u16,
    pub(super) needed: u16,
    pub(super) flags: u16,
    pub(super) method: u16,
    /// Time and date.
    pub(super) time: u32,
    pub(super) sum: u32,
    pub(super) packed: u64,
    pub(crate) size: u64,
    internal: u16,
    external: u32,
    /// The position of its own header: in the file if it was read, relative to the archive's begin if it is to be
    /// written.
    pub(super) at: u64,
    /// Extra fields, without the one of large numbers.
    extra: Vec<u8>,
    pub(crate) name: Vec<u8>,
    comment: Vec<u8>,
}

impl Entry {
    const SIZE: usize = 46;

    /// Reads an entry. Also returns where it ends. The position of its header is relative to the archive's begin.
    pub(super) fn read(bytes: &[u8]) -> Result<(Entry, usize)> {
        const SHORT: Error = Error::Directory("it ends in the middle of an entry");
        if bytes.len() < Entry::SIZE {
            return Err(SHORT);
        }
        if u32_at(bytes, 0) != signature::CENTRAL {
            return Err(Error::Directory("an entry does not begin as it must"));
        }
        let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(u16_at(bytes, at)));
        let end = Entry::SIZE + name + extra + comment;
        let rest = bytes.get(Entry::SIZE..end).ok_or(SHORT)?;
        let (name, rest) = rest.split_at(name);
        let (extra, comment) = rest.split_at(extra);
        let mut large = extras(extra).find(|(number, ..)| *number == EXTRA_64).map(|(_, content, _)| content);
        let mut number = |at: usize| -> Result<u64> {
            match (u32_at(bytes, at), &mut large) {
                (ELSEWHERE, Some(content)) => {
                    let (first, rest) =
                        content.split_first_chunk::<8>().ok_or(Error::Directory("a large number is missing"))?;
                    *content = rest;
                    Ok(u64_at(first, 0))
                }
                (number, _) => Ok(number.into()),
            }
        };
        // The extra field has them in this order.
        let (size, packed) = (number(24)?, number(20)?);
        let at = number(42)?;
        if !matches!(u16_at(bytes, 34), 0 | u16::MAX) {
            return Err(Error::Directory("the archive has several parts"));
        }
        let entry = Entry {
            made_by: u16_at(bytes, 4),
            needed: u16_at(bytes, 6),
            flags: u16_at(bytes, 8),
            method: u16_at(bytes, 10),
            time: u32_at(bytes, 12),
            sum: u32_at(bytes, 16),
            packed,
            size,
            internal: u16_at(bytes, 36),
            external: u32_at(bytes, 38),
            at,
            extra: without_64(extra),
            name: name.to_vec(),
            comment: comment.to_vec(),
        };
        Ok((entry, end))
    }

    /// Writes the entry.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let small = |number: u64| u32::try_from(number).ok().filter(|&number| number != ELSEWHERE);
        let large: Vec<u8> = [self.size, self.packed, self.at]
            .into_iter()
            .filter(|&number| small(number).is_none())
            .flat_map(u64::to_le_bytes)
            .collect();
        let mut extra = Vec::new();
        if !large.is_empty() {
            extra.extend(EXTRA_64.to_le_bytes());
            extra.extend((large.len() as u16).to_le_bytes());
            extra.extend(large);
        }
        // There is room: it was there before, or the numbers were small.
        extra.extend(&self.extra);
        extra.truncate(u16::MAX.into());
        out.extend(signature::CENTRAL.to_le_bytes());
        for part in [self.made_by, self.needed, self.flags, self.method] {
            out.extend(part.to_le_bytes());
        }
        out.extend(self.time.to_le_bytes());
        out.extend(self.sum.to_le_bytes());
        for number in [self.packed, self.size] {
            out.extend(small(number).unwrap_or(ELSEWHERE).to_le_bytes());
        }
        for part in [self.name.len(), extra.len(), self.comment.len(), 0] {
            out.extend((part as u16).to_le_bytes());
        }
        out.extend(self.internal.to_le_bytes());
        out.extend(self.external.to_le_bytes());
        out.extend(small(self.at).unwrap_or(ELSEWHERE).to_le_bytes());
        out.extend(&self.name);
        out.extend(extra);
        out.extend(&self.comment);
    }

    /// An empty entry that is like this one otherwise.
    pub(crate) fn beside(&self, name: Vec<u8>) -> Entry {
        Entry { name, extra: Vec::new(), comment: Vec::new(), ..self.clone() }
    }

    /// Its name, for messages.
    pub(crate) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }

    /// Whether its data is packed in a known way: if not, it is left alone.
    pub(crate) fn is_readable(&self) -> bool {
        self.flags & ENCRYPTED == 0 && matches!(self.method, STORED | DEFLATED)
    }

    pub(super) fn is_stored(&self) -> bool {
        self.method == STORED
    }

    /// Sets checksum and sizes of new data.
    pub(super) fn set_sizes(&mut self, sum: u32, packed: u64, size: u64) {
        self.flags &= !SIZES_FOLLOW;
        (self.sum, self.packed, self.size) = (sum, packed, size);
    }

    /// An error of this entry.
    pub(crate) fn wrong(&self, what: impl ToString) -> Error {
        Error::Entry { name: self.shown(), what: what.to_string() }
    }
}

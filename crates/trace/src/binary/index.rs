//! The index frame, which lists the frames of a finished file, and the end frame, which finds it from the file's end.

use super::bytes::{Cursor, put};
use super::frame::{Damage, FRAME_HEADER};

/// One frame of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) offset: u64,
    /// Events, or records, in it.
    pub(super) count: u32,
}

pub(super) fn put_index(out: &mut Vec<u8>, entries: &[Entry]) {
    let mut last = 0;
    for entry in entries {
        out.extend_from_slice(&[entry.kind, entry.flags]);
        put(out, entry.offset - last);
        put(out, entry.count.into());
        last = entry.offset;
    }
}

pub(super) fn get_index(mut from: Cursor<'_>) -> Result<Vec<Entry>, Damage> {
    let mut entries = Vec::new();
    let mut offset = 0u64;
    while !from.is_empty() {
        let (kind, flags) = (from.byte()?, from.byte()?);
        let step = from.get()?;
        if step == 0 {
            return Err(Damage("a frame is listed twice"));
        }
        offset = offset.checked_add(step).ok_or(Damage("an offset is too large"))?;
        entries.push(Entry { kind, flags, offset, count: from.get_u32()? });
    }
    Ok(entries)
}

/// The end of a finished file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct End {
    /// Where the index frame is.
    pub(super) index: u64,
    /// How many events the file has, deferred ones included.
    pub(super) events: u64,
    /// How many of them are deferred.
    pub(super) deferred: u64,
}

/// Length of the end frame, header included.
pub(super) const END_FRAME: usize = FRAME_HEADER + 24;

pub(super) fn put_end(out: &mut Vec<u8>, end: &End) {
    for number in [end.index, end.events, end.deferred] {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

pub(super) fn get_end(mut from: Cursor<'_>) -> Result<End, Damage> {
    let end = End { index: from.u64_le()?, events: from.u64_le()?, deferred: from.u64_le()? };
    from.finish()?;
    Ok(end)
}

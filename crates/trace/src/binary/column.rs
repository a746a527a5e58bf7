//! Columns: runs of bytes, each compressed on its own, or stored where that would gain nothing.

use super::bytes::{Cursor, put};
use super::frame::Damage;
use std::io;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::{CParameter, ParamSwitch};

/// Fast enough to keep up with a recorder; higher levels gain little on predicted columns.
const LEVEL: i32 = 1;

/// Columns of one kind that are compressed alike before all ways are compared again.
const ALIKE: u8 = 15;

/// How a column is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Way {
    #[default]
    Stored,
    Counted,
    Matched,
}

/// How much work a byte is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Haste {
    /// Any that makes the file smaller.
    None,
    /// Little: a program waits for what is recorded.
    Some,
    /// None at all: the file is temporary.
    Utmost,
}

/// The way that was best for the last columns of a kind: columns that follow one another are alike, and trying costs
/// more than writing.
#[derive(Clone, Copy, Default)]
pub(super) struct Custom {
    way: Way,
    /// Columns to come for which it is taken to be best still.
    left: u8,
}

/// Writes columns. Each is compressed in the way that was best for those before it, or in both, and the better one
/// kept.
pub(super) struct ColumnWriter {
    haste: Haste,
    /// Finds repetitions: loops, phases.
    matching: Compressor<'static>,
    matched: Vec<u8>,
    /// Only counts how often each byte occurs. On columns without structure that is smaller, and far faster to read,
    /// than the short accidental repetitions that the other would find.
    counting: Compressor<'static>,
    counted: Vec<u8>,
}

impl ColumnWriter {
    pub(super) fn new() -> io::Result<Self> {
        let mut matching = Compressor::new(LEVEL)?;
        matching.set_parameter(CParameter::MinMatch(7))?;
        let mut counting = Compressor::new(LEVEL)?;
        // Steps so far ahead after each byte that it finds next to no repetitions.
        counting.set_parameter(CParameter::TargetLength(1 << 17))?;
        counting.set_parameter(CParameter::LiteralCompressionMode(ParamSwitch::Enable))?;
        Ok(ColumnWriter { haste: Haste::None, matching, matched: Vec::new(), counting, counted: Vec::new() })
    }

    /// Stores all columns as they are.
    pub(super) fn plain() -> io::Result<Self> {
        Ok(ColumnWriter { haste: Haste::Utmost, ..ColumnWriter::new()? })
    }

    /// From now on compresses where that gains much.
    pub(super) fn hurry(&mut self) {
        self.haste = Haste::Some;
    }

    /// Compresses where that gains much.
    pub(super) fn hurried() -> io::Result<Self> {
        Ok(ColumnWriter { haste: Haste::Some, ..ColumnWriter::new()? })
    }

    /// Appends a column: its length, its compressed length (0: stored), and the bytes.
    pub(super) fn put(&mut self, out: &mut Vec<u8>, raw: &[u8], custom: &mut Custom) {
        put(out, raw.len() as u64);
        if raw.is_empty() {
            return put(out, 0);
        }
        let way = if self.haste == Haste::Utmost {
            Way::Stored
        } else if custom.left > 0 {
            custom.left -= 1;
            self.compress(raw, custom.way)
        } else {
            *custom = Custom { way: self.compare(raw), left: ALIKE };
            custom.way
        };
        let packed = match way {
            Way::Stored => {
                put(out, 0);
                return out.extend_from_slice(raw);
            }
            Way::Counted => &self.counted,
            Way::Matched => &self.matched,
        };
        put(out, packed.len() as u64);
        out.extend_from_slice(packed);
    }

    /// Compresses in the best way there is.
    fn compare(&mut self, raw: &[u8]) -> Way {
        let counted = self.compress(raw, Way::Counted);
        let best = if counted == Way::Stored { raw.len() } else { self.counted.len() };
        // To find repetitions is several times the work of counting.
        let worth = if self.haste == Haste::None { best / 8 } else { best / 2 };
        let matched = compress(&mut self.matching, raw, best - worth, &mut self.matched);
        if matched { Way::Matched } else { counted }
    }

    /// Compresses in a way that is expected to be good; how it is to be stored then.
    fn compress(&mut self, raw: &[u8], way: Way) -> Way {
        let room = raw.len() - raw.len() / if self.haste == Haste::None { 16 } else { 4 };
        let fits = match way {
            Way::Stored => true,
            Way::Counted => compress(&mut self.counting, raw, room, &mut self.counted),
            Way::Matched => compress(&mut self.matching, raw, room, &mut self.matched),
        };
        if fits { way } else { Way::Stored }
    }
}

/// Compresses into at most `room` bytes: more would not be worth it.
fn compress(zstd: &mut Compressor<'_>, raw: &[u8], room: usize, into: &mut Vec<u8>) -> bool {
    into.clear();
    into.reserve_exact(room);
    zstd.compress_to_buffer(raw, into).is_ok_and(|len| (1..=room).contains(&len))
}

/// Reads columns.
pub(super) struct ColumnReader {
    zstd: Decompressor<'static>,
}

impl ColumnReader {
    pub(super) fn new() -> io::Result<Self> {
        Ok(ColumnReader { zstd: Decompressor::new()? })
    }

    /// Reads a column of at most `max` bytes into `buffer`.
    pub(super) fn get(&mut self, from: &mut Cursor<'_>, max: usize, buffer: &mut Vec<u8>) -> Result<(), Damage> {
        let len = from.get_below(max + 1)? as usize;
        let packed = from.get()?;
        buffer.clear();
        if packed == 0 {
            buffer.extend_from_slice(from.take(len)?);
            return Ok(());
        }
        let packed = usize::try_from(packed).map_err(|_| Damage("a column is cut off"))?;
        let packed = from.take(packed)?;
        buffer.reserve(len);
        match self.zstd.decompress_to_buffer(packed, buffer) {
            Ok(n) if n == len && buffer.len() == len => Ok(()),
            _ => Err(Damage("a column does not decompress to its length")),
        }
    }

    /// Reads a column of exactly `len` bytes.
    pub(super) fn get_exact(&mut self, from: &mut Cursor<'_>, len: usize, buffer: &mut Vec<u8>) -> Result<(), Damage> {
        self.get(from, len, buffer)?;
        if buffer.len() == len { Ok(()) } else { Err(Damage("a column is too short")) }
    }
}

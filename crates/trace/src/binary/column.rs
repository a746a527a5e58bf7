//! Columns: runs of bytes, each compressed on its own, or stored where that would gain nothing.

use super::bytes::{Cursor, put};
use super::frame::Damage;
use std::io;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::{CParameter, ParamSwitch};

/// Fast enough to keep up with a recorder; higher levels gain little on predicted columns.
const LEVEL: i32 = 1;

/// Writes columns. Each is compressed in two ways, and the better one kept.
pub(super) struct ColumnWriter {
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
        Ok(ColumnWriter { matching, matched: Vec::new(), counting, counted: Vec::new() })
    }

    /// Appends a column: its length, its compressed length (0: stored), and the bytes.
    pub(super) fn put(&mut self, out: &mut Vec<u8>, raw: &[u8]) {
        put(out, raw.len() as u64);
        let counted = compress(&mut self.counting, raw, raw.len() - raw.len() / 16, &mut self.counted);
        let best = if counted { &self.counted[..] } else { raw };
        let matched = compress(&mut self.matching, raw, best.len() - best.len() / 8, &mut self.matched);
        if matched {
            put(out, self.matched.len() as u64);
            out.extend_from_slice(&self.matched);
        } else {
            put(out, if counted { best.len() as u64 } else { 0 });
            out.extend_from_slice(best);
        }
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

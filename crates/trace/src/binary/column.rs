//! Columns: runs of bytes, each compressed on its own, or stored where that would gain nothing.

use super::bytes::{Cursor, put};
use super::frame::Damage;
use zstd::bulk::{Compressor, Decompressor};

/// Fast enough to keep up with a recorder; higher levels gain little on predicted columns.
const LEVEL: i32 = 1;

/// Writes columns.
pub(super) struct ColumnWriter {
    zstd: Compressor<'static>,
    scratch: Vec<u8>,
}

impl ColumnWriter {
    pub(super) fn new() -> std::io::Result<Self> {
        let mut zstd = Compressor::new(LEVEL)?;
        zstd.set_parameter(zstd::zstd_safe::CParameter::MinMatch(7))?;
        Ok(ColumnWriter { zstd, scratch: Vec::new() })
    }

    /// Appends a column: its length, its compressed length (0: stored), and the bytes.
    pub(super) fn put(&mut self, out: &mut Vec<u8>, raw: &[u8]) {
        put(out, raw.len() as u64);
        self.scratch.clear();
        // No more room than would be worth it: then compression fails, and the column is stored.
        let worth = raw.len() - raw.len() / 16;
        self.scratch.reserve(worth);
        let stored = match self.zstd.compress_to_buffer(raw, &mut self.scratch) {
            Ok(len) => len == 0 || len > worth,
            Err(_) => true,
        };
        if stored {
            put(out, 0);
            out.extend_from_slice(raw);
        } else {
            put(out, self.scratch.len() as u64);
            out.extend_from_slice(&self.scratch);
        }
    }
}

/// Reads columns.
pub(super) struct ColumnReader {
    zstd: Decompressor<'static>,
}

impl ColumnReader {
    pub(super) fn new() -> std::io::Result<Self> {
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

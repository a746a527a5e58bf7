//! Text traces packed while they are written.

use flate2::Compression;
use std::io::{self, Write};

/// Packs by gzip; `finish` gives the output back.
pub type Gzip<W> = flate2::write::GzEncoder<W>;

/// Packs by zstd; `finish` gives the output back.
pub type Zstd<W> = zstd::stream::write::Encoder<'static, W>;

/// Begins to pack by gzip.
pub fn gzip<W: Write>(output: W) -> Gzip<W> {
    Gzip::new(output, Compression::default())
}

/// Begins to pack by zstd.
pub fn zstd<W: Write>(output: W) -> io::Result<Zstd<W>> {
    Zstd::new(output, zstd::DEFAULT_COMPRESSION_LEVEL)
}

//! Opens a trace of whatever format: binary, text or RoadRunner's, compressed or not, by its first bytes.

use crate::binary::{BinaryReader, MAGIC};
use crate::decompress::{Decompress, Packing, Peeked};
use crate::text::{RoadRunnerReader, TextReader, looks_like_roadrunner};
use crate::{Error, ResumePoint, Source};
use event::Names;
use std::fs::File;
use std::io::{self, Read, Seek};

/// A trace ready to be read.
pub struct Opened {
    /// Its events.
    pub source: Box<dyn Source>,
    /// The length of its input, if known: what [`Source::consumed`] counts towards.
    pub size: Option<u64>,
}

/// Bytes looked at to know a format: RoadRunner's output may begin with other lines.
const HEAD: usize = 1 << 16;

/// Whether a file that begins so, or is cut off so, is a binary trace.
fn looks_binary(head: &[u8]) -> bool {
    head.starts_with(&MAGIC) || (!head.is_empty() && MAGIC.starts_with(head))
}

/// Opens a file. One that can be read only once (a pipe) is opened as [`open_stream`] does.
pub fn open_file(mut file: File, keep: impl FnOnce(&mut dyn Read) -> io::Result<File>) -> Result<Opened, Error> {
    let kind = file.metadata()?;
    if kind.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    }
    if !kind.is_file() {
        return open_stream(file, keep);
    }
    let binary = looks_binary(Peeked::new(&file, MAGIC.len())?.head());
    file.rewind()?;
    let opened = if binary {
        Opened { source: Box::new(BinaryReader::open(file)?), size: None }
    } else {
        open_stream(file, keep)?
    };
    Ok(Opened { size: Some(kind.len()), ..opened })
}

/// Reads a text trace on from a place that a reader of it gave ([`Source::resume_point`]), with the names known by then
/// (or later).
pub fn resume(mut file: File, point: ResumePoint, names: Names) -> Result<Box<dyn Source>, Error> {
    file.seek(io::SeekFrom::Start(point.byte))?;
    Ok(Box::new(TextReader::resume(file, point, names)))
}

/// Opens a stream. A binary trace is given to `keep`, which stores it in a file, where deferred events can be found
/// before the events they belong between.
pub fn open_stream(
    input: impl Read + Send + 'static,
    keep: impl FnOnce(&mut dyn Read) -> io::Result<File>,
) -> Result<Opened, Error> {
    let input = Decompress::new(input)?;
    let packed = input.packing() != Packing::Plain;
    let counter = input.counter();
    let mut input = Peeked::new(input, HEAD)?;
    if looks_binary(input.head()) {
        let mut file = keep(&mut input)?;
        file.rewind()?;
        return Ok(Opened { source: Box::new(BinaryReader::open(file)?), size: None });
    }
    // The text's own bytes are the better measure where they are those of the file.
    let source: Box<dyn Source> = match (looks_like_roadrunner(input.head()), packed) {
        (true, _) => Box::new(RoadRunnerReader::new(input).with_progress(counter)),
        (false, true) => Box::new(TextReader::new(input).with_progress(counter)),
        (false, false) => Box::new(TextReader::new(input)),
    };
    Ok(Opened { source, size: None })
}

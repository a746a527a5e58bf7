//! Writes a trace in the format that the name of its file asks for.

use crate::binary::BinaryWriter;
use crate::compress::{self, Gzip, Zstd};
use crate::text::TextWriter;
use crate::{Error, Loss, Source};
use event::{Batch, Meta, Names};
use std::io::{self, BufWriter, Write};

/// Writes a trace: `.ftrace` is binary, `.gz` and `.zst` are compressed text, anything else is text.
pub enum TraceWriter<W: Write> {
    /// The binary format.
    Binary(Box<BinaryWriter<BufWriter<W>>>),
    /// Text, compressed or not.
    Text(TextWriter<Packed<W>>),
}

/// Text, compressed or not.
pub enum Packed<W: Write> {
    /// As it is.
    Plain(W),
    /// By gzip.
    Gzip(Gzip<W>),
    /// By zstd.
    Zstd(Zstd<W>),
}

impl<W: Write> Write for Packed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packed::Plain(out) => out.write(bytes),
            Packed::Gzip(out) => out.write(bytes),
            Packed::Zstd(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packed::Plain(out) => out.flush(),
            Packed::Gzip(out) => out.flush(),
            Packed::Zstd(out) => out.flush(),
        }
    }
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace that will have this name. A binary trace is compressed already: such a name is an error.
    pub fn create(name: &str, out: W) -> Result<TraceWriter<W>, Error> {
        let is_binary = |name: &str| name.ends_with(".ftrace");
        if is_binary(name) {
            return Ok(TraceWriter::Binary(Box::new(BinaryWriter::new(BufWriter::with_capacity(1 << 20, out))?)));
        }
        let packed = match name.strip_suffix(".gz").or(name.strip_suffix(".zst")) {
            Some(inner) if is_binary(inner) => {
                let message = format!("{name}: a binary trace is compressed already; name it {inner}");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message).into());
            }
            Some(_) if name.ends_with(".gz") => Packed::Gzip(compress::gzip(out)),
            Some(_) => Packed::Zstd(compress::zstd(out)?),
            None => Packed::Plain(out),
        };
        Ok(TraceWriter::Text(TextWriter::new(packed)))
    }

    /// Writes the next events.
    pub fn write_batch(&mut self, names: &Names, meta: &Meta, batch: &Batch) -> Result<(), Error> {
        match self {
            TraceWriter::Binary(writer) => Ok(writer.write_batch(names, meta, batch)?),
            TraceWriter::Text(writer) => writer.write_batch(names, batch),
        }
    }

    /// Ends the trace with what its source lost, and gives the output back.
    pub fn finish(self, source: &dyn Source) -> Result<W, Error> {
        let losses: &[Loss] = source.losses();
        match self {
            TraceWriter::Binary(mut writer) => {
                for loss in losses {
                    writer.write_loss(loss)?;
                }
                let out = writer.finish(source.names(), source.meta())?;
                Ok(out.into_inner().map_err(|error| error.into_error())?)
            }
            TraceWriter::Text(writer) => match writer.finish(losses)? {
                Packed::Plain(out) => Ok(out),
                Packed::Gzip(out) => Ok(out.finish()?),
                Packed::Zstd(out) => Ok(out.finish()?),
            },
        }
    }

    /// Whether the format has no room for what the recorder noted beside the events.
    pub fn drops_meta(&self) -> bool {
        matches!(self, TraceWriter::Text(_))
    }
}

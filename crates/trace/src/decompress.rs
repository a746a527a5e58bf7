//! Input that may be compressed: gzip and zstd are known by their first bytes, anything else passes as it is.

use std::fmt;
use std::io::{self, BufReader, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The largest window of a zstd stream, as a power of two: 128 MiB, what `zstd -d` allows by itself.
const MAX_WINDOW_LOG: u32 = 27;

/// How the bytes of an input are packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// By gzip, possibly in several members.
    Gzip,
    /// By zstd, possibly in several frames.
    Zstd,
}

impl Packing {
    /// The packing that begins with these bytes; four are enough.
    pub fn of(head: &[u8]) -> Packing {
        match head {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Packing::Zstd,
            _ => Packing::Plain,
        }
    }
}

/// How many bytes of an input have been read; can be asked while another owner reads.
#[derive(Clone, Default, Debug)]
pub struct Counter(Arc<AtomicU64>);

impl Counter {
    /// The bytes read so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// An input that counts what is read from it.
#[derive(Debug)]
struct Counted<R> {
    inner: R,
    counter: Counter,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(out)?;
        self.counter.0.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// An input whose first bytes have been looked at and will be read again.
#[derive(Debug)]
pub struct Peeked<R> {
    head: Vec<u8>,
    at: usize,
    inner: R,
}

impl<R: Read> Peeked<R> {
    /// Looks at the first bytes: at most as many as wanted, and no more than are there at once once a format can be
    /// known, so that a slow stream is not waited for.
    pub fn new(mut inner: R, want: usize) -> io::Result<Self> {
        const ENOUGH: usize = 8;
        let mut head = vec![0; want];
        let mut have = 0;
        while have < want.min(ENOUGH) {
            match inner.read(&mut head[have..]) {
                Ok(0) => break,
                Ok(n) => have += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // What was read is worth having; the error comes again or the input is at its end.
                Err(_) if have > 0 => break,
                Err(error) => return Err(error),
            }
        }
        head.truncate(have);
        Ok(Peeked { head, at: 0, inner })
    }

    /// The first bytes.
    pub fn head(&self) -> &[u8] {
        &self.head
    }
}

impl<R: Read> Read for Peeked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let rest = &self.head[self.at..];
        if rest.is_empty() {
            return self.inner.read(out);
        }
        let n = rest.len().min(out.len());
        out[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        Ok(n)
    }
}

type Raw<R> = Peeked<Counted<R>>;

enum Inner<R: Read> {
    Plain(Raw<R>),
    Gzip(Box<flate2::read::MultiGzDecoder<Raw<R>>>),
    Zstd(Box<zstd::stream::read::Decoder<'static, BufReader<Raw<R>>>>),
}

/// Gives the bytes of an input unpacked, as a stream: memory stays bounded however far they unfold.
///
/// Packed data that is cut off gives [`ErrorKind::UnexpectedEof`], damaged data [`ErrorKind::InvalidData`], after all
/// that could be unpacked before; errors of the input itself come through unchanged, and no byte follows an error.
pub struct Decompress<R: Read> {
    inner: Inner<R>,
    counter: Counter,
    /// The error that ended the stream; every later read gives it again.
    ended: Option<(ErrorKind, String)>,
}

impl<R: Read> fmt::Debug for Decompress<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decompress").field("packing", &self.packing()).field("consumed", &self.consumed()).finish()
    }
}

impl<R: Read> Decompress<R> {
    /// Looks at the first bytes of the input to know how it is packed.
    pub fn new(input: R) -> io::Result<Self> {
        let counter = Counter::default();
        let raw = Peeked::new(Counted { inner: input, counter: counter.clone() }, 4)?;
        let inner = match Packing::of(raw.head()) {
            Packing::Plain => Inner::Plain(raw),
            Packing::Gzip => Inner::Gzip(Box::new(flate2::read::MultiGzDecoder::new(raw))),
            Packing::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(raw)?;
                decoder.window_log_max(MAX_WINDOW_LOG)?;
                Inner::Zstd(Box::new(decoder))
            }
        };
        Ok(Decompress { inner, counter, ended: None })
    }

    /// How the input is packed.
    pub fn packing(&self) -> Packing {
        match self.inner {
            Inner::Plain(_) => Packing::Plain,
            Inner::Gzip(_) => Packing::Gzip,
            Inner::Zstd(_) => Packing::Zstd,
        }
    }

    /// How many bytes of the (packed) input have been read.
    pub fn consumed(&self) -> u64 {
        self.counter.get()
    }

    /// The counter of these bytes, for progress while this reader has another owner.
    pub fn counter(&self) -> Counter {
        self.counter.clone()
    }
}

impl<R: Read> Read for Decompress<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let result = match &mut self.inner {
            Inner::Plain(raw) => return raw.read(out),
            _ if self.ended.is_some() => Ok(0),
            Inner::Gzip(decoder) => decoder.read(out),
            Inner::Zstd(decoder) => decoder.read(out),
        };
        if let Some((kind, message)) = &self.ended {
            return Err(io::Error::new(*kind, message.clone()));
        }
        result.map_err(|error| match error.kind() {
            ErrorKind::Interrupted | ErrorKind::WouldBlock => error,
            // An error that the operating system numbered is the input's own; the decoders' errors have no number.
            _ if error.raw_os_error().is_some() => error,
            kind => {
                let kind =
                    if kind == ErrorKind::UnexpectedEof { ErrorKind::UnexpectedEof } else { ErrorKind::InvalidData };
                self.ended = Some((kind, error.to_string()));
                io::Error::new(kind, error)
            }
        })
    }
}

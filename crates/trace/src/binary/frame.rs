//! Frames: the header that every part of a file begins with, and its checks.

use crate::{Error, InputPosition};

/// The first bytes of every binary trace. The first one is not text, the last ones catch newline translation.
pub const MAGIC: [u8; 8] = *b"\x89FTR\r\n\x1a\n";

/// The version of the format that this program writes; it reads this one and every earlier one.
pub const VERSION: u32 = 5;

/// Length of the file header.
pub(super) const FILE_HEADER: usize = 16;

/// Length of a frame header.
pub(super) const FRAME_HEADER: usize = 20;

/// The longest payload that is read or written.
pub(super) const MAX_PAYLOAD: usize = 64 << 20;

/// The most events in one frame.
pub(super) const MAX_EVENTS: usize = 1 << 18;

/// The most initial values before one events frame.
pub(super) const MAX_INITS: usize = 1 << 16;

/// The longest a column may become when decompressed, where its length does not follow from the number of events.
pub(super) const MAX_COLUMN: usize = 16 << 20;

/// A fuzzer cannot guess checksums, and must get past them.
pub(super) const TRUSTING: bool = cfg!(fuzzing);

macro_rules! kinds {
    ($($kind:ident = $code:literal,)*) => {
        /// What a frame holds.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub(super) enum Kind { $($kind = $code,)* }

        impl Kind {
            pub(super) fn from_code(code: u8) -> Option<Kind> {
                match code {
                    $($code => Some(Kind::$kind),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    Names = 1,
    Events = 2,
    Deferred = 3,
    Stacks = 4,
    Modules = 5,
    Threads = 6,
    Inits = 7,
    Loss = 8,
    Index = 9,
    End = 10,
    Origins = 11,
    Actions = 12,
    Libraries = 13,
}

impl Kind {
    /// A table that events and deferred events refer to; its entries hold to the end of the file.
    pub(super) fn is_table(self) -> bool {
        use Kind::{Actions, Libraries, Modules, Names, Origins, Stacks, Threads};
        matches!(self, Names | Stacks | Modules | Threads | Origins | Actions | Libraries)
    }
}

/// An events frame with this flag starts from a fresh predictor: reading can begin here.
pub(super) const FLAG_KEY: u8 = 1;

/// An events frame with this flag predicts by sites, too.
pub(super) const FLAG_BY_SITE: u8 = 2;

/// An events frame with this flag and [`FLAG_BY_SITE`] predicts by sites only: the sites of objects are neither used
/// nor learned.
pub(super) const FLAG_ONLY_BY_SITE: u8 = 4;

/// A frame of events, or of deferred events, with this flag stores actions.
pub(super) const FLAG_ACTIONS: u8 = 8;

/// What is wrong inside a frame; the reader adds where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Damage(pub(super) &'static str);

impl Damage {
    pub(super) fn at(self, offset: u64) -> Error {
        Error::malformed(InputPosition::Byte(offset), format!("damaged frame: {}", self.0))
    }
}

/// A frame's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    /// A [`Kind`], or something a later version wrote.
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) len: u32,
    pub(super) count: u32,
    pub(super) payload_crc: u32,
}

impl Header {
    pub(super) fn new(kind: Kind, flags: u8, count: u32, payload: &[u8]) -> Header {
        let len = u32::try_from(payload.len()).expect("a payload is at most MAX_PAYLOAD bytes");
        Header { kind: kind as u8, flags, len, count, payload_crc: crc32fast::hash(payload) }
    }

    pub(super) fn encode(&self) -> [u8; FRAME_HEADER] {
        let mut out = [0; FRAME_HEADER];
        out[0] = self.kind;
        out[1] = self.flags;
        out[4..8].copy_from_slice(&self.len.to_le_bytes());
        out[8..12].copy_from_slice(&self.count.to_le_bytes());
        out[12..16].copy_from_slice(&self.payload_crc.to_le_bytes());
        let crc = crc32fast::hash(&out[..16]);
        out[16..].copy_from_slice(&crc.to_le_bytes());
        out
    }

    /// `None` if the bytes are not a header.
    pub(super) fn decode(bytes: &[u8; FRAME_HEADER]) -> Option<Header> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let sound = (word(16) == crc32fast::hash(&bytes[..16]) || TRUSTING) && word(4) as usize <= MAX_PAYLOAD;
        sound.then(|| Header { kind: bytes[0], flags: bytes[1], len: word(4), count: word(8), payload_crc: word(12) })
    }
}

/// The header of a file.
pub(super) fn file_header() -> [u8; FILE_HEADER] {
    let mut out = [0; FILE_HEADER];
    out[..8].copy_from_slice(&MAGIC);
    out[8..12].copy_from_slice(&VERSION.to_le_bytes());
    let crc = crc32fast::hash(&out[..12]);
    out[12..].copy_from_slice(&crc.to_le_bytes());
    out
}

/// Checks the header of a file.
pub(super) fn check_file_header(bytes: &[u8]) -> Result<(), Error> {
    let at = |offset, message: String| Err(Error::malformed(InputPosition::Byte(offset), message));
    if bytes.len() < FILE_HEADER && (bytes.starts_with(&MAGIC) || MAGIC.starts_with(bytes)) {
        let len = bytes.len();
        return at(len as u64, format!("the file is cut off inside its header: it has only {len} bytes"));
    }
    if !bytes.starts_with(&MAGIC) {
        return at(0, "not a binary trace: its first bytes are not those of an .ftrace file".into());
    }
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    if word(12) != crc32fast::hash(&bytes[..12]) {
        return at(8, "the file header is damaged (its checksum is wrong)".into());
    }
    match word(8) {
        1..=VERSION => Ok(()),
        v => at(8, format!("format version {v}: this program reads versions 1 to {VERSION}; use a newer foretrace")),
    }
}

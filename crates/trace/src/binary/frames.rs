//! The frames of a file that is being written, and the tables that all of them share.

use super::column::{ColumnWriter, Custom};
use super::frame::{FILE_HEADER, FRAME_HEADER, Header, Kind, MAX_COLUMN, file_header};
use super::index::{End, Entry, put_end, put_index};
use super::tables::{self, ALL_NAMES, MetaWritten, Needed};
use crate::Loss;
use event::{Init, Meta, Names, Space, Value};
use std::io::{self, Write};

/// Every so many events frames one starts from a fresh predictor.
pub(super) const KEY_EVERY: usize = 32;

/// Writes frames.
pub(super) struct Frames<W: Write> {
    out: W,
    /// Bytes so far.
    pub(super) offset: u64,
    pub(super) columns: ColumnWriter,
    names_written: Needed,
    meta_written: MetaWritten,
    index: Vec<Entry>,
    /// By kind of frame: how those of one column were compressed best.
    customs: [Custom; 16],
    pub(super) on_time: u64,
    pub(super) deferred: u64,
    raw: Vec<u8>,
    pub(super) payload: Vec<u8>,
}

impl<W: Write> Frames<W> {
    /// Begins a file.
    pub(super) fn new(mut out: W, columns: ColumnWriter) -> io::Result<Self> {
        out.write_all(&file_header())?;
        let fresh = Names::default();
        Ok(Frames {
            out,
            offset: FILE_HEADER as u64,
            columns,
            names_written: Space::ALL.map(|space| fresh.space(space).len()),
            meta_written: MetaWritten::default(),
            index: Vec::new(),
            customs: Default::default(),
            on_time: 0,
            deferred: 0,
            raw: Vec::new(),
            payload: Vec::new(),
        })
    }

    pub(super) fn loss(&mut self, loss: &Loss) -> io::Result<()> {
        self.table(Kind::Loss, |raw| tables::put_losses(raw, std::slice::from_ref(loss)))?;
        Ok(())
    }

    /// Writes the initial values before the next events frame, and forgets them.
    pub(super) fn inits(&mut self, inits: &mut Vec<Init>) -> io::Result<()> {
        self.table(Kind::Inits, |raw| tables::put_inits(raw, inits))?;
        inits.clear();
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Ends the file: the index and the end mark.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let index = self.offset;
        self.raw.clear();
        put_index(&mut self.raw, &self.index);
        self.payload.clear();
        self.columns.put(&mut self.payload, &self.raw, &mut Custom::default());
        self.emit(Kind::Index, 0, self.index.len() as u32)?;
        self.payload.clear();
        put_end(&mut self.payload, &End { index, events: self.on_time + self.deferred, deferred: self.deferred });
        self.emit(Kind::End, 0, 0)?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes what the tables gained: the names needed, and all where the meta-information gained, too. (Names that
    /// nothing refers to yet can wait, so that a file does not depend on how its events were cut into batches.)
    pub(super) fn tables(&mut self, names: &Names, meta: &Meta, needed: &Needed) -> io::Result<()> {
        let needed = if self.meta_written == MetaWritten::all(meta) { needed } else { &ALL_NAMES };
        let mut written = self.names_written;
        while self.table(Kind::Names, |raw| tables::put_names(raw, names, needed, &mut written))? {}
        self.names_written = written;
        let mut written = self.meta_written;
        while self.table(Kind::Stacks, |raw| tables::put_stacks(raw, meta, &mut written))? {}
        while self.table(Kind::Modules, |raw| tables::put_modules(raw, meta, &mut written))? {}
        while self.table(Kind::Threads, |raw| tables::put_threads(raw, meta, &mut written))? {}
        while self.table(Kind::Origins, |raw| tables::put_origins(raw, meta, &mut written))? {}
        while self.table(Kind::Libraries, |raw| tables::put_libraries(raw, meta, &mut written))? {}
        self.meta_written = written;
        Ok(())
    }

    /// Writes a frame of one column, unless it has no records, compressed like those before it. Returns whether it did.
    pub(super) fn table(&mut self, kind: Kind, fill: impl FnOnce(&mut Vec<u8>) -> u32) -> io::Result<bool> {
        self.raw.clear();
        let count = fill(&mut self.raw);
        if count == 0 {
            return Ok(false);
        }
        if self.raw.len() > MAX_COLUMN {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a {kind:?} frame would be too large")));
        }
        self.payload.clear();
        self.columns.put(&mut self.payload, &self.raw, &mut self.customs[kind as usize % 16]);
        self.emit(kind, 0, count)?;
        Ok(true)
    }

    /// Writes the payload as a frame.
    pub(super) fn emit(&mut self, kind: Kind, flags: u8, count: u32) -> io::Result<()> {
        let header = Header::new(kind, flags, count, &self.payload);
        self.out.write_all(&header.encode())?;
        self.out.write_all(&self.payload)?;
        self.index.push(Entry { kind: kind as u8, flags, offset: self.offset, count });
        self.offset += (FRAME_HEADER + self.payload.len()) as u64;
        Ok(())
    }
}

/// The names that initial values need, too.
pub(super) fn need_inits(needed: &mut Needed, inits: &[Init]) {
    for init in inits {
        let value = if let Value::Str(id) = init.value { id.0 } else { 0 };
        let strings = &mut needed[Space::Str as usize];
        *strings = (*strings).max(init.name.0.max(value) as usize + 1);
    }
}

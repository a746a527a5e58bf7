//! Writes a binary trace, frame by frame, as its events come.

use super::column::{ColumnWriter, Custom};
use super::encode::EventEncoder;
use super::frame::{FILE_HEADER, FLAG_KEY, FRAME_HEADER, Header, Kind, MAX_COLUMN, MAX_INITS, file_header};
use super::index::{End, Entry, put_end, put_index};
use super::late::{LateRecord, put_late};
use super::tables::{self, ALL_NAMES, MetaWritten, Needed};
use crate::Loss;
use event::{Batch, Init, Meta, Names, Space, Value};
use std::io::{self, Write};

/// Late records in a frame.
const FRAME_LATE: usize = 1 << 15;

/// Initial values before one events frame: a reader holds them until it comes.
const HELD_INITS: usize = MAX_INITS / 2;

/// Every so many events frames one starts from a fresh predictor.
const KEY_EVERY: usize = 32;

/// Writes a binary trace.
///
/// Events are held back until a frame is full (2^15 events); [`BinaryWriter::flush`] writes what there is, and a crash
/// loses what came after it. A trace whose writer was not [finished](BinaryWriter::finish) still reads, and is known to
/// be incomplete.
///
/// ```
/// use event::{Batch, Event, Meta, Names, Op, SiteId, Space, ThreadId};
/// use trace::binary::{BinaryReader, BinaryWriter, LateRecord};
/// use trace::{Loss, Trace};
///
/// let (mut names, meta) = (Names::default(), Meta::default());
/// let main = ThreadId(names.add(Space::Thread, "main")?);
/// let x = names.add(Space::Var, "x")?;
/// let site = SiteId(names.add(Space::Site, "main.c:3")?);
///
/// let mut writer = BinaryWriter::new(Vec::new())?;
/// let mut batch = Batch::default();
/// batch.events.push(Event::new(main, Op::Write, x, site));
/// batch.events.push(Event::new(main, Op::Read, x, site));
/// writer.write_batch(&names, &meta, &batch)?;
/// writer.flush(&names, &meta)?;
///
/// // A read that the recorder had left out, and now knows to matter: after the first event of its thread.
/// let mut late = Batch::default();
/// late.events.push(Event::new(main, Op::Read, x, site));
/// writer.write_late(&names, &meta, &late, &[LateRecord { after: 1, rank: 0 }])?;
/// writer.write_loss(&Loss { place: None, message: "2 chunks were dropped".into() })?;
/// let bytes = writer.finish(&names, &meta)?;
///
/// let trace = Trace::read(&mut BinaryReader::open(std::io::Cursor::new(bytes))?)?;
/// let ops: Vec<Op> = trace.batch.events.iter().map(|e| e.op()).collect();
/// assert_eq!(ops, [Op::Write, Op::Read, Op::Read]);
/// assert_eq!(trace.losses[0].message, "2 chunks were dropped");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BinaryWriter<W: Write> {
    out: W,
    offset: u64,
    /// The events held back, and the initial values before and between them.
    events: EventEncoder,
    inits: Vec<Init>,
    columns: ColumnWriter,
    late_custom: Custom,
    names_written: Needed,
    meta_written: MetaWritten,
    index: Vec<Entry>,
    event_frames: usize,
    on_time: u64,
    late: u64,
    raw: Vec<u8>,
    payload: Vec<u8>,
}

impl<W: Write> BinaryWriter<W> {
    /// Begins a trace.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&file_header())?;
        let fresh = Names::default();
        Ok(BinaryWriter {
            out,
            offset: FILE_HEADER as u64,
            events: EventEncoder::new()?,
            inits: Vec::new(),
            columns: ColumnWriter::new()?,
            late_custom: Custom::default(),
            names_written: Space::ALL.map(|space| fresh.space(space).len()),
            meta_written: MetaWritten::default(),
            index: Vec::new(),
            event_frames: 0,
            on_time: 0,
            late: 0,
            raw: Vec::new(),
            payload: Vec::new(),
        })
    }

    /// Adds the events of a batch. The names and the meta-information must be the same tables at every call, grown.
    pub fn write_batch(&mut self, names: &Names, meta: &Meta, batch: &Batch) -> io::Result<()> {
        self.events.open(batch);
        let mut inits = batch.inits.iter().peekable();
        let mut at = 0;
        loop {
            while let Some(init) = inits.next_if(|init| init.before as usize <= at || at == batch.events.len()) {
                self.inits.push(Init { before: self.events.len() as u32, ..*init });
                if self.inits.len() > HELD_INITS {
                    self.write_held(names, meta)?;
                }
            }
            if at == batch.events.len() {
                return Ok(());
            }
            let end = inits.peek().map_or(batch.events.len(), |init| batch.events.len().min(init.before as usize));
            at += self.events.add(batch, at..end);
            if self.events.is_full() {
                self.write_held(names, meta)?;
            }
        }
    }

    /// Adds events that belong at earlier places of their threads; `records` says where, event by event.
    pub fn write_late(&mut self, names: &Names, meta: &Meta, batch: &Batch, records: &[LateRecord]) -> io::Result<()> {
        assert_eq!(batch.events.len(), records.len(), "a record for each late event");
        self.write_tables(names, meta, &ALL_NAMES)?;
        self.late += records.len() as u64;
        for (events, records) in batch.events.chunks(FRAME_LATE).zip(records.chunks(FRAME_LATE)) {
            let mut custom = self.late_custom;
            self.table_like(Kind::Late, &mut custom, |raw| put_late(raw, batch, events, records))?;
            self.late_custom = custom;
        }
        Ok(())
    }

    /// Says that a part of the run is missing from the trace.
    pub fn write_loss(&mut self, loss: &Loss) -> io::Result<()> {
        self.table(Kind::Loss, |raw| tables::put_losses(raw, std::slice::from_ref(loss)))?;
        Ok(())
    }

    /// Writes out the events held back.
    pub fn flush(&mut self, names: &Names, meta: &Meta) -> io::Result<()> {
        self.write_held(names, meta)?;
        self.write_tables(names, meta, &ALL_NAMES)?;
        self.out.flush()
    }

    /// Ends the trace: writes what is held back, the index and the end mark.
    pub fn finish(mut self, names: &Names, meta: &Meta) -> io::Result<W> {
        self.flush(names, meta)?;
        let index = self.offset;
        self.raw.clear();
        put_index(&mut self.raw, &self.index);
        self.payload.clear();
        self.columns.put(&mut self.payload, &self.raw, &mut Custom::default());
        self.emit(Kind::Index, 0, self.index.len() as u32)?;
        self.payload.clear();
        put_end(&mut self.payload, &End { index, events: self.on_time + self.late, late: self.late });
        self.emit(Kind::End, 0, 0)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn write_held(&mut self, names: &Names, meta: &Meta) -> io::Result<()> {
        if self.events.len() == 0 && self.inits.is_empty() {
            return Ok(());
        }
        let mut needed = self.events.needed();
        for init in &self.inits {
            let value = if let Value::Str(id) = init.value { id.0 } else { 0 };
            let strings = &mut needed[Space::Str as usize];
            *strings = (*strings).max(init.name.0.max(value) as usize + 1);
        }
        self.write_tables(names, meta, &needed)?;
        let mut inits = std::mem::take(&mut self.inits);
        self.table(Kind::Inits, |raw| tables::put_inits(raw, &inits))?;
        inits.clear();
        self.inits = inits;
        let count = self.events.len();
        if count == 0 {
            return Ok(());
        }
        let key = self.event_frames.is_multiple_of(KEY_EVERY);
        self.event_frames += 1;
        let flags = if key { FLAG_KEY } else { 0 } | self.events.uses().flags();
        self.payload.clear();
        self.events.finish(&mut self.payload);
        if self.event_frames.is_multiple_of(KEY_EVERY) {
            self.events.reset();
        }
        self.on_time += count as u64;
        self.emit(Kind::Events, flags, count as u32)
    }

    /// Writes what the tables gained: the names needed, and all where the meta-information gained, too. (Names that
    /// nothing refers to yet can wait, so that a file does not depend on how its events were cut into batches.)
    fn write_tables(&mut self, names: &Names, meta: &Meta, needed: &Needed) -> io::Result<()> {
        let needed = if self.meta_written == MetaWritten::all(meta) { needed } else { &ALL_NAMES };
        let mut written = self.names_written;
        while self.table(Kind::Names, |raw| tables::put_names(raw, names, needed, &mut written))? {}
        self.names_written = written;
        let mut written = self.meta_written;
        while self.table(Kind::Stacks, |raw| tables::put_stacks(raw, meta, &mut written))? {}
        while self.table(Kind::Modules, |raw| tables::put_modules(raw, meta, &mut written))? {}
        while self.table(Kind::Threads, |raw| tables::put_threads(raw, meta, &mut written))? {}
        while self.table(Kind::Origins, |raw| tables::put_origins(raw, meta, &mut written))? {}
        self.meta_written = written;
        Ok(())
    }

    /// Writes a frame of one column, unless it has no records. Tells whether it did.
    fn table(&mut self, kind: Kind, fill: impl FnOnce(&mut Vec<u8>) -> u32) -> io::Result<bool> {
        self.table_like(kind, &mut Custom::default(), fill)
    }

    /// The same, compressed like those before it.
    fn table_like(
        &mut self,
        kind: Kind,
        custom: &mut Custom,
        fill: impl FnOnce(&mut Vec<u8>) -> u32,
    ) -> io::Result<bool> {
        self.raw.clear();
        let count = fill(&mut self.raw);
        if count == 0 {
            return Ok(false);
        }
        if self.raw.len() > MAX_COLUMN {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a {kind:?} frame would be too large")));
        }
        self.payload.clear();
        self.columns.put(&mut self.payload, &self.raw, custom);
        self.emit(kind, 0, count)?;
        Ok(true)
    }

    /// Writes the payload as a frame.
    fn emit(&mut self, kind: Kind, flags: u8, count: u32) -> io::Result<()> {
        let header = Header::new(kind, flags, count, &self.payload);
        self.out.write_all(&header.encode())?;
        self.out.write_all(&self.payload)?;
        self.index.push(Entry { kind: kind as u8, flags, offset: self.offset, count });
        self.offset += (FRAME_HEADER + self.payload.len()) as u64;
        Ok(())
    }
}

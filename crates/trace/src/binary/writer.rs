//! Writes a binary trace, frame by frame, as its events come.

use super::column::ColumnWriter;
use super::deferred::{DeferredPosition, put_deferred};
use super::encode::EventEncoder;
use super::frame::{FLAG_KEY, Kind, MAX_INITS};
use super::frames::{Frames, KEY_EVERY, need_inits};
use super::tables::ALL_NAMES;
use crate::Loss;
use event::{Batch, Init, Meta, Names};
use std::io::{self, Write};

/// Deferred records in a frame.
const FRAME_DEFERRED: usize = 1 << 15;

/// Initial values before one events frame: a reader holds them until it comes.
pub(super) const HELD_INITS: usize = MAX_INITS / 2;

/// Writes a binary trace.
///
/// Events are held back until a frame is full (2^15 events); [`BinaryWriter::flush`] writes what there is, and a crash
/// loses what came after it. A trace whose writer was not [finished](BinaryWriter::finish) still reads, and is known to
/// be incomplete.
///
/// ```
/// use event::{Batch, Event, Meta, Names, Op, SiteId, Space, ThreadId};
/// use trace::binary::{BinaryReader, BinaryWriter, DeferredPosition};
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
/// let mut deferred = Batch::default();
/// deferred.events.push(Event::new(main, Op::Read, x, site));
/// writer.write_deferred(&names, &meta, &deferred, &[DeferredPosition { after: 1, sequence: 0 }])?;
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
    frames: Frames<W>,
    /// The events held back, and the initial values before and between them.
    events: EventEncoder,
    inits: Vec<Init>,
    event_frames: usize,
}

impl<W: Write> BinaryWriter<W> {
    /// Begins a trace.
    pub fn new(out: W) -> io::Result<Self> {
        Ok(BinaryWriter {
            frames: Frames::new(out, ColumnWriter::new()?)?,
            events: EventEncoder::new()?,
            inits: Vec::new(),
            event_frames: 0,
        })
    }

    /// Adds the events of a batch. The names and the meta-information are those of the call
    /// before, or have grown since.
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

    /// Adds events that belong at earlier positions of their threads; `records` says where, event by event.
    pub fn write_deferred(
        &mut self,
        names: &Names,
        meta: &Meta,
        batch: &Batch,
        records: &[DeferredPosition],
    ) -> io::Result<()> {
        assert_eq!(batch.events.len(), records.len(), "a record for each deferred event");
        self.frames.tables(names, meta, &ALL_NAMES)?;
        self.frames.deferred += records.len() as u64;
        for (events, records) in batch.events.chunks(FRAME_DEFERRED).zip(records.chunks(FRAME_DEFERRED)) {
            self.frames.table(Kind::Deferred, |raw| put_deferred(raw, batch, events, records))?;
        }
        Ok(())
    }

    /// Says that a part of the run is missing from the trace.
    pub fn write_loss(&mut self, loss: &Loss) -> io::Result<()> {
        self.frames.loss(loss)
    }

    /// Writes out the events held back.
    pub fn flush(&mut self, names: &Names, meta: &Meta) -> io::Result<()> {
        self.write_held(names, meta)?;
        self.frames.tables(names, meta, &ALL_NAMES)?;
        self.frames.flush()
    }

    /// Ends the trace: writes what is held back, the index and the end mark.
    pub fn finish(mut self, names: &Names, meta: &Meta) -> io::Result<W> {
        self.flush(names, meta)?;
        self.frames.finish()
    }

    fn write_held(&mut self, names: &Names, meta: &Meta) -> io::Result<()> {
        if self.events.len() == 0 && self.inits.is_empty() {
            return Ok(());
        }
        let mut needed = self.events.needed();
        need_inits(&mut needed, &self.inits);
        self.frames.tables(names, meta, &needed)?;
        self.frames.inits(&mut self.inits)?;
        let count = self.events.len();
        if count == 0 {
            return Ok(());
        }
        let key = self.event_frames.is_multiple_of(KEY_EVERY);
        self.event_frames += 1;
        let flags = if key { FLAG_KEY } else { 0 } | self.events.predict_by().flags();
        self.frames.payload.clear();
        self.events.finish(&mut self.frames.payload);
        if self.event_frames.is_multiple_of(KEY_EVERY) {
            self.events.reset();
        }
        self.frames.on_time += count as u64;
        self.frames.emit(Kind::Events, flags, count as u32)
    }
}

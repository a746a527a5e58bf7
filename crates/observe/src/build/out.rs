//! Events on their way into the trace: gathered to small batches.

use event::{Batch, Event, Extra, Meta, Names};
use std::io::{self, Write};
use trace::Loss;
use trace::binary::{BinaryWriter, LateRecord};

/// Events that are gathered: few enough to stay in a near cache until they are encoded.
const BATCH: usize = 1 << 11;

/// Late events that are gathered.
const LATE: usize = 1 << 14;

/// Extras of late events that are remembered.
const LATE_EXTRAS: usize = 256;

/// Where traces are written.
pub(crate) type Sink = Box<dyn Write + Send>;

/// A trace that is being written.
pub(crate) struct Out {
    /// Gone when writing failed: what comes then is only counted.
    writer: Option<BinaryWriter<Sink>>,
    pub(crate) batch: Batch,
    /// Counts the batches: an index of an extra is true for one batch.
    pub(crate) number: u32,
    late: Batch,
    /// By stack: an extra of the late batch that may be the same.
    late_extras: [u32; LATE_EXTRAS],
    records: Vec<LateRecord>,
    events: u64,
    error: Option<io::Error>,
}

impl Out {
    pub(crate) fn new(sink: Sink) -> io::Result<Out> {
        let mut batch = Batch::default();
        batch.events.reserve(BATCH);
        Ok(Out {
            writer: Some(BinaryWriter::new(sink)?),
            batch,
            number: 0,
            late: Batch::default(),
            late_extras: [0; LATE_EXTRAS],
            records: Vec::new(),
            events: 0,
            error: None,
        })
    }

    /// Adds an event. Its extra is one of the current batch.
    #[inline]
    pub(crate) fn push(&mut self, event: Event, names: &Names, meta: &Meta) {
        self.batch.events.push(event);
        if self.batch.events.len() == BATCH {
            self.write(names, meta);
        }
    }

    /// Adds a late event, with its extra.
    pub(crate) fn push_late(&mut self, event: Event, extra: Extra, at: LateRecord, names: &Names, meta: &Meta) {
        // Few places have most of the late events, one after the other.
        let slot = &mut self.late_extras[extra.stack.0 as usize % LATE_EXTRAS];
        if self.late.extras.get(*slot as usize) != Some(&extra) {
            *slot = self.late.add_extra(extra);
        }
        let extra = *slot;
        let event = Event::with_extra(event.thread(), event.op(), event.object(), event.site(), extra);
        self.late.events.push(event);
        self.records.push(at);
        if self.records.len() == LATE {
            self.write_late(names, meta);
        }
    }

    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.events + (self.batch.events.len() + self.records.len()) as u64
    }

    fn try_to(&mut self, write: impl FnOnce(&mut BinaryWriter<Sink>, &mut Self) -> io::Result<()>) {
        let Some(mut writer) = self.writer.take() else { return };
        match write(&mut writer, self) {
            Ok(()) => self.writer = Some(writer),
            Err(error) => self.error = Some(error),
        }
    }

    #[cold]
    fn write(&mut self, names: &Names, meta: &Meta) {
        self.try_to(|writer, out| writer.write_batch(names, meta, &out.batch));
        self.events += self.batch.events.len() as u64;
        self.batch.clear(self.events);
        self.number = self.number.wrapping_add(1);
    }

    #[cold]
    fn write_late(&mut self, names: &Names, meta: &Meta) {
        self.try_to(|writer, out| writer.write_late(names, meta, &out.late, &out.records));
        self.events += self.records.len() as u64;
        self.late.clear(0);
        self.records.clear();
    }

    fn write_all(&mut self, names: &Names, meta: &Meta) {
        self.write(names, meta);
        if !self.records.is_empty() {
            self.write_late(names, meta);
        }
    }

    /// Writes out all there is, so that it can be read.
    pub(crate) fn flush(&mut self, names: &Names, meta: &Meta) {
        self.write_all(names, meta);
        self.try_to(|writer, _| writer.flush(names, meta));
    }

    /// Ends the trace.
    pub(crate) fn finish(mut self, names: &Names, meta: &Meta, losses: &[Loss]) -> io::Result<Sink> {
        self.write_all(names, meta);
        self.try_to(|writer, _| losses.iter().try_for_each(|loss| writer.write_loss(loss)));
        match (self.writer, self.error) {
            (Some(writer), None) => writer.finish(names, meta),
            (_, error) => Err(error.unwrap_or_else(|| io::Error::other("the trace was not written"))),
        }
    }
}

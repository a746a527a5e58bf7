//! Events on their way into the trace.

use event::{Event, Extra, Meta, Names, Op, SiteId, StackId, StrId, ThreadId, Value};
use std::io::{self, Write};
use trace::Loss;
use trace::binary::{Act, ActWriter, Action, LateRecord};

/// Where traces are written.
pub(crate) type Sink = Box<dyn Write + Send>;

/// Bytes up to which a trace that nobody keeps is not compressed.
const PLAIN: u64 = 256 << 20;

/// A trace that is being written.
pub(crate) struct Out {
    /// Gone when writing failed: what comes then is only counted.
    writer: Option<ActWriter<Sink>>,
    events: u64,
    error: Option<io::Error>,
}

impl Out {
    pub(crate) fn new(sink: Sink, kept: bool) -> io::Result<Out> {
        let writer = if kept { ActWriter::new(sink) } else { ActWriter::plain(sink, PLAIN) };
        Ok(Out { writer: Some(writer?), events: 0, error: None })
    }

    /// What is done at a place, if it can be told once and for all.
    pub(crate) fn action(&mut self, op: Op, site: SiteId, stack: StackId) -> Option<Action> {
        self.writer.as_mut()?.action(op, site, stack)
    }

    /// Adds an event that is nothing but an action on an object.
    #[inline]
    pub(crate) fn act(&mut self, thread: ThreadId, action: Action, object: u32, names: &Names, meta: &Meta) {
        self.events += 1;
        if let Some(writer) = &mut self.writer
            && writer.act(thread, action, object)
        {
            self.try_to(|writer| writer.make_room(names, meta));
        }
    }

    /// Adds events of a thread that are nothing but actions on objects.
    #[inline]
    pub(crate) fn several(&mut self, thread: ThreadId, mut acts: &[Act], names: &Names, meta: &Meta) {
        self.events += acts.len() as u64;
        while let Some(writer) = &mut self.writer {
            let (taken, is_full) = writer.several(thread, acts);
            if !is_full {
                break;
            }
            acts = &acts[taken..];
            self.try_to(|writer| writer.make_room(names, meta));
            if acts.is_empty() {
                break;
            }
        }
    }

    /// Adds an event of any kind.
    pub(crate) fn push(&mut self, event: Event, extra: &Extra, args: &[Value], names: &Names, meta: &Meta) {
        self.events += 1;
        if let Some(writer) = &mut self.writer
            && writer.event(event, extra, args)
        {
            self.try_to(|writer| writer.make_room(names, meta));
        }
    }

    /// Adds an initial value.
    pub(crate) fn init(&mut self, name: StrId, value: Value, names: &Names, meta: &Meta) {
        if let Some(writer) = &mut self.writer
            && writer.init(name, value)
        {
            self.try_to(|writer| writer.make_room(names, meta));
        }
    }

    /// Adds a late event that is nothing but an action on an object.
    #[inline]
    pub(crate) fn act_late(
        &mut self,
        (thread, action, object): (ThreadId, Action, u32),
        at: LateRecord,
        names: &Names,
        meta: &Meta,
    ) {
        self.events += 1;
        if let Some(writer) = &mut self.writer
            && writer.act_late(thread, action, object, at)
        {
            self.try_to(|writer| writer.make_room_for_late(names, meta));
        }
    }

    /// Adds a late event, with its stack.
    pub(crate) fn push_late(&mut self, event: Event, stack: StackId, at: LateRecord, names: &Names, meta: &Meta) {
        self.events += 1;
        if let Some(writer) = &mut self.writer
            && writer.late(event, &Extra { stack, ..Extra::default() }, &[], at)
        {
            self.try_to(|writer| writer.make_room_for_late(names, meta));
        }
    }

    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    #[cold]
    fn try_to(&mut self, write: impl FnOnce(&mut ActWriter<Sink>) -> io::Result<()>) {
        let Some(mut writer) = self.writer.take() else { return };
        match write(&mut writer) {
            Ok(()) => self.writer = Some(writer),
            Err(error) => self.error = Some(error),
        }
    }

    /// Writes out all there is, so that it can be read.
    pub(crate) fn flush(&mut self, names: &Names, meta: &Meta) {
        self.try_to(|writer| writer.flush(names, meta));
    }

    /// Ends the trace.
    pub(crate) fn finish(mut self, names: &Names, meta: &Meta, losses: &[Loss]) -> io::Result<Sink> {
        self.flush(names, meta);
        self.try_to(|writer| losses.iter().try_for_each(|loss| writer.write_loss(loss)));
        match (self.writer, self.error) {
            (Some(writer), None) => writer.finish(names, meta),
            (_, error) => Err(error.unwrap_or_else(|| io::Error::other("the trace was not written"))),
        }
    }
}

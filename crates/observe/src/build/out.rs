//! Writes events into the trace.

use event::{Event, Extra, Meta, Names, Op, SiteId, StackId, StrId, ThreadId, Value};
use std::io::{self, Write};
use trace::Loss;
use trace::binary::{Action, ActionEvent, ActionWriter, DeferredPosition, ThreadRun};

/// Where traces are written.
pub(crate) type Sink = Box<dyn Write + Send>;

/// Bytes up to which a temporary trace is not compressed.
const PLAIN: u64 = 256 << 20;

/// A trace that is being written.
pub(crate) struct Out {
    /// `None` after writing failed: further events are only counted.
    writer: Option<ActionWriter<Sink>>,
    events: u64,
    error: Option<io::Error>,
    unwritten: Unwritten,
}

/// Events that were found and not written yet: the code that finds them and the code that writes them have little in
/// common. There are never more than the frame has room for, so that frames are filled as without this buffer.
struct Unwritten {
    acts: Box<[ActionEvent; AT_ONCE]>,
    count: usize,
    /// How many there may be.
    most: usize,
    stretches: Vec<ThreadRun>,
}

const AT_ONCE: usize = 256;

impl Default for Unwritten {
    fn default() -> Self {
        let acts = Box::new([ActionEvent { action: Action::NONE, object: 0 }; AT_ONCE]);
        Unwritten { acts, count: 0, most: AT_ONCE, stretches: Vec::with_capacity(AT_ONCE) }
    }
}

impl Out {
    pub(crate) fn new(sink: Sink, kept: bool) -> io::Result<Out> {
        let writer = if kept { ActionWriter::new(sink) } else { ActionWriter::plain(sink, PLAIN) };
        Ok(Out { writer: Some(writer?), events: 0, error: None, unwritten: Unwritten::default() })
    }

    /// The action of an operation at a site with a stack, if it has a number.
    pub(crate) fn action(&mut self, op: Op, site: SiteId, stack: StackId) -> Option<Action> {
        self.writer.as_mut()?.action(op, site, stack)
    }

    /// Adds an event that is nothing but an action on an object.
    #[inline]
    pub(crate) fn act(&mut self, thread: ThreadId, action: Action, object: u32, names: &Names, meta: &Meta) {
        self.room()[0] = ActionEvent { action, object };
        self.found(thread, 1, names, meta);
    }

    /// Room for events that are nothing but actions on objects: for one at least.
    #[inline]
    pub(crate) fn room(&mut self) -> &mut [ActionEvent] {
        let found = &mut self.unwritten;
        if found.count == 0 {
            found.most = self.writer.as_ref().map_or(AT_ONCE, |writer| writer.room().clamp(1, AT_ONCE));
        }
        &mut found.acts[found.count..found.most]
    }

    /// Adds what a thread did: the first `count` events in the room.
    #[inline]
    pub(crate) fn found(&mut self, thread: ThreadId, count: usize, names: &Names, meta: &Meta) {
        if count == 0 {
            return;
        }
        self.events += count as u64;
        let found = &mut self.unwritten;
        found.count += count;
        match found.stretches.last_mut() {
            Some(last) if last.thread == thread => last.end = found.count,
            _ => found.stretches.push(ThreadRun { thread, end: found.count }),
        }
        if found.count == found.most {
            self.write_found(names, meta);
        }
    }

    /// Writes what was found.
    fn write_found(&mut self, names: &Names, meta: &Meta) {
        let Unwritten { acts, count, stretches, .. } = &mut self.unwritten;
        let acts = &acts[..std::mem::take(count)];
        let is_full = self.writer.as_mut().is_some_and(|writer| writer.add_all(acts, stretches));
        stretches.clear();
        if is_full {
            self.try_to(|writer| writer.make_room(names, meta));
        }
    }

    /// Writes what was found, before something else is written.
    #[inline]
    fn write_pending(&mut self, names: &Names, meta: &Meta) {
        if self.unwritten.count > 0 {
            self.write_found(names, meta);
        }
    }

    /// Adds an event of any kind.
    pub(crate) fn push(&mut self, event: Event, extra: &Extra, args: &[Value], names: &Names, meta: &Meta) {
        self.write_pending(names, meta);
        self.events += 1;
        if let Some(writer) = &mut self.writer
            && writer.add_event(event, extra, args)
        {
            self.try_to(|writer| writer.make_room(names, meta));
        }
    }

    /// Adds an initial value.
    pub(crate) fn init(&mut self, name: StrId, value: Value, names: &Names, meta: &Meta) {
        self.write_pending(names, meta);
        if let Some(writer) = &mut self.writer
            && writer.add_init(name, value)
        {
            self.try_to(|writer| writer.make_room(names, meta));
        }
    }

    /// Adds a deferred event that is nothing but an action on an object.
    #[inline]
    pub(crate) fn act_deferred(
        &mut self,
        (thread, action, object): (ThreadId, Action, u32),
        at: DeferredPosition,
        names: &Names,
        meta: &Meta,
    ) {
        self.events += 1;
        if let Some(writer) = &mut self.writer
            && writer.add_deferred(thread, action, object, at)
        {
            self.try_to(|writer| writer.make_room_for_deferred(names, meta));
        }
    }

    /// Adds a deferred event, with its stack.
    pub(crate) fn push_deferred(
        &mut self,
        event: Event,
        stack: StackId,
        at: DeferredPosition,
        names: &Names,
        meta: &Meta,
    ) {
        self.events += 1;
        if let Some(writer) = &mut self.writer
            && writer.add_deferred_event(event, &Extra { stack, ..Extra::default() }, &[], at)
        {
            self.try_to(|writer| writer.make_room_for_deferred(names, meta));
        }
    }

    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    #[cold]
    fn try_to(&mut self, write: impl FnOnce(&mut ActionWriter<Sink>) -> io::Result<()>) {
        let Some(mut writer) = self.writer.take() else { return };
        match write(&mut writer) {
            Ok(()) => self.writer = Some(writer),
            Err(error) => self.error = Some(error),
        }
    }

    /// Writes out all there is, so that it can be read.
    pub(crate) fn flush(&mut self, names: &Names, meta: &Meta) {
        self.write_pending(names, meta);
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

//! Writes a binary trace event by event, by actions: for recorders, who know what is done at a place before it is done.

use super::action_encode::ActionEncoder;
use super::actions::{Action, ActionEvent, ActionKey, Actions, ThreadRun, UNNUMBERED, put_actions};
use super::column::ColumnWriter;
use super::deferred::DeferredPosition;
use super::deferred_actions::DeferredEncoder;
use super::events::needs_extra;
use super::frame::{FLAG_ACTIONS, FLAG_KEY, Kind};
use super::frames::{Frames, KEY_EVERY};
use super::tables::ALL_NAMES;
use super::writer::HELD_INITS;
use crate::Loss;
use event::{Event, Extra, Init, Meta, Names, Op, SiteId, StackId, StrId, ThreadId, Value};
use std::io::{self, Write};

/// Writes a binary trace by actions.
///
/// Like [`BinaryWriter`](super::BinaryWriter), it holds events back until a frame is full. The methods that add events
/// return whether the frame is full: [`ActionWriter::make_room`] must then come before the next event.
///
/// ```
/// use event::{Meta, Names, Op, SiteId, Space, StackId, ThreadId};
/// use trace::Trace;
/// use trace::binary::{ActionWriter, BinaryReader};
///
/// let (mut names, meta) = (Names::default(), Meta::default());
/// let main = ThreadId(names.add(Space::Thread, "main")?);
/// let x = names.add(Space::Var, "x")?;
/// let site = SiteId(names.add(Space::Site, "main.c:3")?);
///
/// let mut writer = ActionWriter::new(Vec::new())?;
/// let write = writer.action(Op::Write, site, StackId(0)).expect("there is room");
/// for _ in 0..100_000 {
///     if writer.add(main, write, x) {
///         writer.make_room(&names, &meta)?;
///     }
/// }
/// let bytes = writer.finish(&names, &meta)?;
/// let trace = Trace::read(&mut BinaryReader::open(std::io::Cursor::new(bytes))?)?;
/// assert_eq!(trace.batch.events.len(), 100_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ActionWriter<W: Write> {
    frames: Frames<W>,
    actions: Actions,
    /// The events held back, and the initial values before and between them.
    events: ActionEncoder,
    inits: Vec<Init>,
    deferred: DeferredEncoder,
    event_frames: usize,
    /// From so many bytes on all is compressed.
    plain: u64,
}

impl<W: Write> ActionWriter<W> {
    /// Begins a trace.
    pub fn new(out: W) -> io::Result<Self> {
        ActionWriter::with(out, ColumnWriter::hurried)
    }

    /// Begins a temporary trace: it is not compressed until it has so many bytes.
    pub fn plain(out: W, bytes: u64) -> io::Result<Self> {
        Ok(ActionWriter { plain: bytes, ..ActionWriter::with(out, ColumnWriter::plain)? })
    }

    fn with(out: W, columns: impl Fn() -> io::Result<ColumnWriter>) -> io::Result<Self> {
        Ok(ActionWriter {
            frames: Frames::new(out, columns()?)?,
            actions: Actions::default(),
            events: ActionEncoder::new(columns()?),
            inits: Vec::new(),
            deferred: DeferredEncoder::new(columns()?),
            event_frames: 0,
            plain: 0,
        })
    }

    /// The action of an operation at a site, by certain calls. `None`: there is no room for more actions, or events of
    /// this operation always have an extra; [`ActionWriter::add_event`] takes such events.
    pub fn action(&mut self, op: Op, site: SiteId, stack: StackId) -> Option<Action> {
        if op.has_lock_argument() {
            return None;
        }
        Some(self.actions.add(ActionKey { op, site, stack })).filter(|action| action.number != UNNUMBERED)
    }

    /// Adds an event; returns whether the frame is full. (A drop barrier cannot be one: it has a number.)
    #[inline]
    pub fn add(&mut self, thread: ThreadId, action: Action, object: u32) -> bool {
        debug_assert!(!action.op().has_number());
        self.events.push(thread.0, action, object, 0)
    }

    /// Events for which there is room.
    #[inline]
    pub fn room(&self) -> usize {
        self.events.room()
    }

    /// Adds the events of some runs of threads, no more than there is [room](ActionWriter::room) for; returns whether
    /// the frame is full.
    pub fn add_all(&mut self, events: &[ActionEvent], runs: &[ThreadRun]) -> bool {
        debug_assert!(events.iter().all(|event| !event.action.op().has_number()));
        self.events.push_all(events, runs);
        self.events.room() == 0
    }

    /// Adds an event of any kind, with this extra and these arguments; the event's own link to an extra is not used.
    pub fn add_event(&mut self, event: Event, extra: &Extra, args: &[Value]) -> bool {
        let (thread, op, site) = (event.thread(), event.op(), event.site());
        let action = self.actions.add(ActionKey { op, site, stack: extra.stack });
        let bare = *extra == (Extra { stack: extra.stack, ..Extra::default() }) && args.is_empty();
        if bare && action.number != UNNUMBERED && !needs_extra(op) {
            return self.events.push(thread.0, action, event.object(), 0);
        }
        self.events.push_with(thread.0, action, event.object(), site, *extra, args)
    }

    /// Adds an initial value before the next event; returns whether [`ActionWriter::make_room`] must come next.
    pub fn add_init(&mut self, name: StrId, value: Value) -> bool {
        self.inits.push(Init { before: self.events.len() as u32, name, value });
        self.inits.len() > HELD_INITS
    }

    /// Adds an event that belongs at an earlier position of its thread; returns whether
    /// [`ActionWriter::make_room_for_deferred`] must come next.
    #[inline]
    pub fn add_deferred(&mut self, thread: ThreadId, action: Action, object: u32, at: DeferredPosition) -> bool {
        self.deferred.push(thread.0, action, object, at, 0)
    }

    /// Adds a deferred event of any kind; returns as [`ActionWriter::add_deferred`].
    pub fn add_deferred_event(&mut self, event: Event, extra: &Extra, args: &[Value], at: DeferredPosition) -> bool {
        let (thread, op, site) = (event.thread(), event.op(), event.site());
        let action = self.actions.add(ActionKey { op, site, stack: extra.stack });
        let bare = *extra == (Extra { stack: extra.stack, ..Extra::default() }) && args.is_empty();
        if bare && action.number != UNNUMBERED && !op.has_lock_argument() {
            return self.deferred.push(thread.0, action, event.object(), at, 0);
        }
        self.deferred.push_with((thread.0, action, event.object()), site, at, *extra, args)
    }

    /// Writes out the events held back. The names and the meta-information are those of the call before, or have grown
    /// since.
    pub fn make_room(&mut self, names: &Names, meta: &Meta) -> io::Result<()> {
        let count = self.events.len();
        if count == 0 && self.inits.is_empty() {
            return Ok(());
        }
        self.tables(names, meta)?;
        self.frames.inits(&mut self.inits)?;
        if count == 0 {
            return Ok(());
        }
        let key = self.event_frames.is_multiple_of(KEY_EVERY);
        self.event_frames += 1;
        self.frames.payload.clear();
        self.events.finish(&mut self.frames.payload);
        if self.event_frames.is_multiple_of(KEY_EVERY) {
            self.events.reset();
        }
        self.frames.on_time += count as u64;
        self.frames.emit(Kind::Events, if key { FLAG_KEY } else { 0 } | FLAG_ACTIONS, count as u32)
    }

    /// Writes out the deferred events held back.
    pub fn make_room_for_deferred(&mut self, names: &Names, meta: &Meta) -> io::Result<()> {
        let count = self.deferred.len();
        if count == 0 {
            return Ok(());
        }
        self.tables(names, meta)?;
        self.frames.payload.clear();
        self.deferred.finish(&mut self.frames.payload);
        self.frames.deferred += count as u64;
        self.frames.emit(Kind::Deferred, FLAG_ACTIONS, count as u32)
    }

    /// Says that a part of the run is missing from the trace.
    pub fn write_loss(&mut self, loss: &Loss) -> io::Result<()> {
        self.frames.loss(loss)
    }

    /// Writes out all there is.
    pub fn flush(&mut self, names: &Names, meta: &Meta) -> io::Result<()> {
        self.make_room(names, meta)?;
        self.make_room_for_deferred(names, meta)?;
        self.tables(names, meta)?;
        self.frames.flush()
    }

    /// Ends the trace: writes what is held back, the index and the end mark.
    pub fn finish(mut self, names: &Names, meta: &Meta) -> io::Result<W> {
        self.flush(names, meta)?;
        self.frames.finish()
    }

    /// What the tables gained: a recorder names what it needs, when it needs it.
    fn tables(&mut self, names: &Names, meta: &Meta) -> io::Result<()> {
        if self.frames.offset > self.plain {
            self.plain = u64::MAX;
            for columns in [&mut self.frames.columns, &mut self.events.columns, &mut self.deferred.columns] {
                columns.hurry();
            }
        }
        self.frames.tables(names, meta, &ALL_NAMES)?;
        let actions = &mut self.actions;
        while self.frames.table(Kind::Actions, |raw| put_actions(raw, actions))? {}
        Ok(())
    }
}

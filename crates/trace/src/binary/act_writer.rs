//! Writes a binary trace event by event, by actions: for recorders, who know what is done at a place before it is done.

use super::act_encode::ActEncoder;
use super::actions::{Act, Action, Actions, Stretch, Told, UNTOLD, put_actions};
use super::column::ColumnWriter;
use super::events::needs_extra;
use super::frame::{FLAG_ACTIONS, FLAG_KEY, Kind};
use super::frames::{Frames, KEY_EVERY};
use super::late::LateRecord;
use super::late_acts::LateEncoder;
use super::tables::ALL_NAMES;
use super::writer::HELD_INITS;
use crate::Loss;
use event::{Event, Extra, Init, Meta, Names, Op, SiteId, StackId, StrId, ThreadId, Value};
use std::io::{self, Write};

/// Writes a binary trace by actions.
///
/// Like [`BinaryWriter`](super::BinaryWriter), it holds events back until a frame is full. Whatever adds one tells whether
/// [`ActWriter::make_room`] must come before the next.
///
/// ```
/// use event::{Meta, Names, Op, SiteId, Space, StackId, ThreadId};
/// use trace::Trace;
/// use trace::binary::{ActWriter, BinaryReader};
///
/// let (mut names, meta) = (Names::default(), Meta::default());
/// let main = ThreadId(names.add(Space::Thread, "main")?);
/// let x = names.add(Space::Var, "x")?;
/// let site = SiteId(names.add(Space::Site, "main.c:3")?);
///
/// let mut writer = ActWriter::new(Vec::new())?;
/// let write = writer.action(Op::Write, site, StackId(0)).expect("there is room");
/// for _ in 0..100_000 {
///     if writer.act(main, write, x) {
///         writer.make_room(&names, &meta)?;
///     }
/// }
/// let bytes = writer.finish(&names, &meta)?;
/// let trace = Trace::read(&mut BinaryReader::open(std::io::Cursor::new(bytes))?)?;
/// assert_eq!(trace.batch.events.len(), 100_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ActWriter<W: Write> {
    frames: Frames<W>,
    actions: Actions,
    /// The events held back, and the initial values before and between them.
    events: ActEncoder,
    inits: Vec<Init>,
    late: LateEncoder,
    event_frames: usize,
    /// From so many bytes on all is compressed.
    plain: u64,
}

impl<W: Write> ActWriter<W> {
    /// Begins a trace.
    pub fn new(out: W) -> io::Result<Self> {
        ActWriter::with(out, ColumnWriter::hurried)
    }

    /// Begins a trace that nobody keeps: it is not compressed until it has so many bytes.
    pub fn plain(out: W, bytes: u64) -> io::Result<Self> {
        Ok(ActWriter { plain: bytes, ..ActWriter::with(out, ColumnWriter::plain)? })
    }

    fn with(out: W, columns: impl Fn() -> io::Result<ColumnWriter>) -> io::Result<Self> {
        Ok(ActWriter {
            frames: Frames::new(out, columns()?)?,
            actions: Actions::default(),
            events: ActEncoder::new(columns()?),
            inits: Vec::new(),
            late: LateEncoder::new(columns()?),
            event_frames: 0,
            plain: 0,
        })
    }

    /// The action of an operation at a site, by certain calls. `None`: there is no room for more of them, or events that do this always
    /// have more to them; [`ActWriter::event`] takes them.
    pub fn action(&mut self, op: Op, site: SiteId, stack: StackId) -> Option<Action> {
        if op.has_lock_argument() {
            return None;
        }
        Some(self.actions.add(Told { op, site, stack })).filter(|action| action.number != UNTOLD)
    }

    /// Adds an event. Whether there must be made room before the next. (A pin cannot be one: it has a value.)
    #[inline]
    pub fn act(&mut self, thread: ThreadId, action: Action, object: u32) -> bool {
        debug_assert!(!action.op().has_number());
        self.events.push(thread.0, action, object, 0)
    }

    /// Events for which there is room.
    #[inline]
    pub fn room(&self) -> usize {
        self.events.room()
    }

    /// Adds events, no more than there is [room](ActWriter::room) for, and says whose they are. Whether there must be made room before the next.
    pub fn several(&mut self, acts: &[Act], stretches: &[Stretch]) -> bool {
        debug_assert!(acts.iter().all(|act| !act.action.op().has_number()));
        self.events.push_several(acts, stretches);
        self.events.room() == 0
    }

    /// Adds an event of any kind. The extra and the arguments are given here; those that the event says are not looked at.
    pub fn event(&mut self, event: Event, extra: &Extra, args: &[Value]) -> bool {
        let (thread, op, site) = (event.thread(), event.op(), event.site());
        let action = self.actions.add(Told { op, site, stack: extra.stack });
        let bare = *extra == (Extra { stack: extra.stack, ..Extra::default() }) && args.is_empty();
        if bare && action.number != UNTOLD && !needs_extra(op) {
            return self.events.push(thread.0, action, event.object(), 0);
        }
        self.events.push_with(thread.0, action, event.object(), site, *extra, args)
    }

    /// Adds an initial value before the next event. Whether there must be made room.
    pub fn init(&mut self, name: StrId, value: Value) -> bool {
        self.inits.push(Init { before: self.events.len() as u32, name, value });
        self.inits.len() > HELD_INITS
    }

    /// Adds an event that belongs at an earlier place of its thread. Whether there must be made room for late ones.
    #[inline]
    pub fn act_late(&mut self, thread: ThreadId, action: Action, object: u32, at: LateRecord) -> bool {
        self.late.push(thread.0, action, object, at, 0)
    }

    /// The same for an event of any kind.
    pub fn late(&mut self, event: Event, extra: &Extra, args: &[Value], at: LateRecord) -> bool {
        let (thread, op, site) = (event.thread(), event.op(), event.site());
        let action = self.actions.add(Told { op, site, stack: extra.stack });
        let bare = *extra == (Extra { stack: extra.stack, ..Extra::default() }) && args.is_empty();
        if bare && action.number != UNTOLD && !op.has_lock_argument() {
            return self.late.push(thread.0, action, event.object(), at, 0);
        }
        self.late.push_with((thread.0, action, event.object()), site, at, *extra, args)
    }

    /// Writes out the events held back. The names and the meta-information must be the same tables at every call, grown.
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

    /// Writes out the late events held back.
    pub fn make_room_for_late(&mut self, names: &Names, meta: &Meta) -> io::Result<()> {
        let count = self.late.len();
        if count == 0 {
            return Ok(());
        }
        self.tables(names, meta)?;
        self.frames.payload.clear();
        self.late.finish(&mut self.frames.payload);
        self.frames.late += count as u64;
        self.frames.emit(Kind::Late, FLAG_ACTIONS, count as u32)
    }

    /// Says that a part of the run is missing from the trace.
    pub fn write_loss(&mut self, loss: &Loss) -> io::Result<()> {
        self.frames.loss(loss)
    }

    /// Writes out all there is.
    pub fn flush(&mut self, names: &Names, meta: &Meta) -> io::Result<()> {
        self.make_room(names, meta)?;
        self.make_room_for_late(names, meta)?;
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
            for columns in [&mut self.frames.columns, &mut self.events.columns, &mut self.late.columns] {
                columns.hurry();
            }
        }
        self.frames.tables(names, meta, &ALL_NAMES)?;
        let actions = &mut self.actions;
        while self.frames.table(Kind::Actions, |raw| put_actions(raw, actions))? {}
        Ok(())
    }
}

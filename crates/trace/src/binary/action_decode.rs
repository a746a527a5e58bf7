//! Reads events frames of [actions](super::action_encode), piece by piece.

use super::action_predictor::{ActionPredictor, code};
use super::actions::{ActionKey, SPACES, UNNUMBERED, space_of};
use super::bytes::Cursor;
use super::column::ColumnReader;
use super::events::Limits;
use super::extras::{self, Bounds};
use super::frame::{Damage, MAX_COLUMN, MAX_EVENTS};
use super::planes::Planes;
use event::{Batch, Event, Extra, Names, Op, SiteId, StackId, ThreadId};

/// Events that are put together at a time: these should stay in a near cache.
const PIECE: usize = 1 << 12;

/// The actions numbered so far, and where their stacks are in a batch.
#[derive(Default)]
pub(super) struct ActionTable {
    pub(super) keys: Vec<ActionKey>,
    /// By number: the batch, and the extra there that is nothing but the stack.
    extras: Vec<(u32, u32)>,
    batch: u32,
}

impl ActionTable {
    /// From now on extras are of another batch.
    pub(super) fn begin_batch(&mut self) {
        self.batch = self.batch.wrapping_add(1);
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> Result<ActionKey, Damage> {
        let key = self.keys.get((number as usize).wrapping_sub(1));
        key.copied().ok_or(Damage("there is no such action"))
    }

    /// The extra of the batch that is nothing but the stack of an action.
    #[inline]
    pub(super) fn extra(&mut self, number: u32, stack: StackId, batch: &mut Batch) -> u32 {
        if self.extras.len() <= number as usize {
            self.extras.resize(self.keys.len() + 1, (self.batch.wrapping_sub(1), 0));
        }
        let known = &mut self.extras[number as usize];
        if known.0 != self.batch {
            *known = (self.batch, batch.add_extra(Extra { stack, ..Extra::default() }));
        }
        known.1
    }
}

/// Reads the operation and the site of an event whose action has no number.
pub(super) fn get_unnumbered(from: &mut Cursor<'_>, limits: &Limits) -> Result<ActionKey, Damage> {
    let op = Op::from_code(from.byte()?).ok_or(Damage("there is no such operation"))?;
    let site = SiteId(from.get_below(limits.sites as usize)?);
    Ok(ActionKey { op, site, stack: StackId(0) })
}

/// Reads events frames of actions.
pub(super) struct ActionDecoder {
    predictor: ActionPredictor,
    /// Nothing was learned yet.
    fresh: bool,
    columns: ColumnReader,
    runs: Vec<u8>,
    codes: Vec<u8>,
    extras: Vec<u8>,
    actions: Planes,
    objects: Planes,
    /// Events taken so far, and the bytes of runs and extras for them.
    taken: usize,
    runs_taken: usize,
    extras_taken: usize,
    /// The run that the next event is in: the thread, and how many events are left.
    run: (u32, usize),
}

impl ActionDecoder {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(ActionDecoder {
            predictor: ActionPredictor::new(),
            fresh: true,
            columns: ColumnReader::new()?,
            runs: Vec::new(),
            codes: Vec::new(),
            extras: Vec::new(),
            actions: Planes::default(),
            objects: Planes::default(),
            taken: 0,
            runs_taken: 0,
            extras_taken: 0,
            run: (0, 0),
        })
    }

    /// The next frame starts from a fresh predictor.
    pub(super) fn reset(&mut self) {
        if !std::mem::replace(&mut self.fresh, true) {
            self.predictor.reset();
        }
    }

    /// Begins to read the `count` events of a payload.
    pub(super) fn open(&mut self, payload: &[u8], count: usize) -> Result<(), Damage> {
        self.close();
        if count > MAX_EVENTS {
            return Err(Damage("it says it holds more events than a frame can"));
        }
        let opened = self.columns(payload, count).and_then(|()| self.finish());
        if opened.is_err() {
            self.close();
        }
        opened
    }

    /// Forgets the events that were not taken.
    fn close(&mut self) {
        self.codes.clear();
        (self.taken, self.runs_taken, self.extras_taken, self.run) = (0, 0, 0, (0, 0));
    }

    /// Whether all events were taken.
    pub(super) fn is_done(&self) -> bool {
        self.taken == self.codes.len()
    }

    fn columns(&mut self, payload: &[u8], count: usize) -> Result<(), Damage> {
        let mut from = Cursor::new(payload);
        // A run is at least one event and at most 4 bytes of thread and 3 of length.
        self.columns.get(&mut from, 8 * count, &mut self.runs)?;
        self.columns.get_exact(&mut from, count, &mut self.codes)?;
        let used = self.codes.iter().fold(0, |used, how| used | how);
        if used & !code::ALL != 0 {
            return Err(Damage("there is no such prediction"));
        }
        let (actions, objects) = count_stored(&self.codes);
        self.actions.open(&mut self.columns, &mut from, actions)?;
        self.objects.open(&mut self.columns, &mut from, objects)?;
        self.columns.get(&mut from, MAX_COLUMN, &mut self.extras)?;
        from.finish()
    }

    /// Appends events to a batch that had none: all that are left, or some.
    pub(super) fn take(
        &mut self,
        all: bool,
        names: &Names,
        stacks: usize,
        action_table: &mut ActionTable,
        batch: &mut Batch,
    ) -> Result<(), Damage> {
        let left = self.codes.len() - self.taken;
        action_table.begin_batch();
        self.fresh = false;
        let taken = self.piece(if all { left } else { left.min(PIECE) }, names, stacks, action_table, batch);
        if taken.is_err() {
            self.close();
        }
        taken
    }

    fn piece(
        &mut self,
        count: usize,
        names: &Names,
        stacks: usize,
        action_table: &mut ActionTable,
        batch: &mut Batch,
    ) -> Result<(), Damage> {
        let (limits, bounds) = (Limits::new(names), Bounds::new(names, stacks));
        let (actions, objects) = count_stored(&self.codes[self.taken..self.taken + count]);
        self.actions.next(actions);
        self.objects.next(objects);
        let (mut actions, mut objects) = (self.actions.numbers.iter(), self.objects.numbers.iter());
        let mut runs = Cursor::new(&self.runs[self.runs_taken..]);
        let mut extras = Cursor::new(&self.extras[self.extras_taken..]);
        batch.events.reserve(count);
        let end = self.taken + count;
        while self.taken < end {
            if self.run.1 == 0 {
                let thread = runs.get_below(limits.threads)?;
                let len = runs.get_below(self.codes.len() - self.taken + 1)? as usize;
                if len == 0 {
                    return Err(Damage("a run of events is empty"));
                }
                self.run = (thread, len);
            }
            let (thread, len) = (self.run.0, self.run.1.min(end - self.taken));
            for &how in &self.codes[self.taken..self.taken + len] {
                // As many were stored as there are such codes.
                let number = match how & code::ACTION_STORED {
                    0 => self.predictor.next(thread),
                    _ => actions.next().copied().unwrap_or(UNNUMBERED),
                };
                let (key, space) = if number == UNNUMBERED {
                    if how & code::HAS_EXTRA == 0 {
                        return Err(Damage("there is no such action"));
                    }
                    (get_unnumbered(&mut extras, &limits)?, SPACES - 1)
                } else {
                    let key = action_table.get(number)?;
                    (key, space_of(key.op))
                };
                let stored = || objects.next().copied().unwrap_or(0);
                let object = self.predictor.decode(thread, number, space, how, stored);
                let op = key.op;
                let (extra, limit) = if how & code::HAS_EXTRA == 0 {
                    (action_table.extra(number, key.stack, batch), &limits.bare_objects)
                } else {
                    let stack = Some(key.stack).filter(|&stack| stack != StackId(0));
                    (extras::get_extra(&mut extras, op, bounds, batch, stack)?.1, &limits.objects)
                };
                if object >= limit[op as usize] {
                    return Err(Damage(
                        "an event refers to a name that is not there, or lacks what its operation needs",
                    ));
                }
                batch.events.push(Event::with_extra(ThreadId(thread), op, object, key.site, extra));
            }
            self.taken += len;
            self.run.1 -= len;
        }
        self.runs_taken = self.runs.len() - runs.len();
        self.extras_taken = self.extras.len() - extras.len();
        self.finish()
    }

    /// When all events were taken, everything must have been.
    fn finish(&self) -> Result<(), Damage> {
        let more = self.runs_taken != self.runs.len() || self.extras_taken != self.extras.len();
        if self.is_done() && more { Err(Damage("a frame holds more than it should")) } else { Ok(()) }
    }
}

/// How many actions and objects are stored.
fn count_stored(codes: &[u8]) -> (usize, usize) {
    let (mut actions, mut objects) = (0, 0);
    // Sums of so few fit a byte, so that many are added at once.
    for codes in codes.chunks(128) {
        let (mut some_actions, mut some_objects) = (0u8, 0u8);
        for &how in codes {
            some_actions += how & code::ACTION_STORED;
            some_objects += (how & code::OBJECT_STORED) / code::OBJECT_STORED;
        }
        actions += usize::from(some_actions);
        objects += usize::from(some_objects);
    }
    (actions, objects)
}

//! Frames of deferred [actions](super::actions), in columns, since there can be as many deferred events as others.
//!
//! | column | holds |
//! | --- | --- |
//! | codes | one byte an event: what of it was not predicted ([`code`]) |
//! | planes | of what was not: actions, objects, threads, low and high halves of `after`; of all: `sequence` |
//! | extras | as in [events frames](super::action_encode) |
//!
//! Deferred events come in groups: those of one variable, and often of one position of one thread. The action that
//! followed an action the last time is predicted to follow it again. Each frame starts from a fresh predictor, so that
//! it can be read alone.

use super::action_decode::{ActionTable, get_unnumbered};
use super::action_encode::Stored;
use super::action_predictor::boxed;
use super::actions::{Action, UNNUMBERED};
use super::bytes::Cursor;
use super::column::{ColumnReader, ColumnWriter, Custom};
use super::deferred::DeferredPosition;
use super::events::Limits;
use super::extras::{self, Bounds, put_extra_of};
use super::frame::{Damage, MAX_COLUMN, MAX_EVENTS};
use super::planes::{Planes, put_planes};
use event::{Batch, Event, Extra, Names, SiteId, StackId, ThreadId, Value};

/// Bits of the byte that says what of a deferred event is stored.
mod code {
    /// The action; else it is the one that followed the last time.
    pub(super) const ACTION: u8 = 1;
    /// The object; else it is that of the event before.
    pub(super) const OBJECT: u8 = 1 << 1;
    /// The thread; else it is that of the event before.
    pub(super) const THREAD: u8 = 1 << 2;
    /// How many events of its thread come before it; else as many as for the event before.
    pub(super) const AFTER: u8 = 1 << 3;
    /// The event has an extra.
    pub(super) const HAS_EXTRA: u8 = 1 << 4;
    /// Every bit that has a meaning.
    pub(super) const ALL: u8 = ACTION | OBJECT | THREAD | AFTER | HAS_EXTRA;
}

/// Deferred events in a frame.
const FRAME_DEFERRED: usize = 1 << 15;

/// Bytes of extras after which a frame is closed.
const FULL_EXTRAS: usize = 1 << 23;

const FOLLOWERS: usize = 1 << 12;

/// What a deferred event is expected to be.
struct Guess {
    action: u32,
    object: u32,
    thread: u32,
    after: u64,
    /// By action: the one that followed it.
    followers: Box<[u32; FOLLOWERS]>,
}

impl Guess {
    fn new() -> Guess {
        Guess { action: 0, object: 0, thread: 0, after: 0, followers: boxed() }
    }

    fn reset(&mut self) {
        self.followers.fill(0);
        (self.action, self.object, self.thread, self.after) = (0, 0, 0, 0);
    }

    /// The action that is expected; there may be another one.
    #[inline]
    fn follower(&mut self) -> &mut u32 {
        &mut self.followers[self.action as usize % FOLLOWERS]
    }
}

/// Takes deferred events as they come; a frame is made of them when it is full.
pub(super) struct DeferredEncoder {
    pub(super) columns: ColumnWriter,
    guess: Guess,
    codes: Box<[u8; FRAME_DEFERRED]>,
    count: usize,
    actions: Stored<FRAME_DEFERRED>,
    objects: Stored<FRAME_DEFERRED>,
    threads: Stored<FRAME_DEFERRED>,
    afters: Stored<FRAME_DEFERRED>,
    afters_high: Stored<FRAME_DEFERRED>,
    sequences: Stored<FRAME_DEFERRED>,
    extras: Vec<u8>,
    plane: Vec<u8>,
    customs: [[Custom; 4]; 6],
    code_custom: Custom,
    extra_custom: Custom,
}

impl DeferredEncoder {
    pub(super) fn new(columns: ColumnWriter) -> Self {
        DeferredEncoder {
            columns,
            guess: Guess::new(),
            codes: boxed(),
            count: 0,
            actions: Stored::new(),
            objects: Stored::new(),
            threads: Stored::new(),
            afters: Stored::new(),
            afters_high: Stored::new(),
            sequences: Stored::new(),
            extras: Vec::new(),
            plane: Vec::new(),
            customs: Default::default(),
            code_custom: Custom::default(),
            extra_custom: Custom::default(),
        }
    }

    /// Deferred events taken since the last frame.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Adds a deferred event, for which there must be room. Whether the frame is full then.
    #[inline]
    pub(super) fn push(&mut self, thread: u32, action: Action, object: u32, at: DeferredPosition, how: u8) -> bool {
        let guess = &mut self.guess;
        let follower = guess.follower();
        let another = std::mem::replace(follower, action.number) != action.number;
        let other_object = guess.object != object;
        let other_thread = guess.thread != thread;
        let elsewhere = guess.after != at.after;
        (guess.action, guess.object, guess.thread, guess.after) = (action.number, object, thread, at.after);
        self.actions.push_if(another, action.number);
        self.objects.push_if(other_object, object);
        self.threads.push_if(other_thread, thread);
        self.afters.push_if(elsewhere, at.after as u32);
        self.afters_high.push_if(elsewhere, (at.after >> 32) as u32);
        self.sequences.push_if(true, at.sequence);
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        self.codes[self.count % FRAME_DEFERRED] = flag(another, code::ACTION)
            | flag(other_object, code::OBJECT)
            | flag(other_thread, code::THREAD)
            | flag(elsewhere, code::AFTER)
            | how;
        self.count += 1;
        self.count == FRAME_DEFERRED
    }

    /// Adds a deferred event with an extra. Its stack is that of its action, unless the action has no number.
    pub(super) fn push_with(
        &mut self,
        (thread, action, object): (u32, Action, u32),
        site: SiteId,
        at: DeferredPosition,
        extra: Extra,
        args: &[Value],
    ) -> bool {
        put_extra_of(&mut self.extras, action, site, extra, args);
        self.push(thread, action, object, at, code::HAS_EXTRA) || self.extras.len() >= FULL_EXTRAS
    }

    /// Appends the payload of a frame of the deferred events added.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        let DeferredEncoder { columns, plane, .. } = self;
        columns.put(out, &self.codes[..self.count], &mut self.code_custom);
        let numbers = [
            self.actions.take(),
            self.objects.take(),
            self.threads.take(),
            self.afters.take(),
            self.afters_high.take(),
            self.sequences.take(),
        ];
        for (numbers, customs) in numbers.into_iter().zip(&mut self.customs) {
            put_planes(columns, out, numbers, plane, customs);
        }
        columns.put(out, &self.extras, &mut self.extra_custom);
        self.extras.clear();
        self.count = 0;
        self.guess.reset();
    }
}

/// Reads deferred frames of actions.
pub(super) struct DeferredDecoder {
    columns: ColumnReader,
    guess: Guess,
    codes: Vec<u8>,
    planes: [Planes; 6],
    extras: Vec<u8>,
}

impl DeferredDecoder {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(DeferredDecoder {
            columns: ColumnReader::new()?,
            guess: Guess::new(),
            codes: Vec::new(),
            planes: Default::default(),
            extras: Vec::new(),
        })
    }

    /// Reads the records of a deferred frame, appending to both.
    pub(super) fn get(
        &mut self,
        (payload, count): (&[u8], usize),
        (names, stacks): (&Names, usize),
        action_table: &mut ActionTable,
        batch: &mut Batch,
        records: &mut Vec<DeferredPosition>,
    ) -> Result<(), Damage> {
        if count > MAX_EVENTS {
            return Err(Damage("it says it holds more events than a frame can"));
        }
        self.columns(payload, count)?;
        let (limits, bounds) = (Limits::new(names), Bounds::new(names, stacks));
        let mut stored = self.planes.each_ref().map(|planes| planes.numbers.iter().copied());
        // As many were stored as there are such codes.
        let [actions, objects, threads, afters, afters_high, sequences] = &mut stored;
        let mut extras = Cursor::new(&self.extras);
        self.guess.reset();
        let guess = &mut self.guess;
        for &how in &self.codes {
            if how & code::ACTION != 0 {
                *guess.follower() = actions.next().unwrap_or(UNNUMBERED);
            }
            let number = *guess.follower();
            guess.action = number;
            if how & code::OBJECT != 0 {
                guess.object = objects.next().unwrap_or(0);
            }
            if how & code::THREAD != 0 {
                guess.thread = threads.next().unwrap_or(0);
            }
            if how & code::AFTER != 0 {
                guess.after = u64::from(afters.next().unwrap_or(0)) | u64::from(afters_high.next().unwrap_or(0)) << 32;
            }
            if number == UNNUMBERED && how & code::HAS_EXTRA == 0 {
                return Err(Damage("there is no such action"));
            }
            let key =
                if number == UNNUMBERED { get_unnumbered(&mut extras, &limits)? } else { action_table.get(number)? };
            let extra = if how & code::HAS_EXTRA == 0 {
                if key.op.has_lock_argument() {
                    return Err(Damage("an event lacks a part that its operation needs"));
                }
                action_table.extra(number, key.stack, batch)
            } else {
                let stack = Some(key.stack).filter(|&stack| stack != StackId(0));
                extras::get_deferred_extra(&mut extras, key.op, bounds, batch, stack)?
            };
            if guess.object >= limits.objects[key.op as usize] || guess.thread as usize >= limits.threads {
                return Err(Damage("an event refers to a name that is not there"));
            }
            batch.events.push(Event::with_extra(ThreadId(guess.thread), key.op, guess.object, key.site, extra));
            records.push(DeferredPosition { after: guess.after, sequence: sequences.next().unwrap_or(0) });
        }
        extras.finish()
    }

    fn columns(&mut self, payload: &[u8], count: usize) -> Result<(), Damage> {
        let mut from = Cursor::new(payload);
        self.columns.get_exact(&mut from, count, &mut self.codes)?;
        let mut counts = [0; 4];
        for &how in &self.codes {
            if how & !code::ALL != 0 {
                return Err(Damage("there is no such prediction"));
            }
            for (bit, count) in counts.iter_mut().enumerate() {
                *count += usize::from(how >> bit & 1);
            }
        }
        let [actions, objects, threads, afters] = counts;
        for (planes, count) in self.planes.iter_mut().zip([actions, objects, threads, afters, afters, count]) {
            planes.open(&mut self.columns, &mut from, count)?;
            planes.next(count);
        }
        self.columns.get(&mut from, MAX_COLUMN, &mut self.extras)?;
        from.finish()
    }
}

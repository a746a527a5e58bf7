//! Writes [events frames](super::events).

use super::bytes::put;
use super::column::{ColumnWriter, Custom};
use super::event_predictor::{EventPredictor, PredictBy, code};
use super::events::needs_extra;
use super::extras;
use super::planes::put_planes;
use super::tables::Needed;
use event::{Batch, Event, Extra, Op, Space, StackId, Value};
use std::ops::Range;

/// Events in a frame. Small enough that a crash loses little, large enough for columns to compress.
const FRAME_EVENTS: usize = 1 << 15;

/// Bytes of extras after which a frame is closed: their column must stay within what is read.
const FULL_EXTRAS: usize = 1 << 23;

/// Events whose predictions are fetched from memory together.
const PIECE: usize = 64;

/// With fewer objects than this, the table of what sites they have is in a near cache, and never in the way.
const FEW_OBJECTS: u32 = 1 << 14;

/// Writes events frames. Events are taken as they come; a frame is made of them when it is full.
pub(super) struct EventEncoder {
    predictor: EventPredictor,
    predict_by: PredictBy,
    /// Events whose site only the table of objects predicted.
    by_object_alone: usize,
    columns: ColumnWriter,
    runs: Vec<u8>,
    ops: Vec<u8>,
    codes: Vec<u8>,
    objects: Vec<u32>,
    sites: Vec<u32>,
    extras: Vec<u8>,
    /// Columns of the next events, while they are not in use.
    piece: Option<Box<Piece>>,
    plane: Vec<u8>,
    customs: Customs,
    /// The thread of the last events, how many they are, and their last site.
    run: (u32, usize),
    previous: u32,
    /// By extra of the batch: its stack + 1, if it is nothing but that.
    only_stacks: Vec<u32>,
    /// By operation: the highest object + 1.
    highest: [u32; 64],
    highest_thread: u32,
    highest_site: u32,
    /// Names that extras refer to.
    needed: Needed,
}

#[derive(Default)]
struct Customs {
    runs: Custom,
    ops: Custom,
    codes: Custom,
    objects: [Custom; 4],
    sites: [Custom; 4],
    extras: Custom,
}

const NONE_NEEDED: Needed = [0; Space::ALL.len()];

impl EventEncoder {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(EventEncoder {
            predictor: EventPredictor::new(),
            predict_by: PredictBy::Both,
            by_object_alone: 0,
            columns: ColumnWriter::new()?,
            runs: Vec::new(),
            ops: Vec::new(),
            codes: Vec::new(),
            objects: Vec::new(),
            sites: Vec::new(),
            extras: Vec::new(),
            piece: None,
            plane: Vec::new(),
            customs: Customs::default(),
            run: (0, 0),
            previous: 0,
            only_stacks: Vec::new(),
            highest: [0; 64],
            highest_thread: 0,
            highest_site: 0,
            needed: NONE_NEEDED,
        })
    }

    /// Events taken since the last frame.
    pub(super) fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether no event may be added before a frame is made.
    pub(super) fn is_full(&self) -> bool {
        self.ops.len() >= FRAME_EVENTS || self.extras.len() >= FULL_EXTRAS
    }

    /// How the next frame predicts.
    pub(super) fn predict_by(&self) -> PredictBy {
        self.predict_by
    }

    /// The next frame starts from a fresh predictor, and tries all predictions. No event may have been added to it.
    pub(super) fn reset(&mut self) {
        debug_assert_eq!(self.len(), 0);
        self.predictor.reset();
        self.predict_by = PredictBy::Both;
    }

    /// Says which batch the events to come are in.
    pub(super) fn open(&mut self, batch: &Batch) {
        self.only_stacks.clear();
        self.only_stacks.extend(batch.extras.iter().map(|extra| {
            let only = extra.stack != StackId(0) && *extra == (Extra { stack: extra.stack, ..Extra::default() });
            if only { extra.stack.0.wrapping_add(1) } else { 0 }
        }));
    }

    /// Adds events of the batch, until the frame is full. How many.
    pub(super) fn add(&mut self, batch: &Batch, range: Range<usize>) -> usize {
        let add = match self.predict_by {
            PredictBy::Object => Self::add_some::<false, true>,
            PredictBy::Both => Self::add_some::<true, true>,
            PredictBy::Site => Self::add_some::<true, false>,
        };
        let before = self.len();
        let mut events = &batch.events[range];
        while !events.is_empty() && !self.is_full() {
            let (piece, rest) = events.split_at(events.len().min(PIECE).min(FRAME_EVENTS - self.len()));
            add(self, batch, piece);
            events = rest;
        }
        self.len() - before
    }

    fn add_some<const SITES: bool, const OBJECTS: bool>(&mut self, batch: &Batch, events: &[Event]) {
        if OBJECTS {
            // Where the table is larger than the near caches, the processor waits for all of these at once instead of
            // for one after the other.
            let fetched = events.iter().fold(0, |all, e| all ^ self.predictor.site_of(e.op() as u8, e.object()));
            std::hint::black_box(fetched);
        }
        let mut piece = self.piece.take().unwrap_or_default();
        for run in events.chunk_by(|a, b| a.thread() == b.thread()) {
            self.turn_to(run[0].thread().0);
            self.run.1 += run.len();
            let mut previous = self.previous;
            for &event in run {
                self.event::<SITES, OBJECTS>(batch, event, previous, &mut piece);
                previous = event.site().0;
            }
            self.previous = previous;
        }
        self.ops.extend_from_slice(piece.ops.take());
        self.codes.extend_from_slice(piece.codes.take());
        self.objects.extend_from_slice(piece.objects.take());
        self.sites.extend_from_slice(piece.sites.take());
        self.piece = Some(piece);
    }

    /// The next events are a thread's.
    fn turn_to(&mut self, thread: u32) {
        if self.run.1 > 0 && self.run.0 == thread {
            return;
        }
        self.end_run();
        self.run = (thread, 0);
        self.previous = self.predictor.enter(thread);
        self.highest_thread = self.highest_thread.max(thread + 1);
    }

    fn end_run(&mut self) {
        let (thread, len) = std::mem::take(&mut self.run);
        if len > 0 {
            put(&mut self.runs, thread.into());
            put(&mut self.runs, len as u64);
            self.predictor.leave(thread, self.previous);
        }
    }

    #[inline]
    fn event<const SITES: bool, const OBJECTS: bool>(
        &mut self,
        batch: &Batch,
        event: Event,
        previous: u32,
        piece: &mut Piece,
    ) {
        let (op, object, site) = (event.op(), event.object(), event.site().0);
        let highest = &mut self.highest[op as usize % 64];
        *highest = (*highest).max(object.saturating_add(1));
        self.highest_site = self.highest_site.max(site);
        let next = if SITES { self.predictor.next_site(previous) } else { 0 };
        let mut how = 0;
        if SITES && self.predictor.next_object(next) == object {
            how |= code::OBJECT_BY_STRIDE;
        } else {
            piece.objects.push(object);
        }
        if OBJECTS && self.predictor.site_of(op as u8, object) == site {
            how |= code::SITE_BY_OBJECT;
            self.by_object_alone += usize::from(SITES && next != site);
        } else if SITES && next == site {
            how |= code::SITE_BY_SITE;
        } else {
            how |= code::SITE_STORED;
            piece.sites.push(site);
        }
        if event.extra() != 0 || needs_extra(op) {
            let known = self.predictor.stack_of(site).wrapping_add(1);
            if !needs_extra(op) && known > 1 && self.only_stacks[event.extra() as usize] == known {
                how |= code::STACK_BY_SITE;
            } else {
                how |= self.extra(batch, event);
            }
        }
        if OBJECTS {
            self.predictor.learn_site(op as u8, object, site);
        }
        if SITES {
            self.predictor.learn_successor(previous, object, site);
        }
        piece.ops.push(op as u8);
        piece.codes.push(how);
    }

    /// Adds the extra of an event that is not predicted.
    #[inline(never)]
    fn extra(&mut self, batch: &Batch, event: Event) -> u8 {
        let (op, site) = (event.op(), event.site().0);
        let mut extra = *batch.extra(event);
        let mut how = code::HAS_EXTRA;
        if extra.stack == StackId(self.predictor.stack_of(site)) && extra.stack != StackId(0) {
            extra.stack = StackId(0);
            how |= code::STACK_BY_SITE;
        } else {
            self.predictor.learn_stack(site, extra.stack.0);
        }
        let args = batch.args(event);
        if op.has_lock_argument() {
            self.need(Space::Lock, extra.lock.0);
        }
        for value in args.iter().chain([&extra.value]) {
            if let Value::Str(id) = value {
                self.need(Space::Str, id.0);
            }
        }
        extras::put_extra(&mut self.extras, op, &extra, args);
        how
    }

    fn need(&mut self, space: Space, number: u32) {
        let count = &mut self.needed[space as usize];
        *count = (*count).max(number as usize + 1);
    }

    /// The names that the events refer to: all up to the highest number in each space.
    pub(super) fn needed(&self) -> Needed {
        let mut needed = self.needed;
        let mut need = |space: Space, count: u32| {
            let known = &mut needed[space as usize];
            *known = (*known).max(count as usize);
        };
        if self.len() > 0 {
            need(Space::Thread, self.highest_thread);
            need(Space::Site, self.highest_site.saturating_add(1));
        }
        for &op in Op::ALL {
            if let Some(space) = op.space() {
                need(space, self.highest[op as usize % 64]);
            }
        }
        needed
    }

    /// Appends the payload of a frame of the events added.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        self.end_run();
        let customs = &mut self.customs;
        self.columns.put(out, &self.runs, &mut customs.runs);
        self.columns.put(out, &self.ops, &mut customs.ops);
        self.columns.put(out, &self.codes, &mut customs.codes);
        put_planes(&mut self.columns, out, &self.objects, &mut self.plane, &mut customs.objects);
        put_planes(&mut self.columns, out, &self.sites, &mut self.plane, &mut customs.sites);
        self.columns.put(out, &self.extras, &mut customs.extras);
        self.predict_by = self.worth_using();
        for column in [&mut self.runs, &mut self.ops, &mut self.codes, &mut self.extras] {
            column.clear();
        }
        self.objects.clear();
        self.sites.clear();
        self.highest = [0; 64];
        (self.highest_thread, self.highest_site) = (0, 0);
        self.needed = NONE_NEEDED;
        self.by_object_alone = 0;
    }

    /// Which predictions were right often enough to be used again; the next key frame tries all of them again.
    fn worth_using(&self) -> PredictBy {
        if self.predict_by == PredictBy::Object {
            return PredictBy::Object;
        }
        let predicted = self.codes.iter().filter(|&&how| how & (code::OBJECT_BY_STRIDE | code::SITE_BY_SITE) != 0);
        if predicted.count() <= self.codes.len() / 32 {
            return if self.predict_by == PredictBy::Both { PredictBy::Object } else { PredictBy::Site };
        }
        let many_objects = self.highest.iter().any(|&highest| highest > FEW_OBJECTS);
        if many_objects && self.by_object_alone < self.codes.len() / 4 { PredictBy::Site } else { self.predict_by }
    }
}

/// Some numbers, in a place without an allocation.
struct Few<T> {
    numbers: [T; PIECE],
    count: usize,
}

impl<T: Copy> Few<T> {
    #[inline]
    fn push(&mut self, number: T) {
        self.numbers[self.count % PIECE] = number;
        self.count += 1;
    }

    /// All that were pushed; there are none then.
    fn take(&mut self) -> &[T] {
        &self.numbers[..std::mem::take(&mut self.count)]
    }
}

impl<T: Copy + Default> Default for Few<T> {
    fn default() -> Self {
        Few { numbers: [T::default(); PIECE], count: 0 }
    }
}

/// The columns of a few events.
#[derive(Default)]
struct Piece {
    ops: Few<u8>,
    codes: Few<u8>,
    objects: Few<u32>,
    sites: Few<u32>,
}

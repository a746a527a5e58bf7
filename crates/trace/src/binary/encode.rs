//! Writes [events frames](super::events).

use super::bytes::put;
use super::column::{ColumnWriter, Custom};
use super::events::needs_extra;
use super::extras;
use super::planes::put_planes;
use super::predict::{Predictor, code};
use super::tables::Needed;
use event::{Batch, Event, Extra, Op, Space, StackId, Value};
use std::ops::Range;

/// Events in a frame. Small enough that a crash loses little, large enough for columns to compress.
const FRAME_EVENTS: usize = 1 << 15;

/// Bytes of extras after which a frame is closed: their column must stay within what is read.
const FULL_EXTRAS: usize = 1 << 23;

/// Events whose predictions are fetched from memory together.
const PIECE: usize = 64;

/// Writes events frames. Events are taken as they come; a frame is made of them when it is full.
pub(super) struct EventEncoder {
    predictor: Predictor,
    habits: bool,
    columns: ColumnWriter,
    runs: Vec<u8>,
    ops: Vec<u8>,
    codes: Vec<u8>,
    objects: Vec<u32>,
    sites: Vec<u32>,
    extras: Vec<u8>,
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
            predictor: Predictor::new(),
            habits: true,
            columns: ColumnWriter::new()?,
            runs: Vec::new(),
            ops: Vec::new(),
            codes: Vec::new(),
            objects: Vec::new(),
            sites: Vec::new(),
            extras: Vec::new(),
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

    /// Whether the next frame predicts by habits.
    pub(super) fn uses_habits(&self) -> bool {
        self.habits
    }

    /// The next frame starts from a fresh predictor, and tries habits. No event may have been added to it.
    pub(super) fn reset(&mut self) {
        debug_assert_eq!(self.len(), 0);
        self.predictor.reset();
        self.habits = true;
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
        let add = if self.habits { Self::add_some::<true> } else { Self::add_some::<false> };
        let before = self.len();
        let mut events = &batch.events[range];
        while !events.is_empty() && !self.is_full() {
            let (piece, rest) = events.split_at(events.len().min(PIECE).min(FRAME_EVENTS - self.len()));
            add(self, batch, piece);
            events = rest;
        }
        self.len() - before
    }

    fn add_some<const HABITS: bool>(&mut self, batch: &Batch, events: &[Event]) {
        // Where the table is larger than the near caches, the processor waits for all of these at once, and not for one after the other.
        let fetched = events.iter().fold(0, |all, e| all ^ self.predictor.site_of(e.op() as u8, e.object()));
        std::hint::black_box(fetched);
        for run in events.chunk_by(|a, b| a.thread() == b.thread()) {
            self.turn_to(run[0].thread().0);
            self.run.1 += run.len();
            let mut previous = self.previous;
            for &event in run {
                self.event::<HABITS>(batch, event, previous);
                previous = event.site().0;
            }
            self.previous = previous;
        }
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
    fn event<const HABITS: bool>(&mut self, batch: &Batch, event: Event, previous: u32) {
        let (op, object, site) = (event.op(), event.object(), event.site().0);
        let highest = &mut self.highest[op as usize % 64];
        *highest = (*highest).max(object.saturating_add(1));
        self.highest_site = self.highest_site.max(site);
        let next = if HABITS { self.predictor.next_site(previous) } else { 0 };
        let mut how = 0;
        if HABITS && self.predictor.next_object(next) == object {
            how |= code::OBJECT_BY_STRIDE;
        } else {
            self.objects.push(object);
        }
        if self.predictor.site_of(op as u8, object) == site {
            how |= code::SITE_BY_OBJECT;
        } else if HABITS && next == site {
            how |= code::SITE_BY_SITE;
        } else {
            how |= code::SITE_STORED;
            self.sites.push(site);
        }
        if event.extra() != 0 || needs_extra(op) {
            let known = self.predictor.stack_of(site).wrapping_add(1);
            if !needs_extra(op) && known > 1 && self.only_stacks[event.extra() as usize] == known {
                how |= code::STACK_BY_SITE;
            } else {
                how |= self.extra(batch, event);
            }
        }
        self.predictor.learn_site(op as u8, object, site);
        if HABITS {
            self.predictor.learn_habit(previous, object, site);
        }
        self.ops.push(op as u8);
        self.codes.push(how);
    }

    /// Adds the extra of an event that is not foretold.
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
        if extras::has_lock(op) {
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
        // Habits that foretold too little are not used again before the next key frame.
        self.habits &= self.habits_paid();
        for column in [&mut self.runs, &mut self.ops, &mut self.codes, &mut self.extras] {
            column.clear();
        }
        self.objects.clear();
        self.sites.clear();
        self.highest = [0; 64];
        (self.highest_thread, self.highest_site) = (0, 0);
        self.needed = NONE_NEEDED;
    }

    fn habits_paid(&self) -> bool {
        let foretold = self.codes.iter().filter(|&&how| how & (code::OBJECT_BY_STRIDE | code::SITE_BY_SITE) != 0);
        foretold.count() > self.codes.len() / 32
    }
}

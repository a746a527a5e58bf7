//! Writes events frames of [actions](super::actions).
//!
//! | column | holds |
//! | --- | --- |
//! | runs | (thread, length) of each run of events of one thread |
//! | codes | one byte an event: what of it was predicted ([`code`]) |
//! | action planes | for unpredicted actions: as many bytes as the largest needs, lowest bytes first |
//! | object planes | for unpredicted objects, likewise |
//! | extras | for the events that have one |
//!
//! An entry of the extras is an [extra](super::extras) without a stack, which is that of the action. If the action has
//! no number, the operation and the site come first, and the extra has the stack.

use super::action_predictor::{ActionPredictor, boxed, code};
use super::actions::{Action, ActionEvent, ThreadRun};
use super::bytes::put;
use super::column::{ColumnWriter, Custom};
use super::extras::put_extra_of;
use super::planes::put_planes;
use event::{Extra, SiteId, Value};

/// Events in a frame. Small enough that a crash loses little, large enough for columns to compress.
const FRAME_EVENTS: usize = 1 << 15;

/// Bytes of extras after which a frame is closed: their column must stay within what is read.
const FULL_EXTRAS: usize = 1 << 23;

/// Numbers that are stored, of which there are no more than events in a frame.
pub(super) struct Stored<const N: usize> {
    numbers: Box<[u32; N]>,
    count: usize,
}

impl<const N: usize> Stored<N> {
    pub(super) fn new() -> Self {
        Stored { numbers: boxed(), count: 0 }
    }

    /// Adds a number if it is wanted, without a branch, which the processor could not predict.
    #[inline]
    pub(super) fn push_if(&mut self, wanted: bool, number: u32) {
        self.numbers[self.count % N] = number;
        self.count += usize::from(wanted);
    }

    /// Begins to add several numbers, with the place for the next one in a register.
    #[inline]
    fn adding(&mut self) -> Adding<'_, N> {
        Adding { numbers: &mut self.numbers, now: self.count, count: &mut self.count }
    }

    /// All that were added; there are none then.
    pub(super) fn take(&mut self) -> &[u32] {
        &self.numbers[..std::mem::take(&mut self.count)]
    }
}

/// Numbers that are being added.
struct Adding<'a, const N: usize> {
    numbers: &'a mut [u32; N],
    now: usize,
    count: &'a mut usize,
}

impl<const N: usize> Adding<'_, N> {
    #[inline]
    fn push_if(&mut self, wanted: bool, number: u32) {
        self.numbers[self.now % N] = number;
        self.now += usize::from(wanted);
    }
}

impl<const N: usize> Drop for Adding<'_, N> {
    fn drop(&mut self) {
        *self.count = self.now;
    }
}

/// Takes events as they come; a frame is made of them when it is full.
pub(super) struct ActionEncoder {
    predictor: ActionPredictor,
    pub(super) columns: ColumnWriter,
    runs: Vec<u8>,
    codes: Box<[u8; FRAME_EVENTS]>,
    count: usize,
    actions: Stored<FRAME_EVENTS>,
    objects: Stored<FRAME_EVENTS>,
    extras: Vec<u8>,
    plane: Vec<u8>,
    customs: Customs,
    /// The thread of the last events, and which one was the first of them.
    run: (u32, usize),
}

#[derive(Default)]
struct Customs {
    runs: Custom,
    codes: Custom,
    actions: [Custom; 4],
    objects: [Custom; 4],
    extras: Custom,
}

impl ActionEncoder {
    pub(super) fn new(columns: ColumnWriter) -> Self {
        ActionEncoder {
            predictor: ActionPredictor::new(),
            columns,
            runs: Vec::new(),
            codes: boxed(),
            count: 0,
            actions: Stored::new(),
            objects: Stored::new(),
            extras: Vec::new(),
            plane: Vec::new(),
            customs: Customs::default(),
            run: (0, 0),
        }
    }

    /// Events taken since the last frame.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The next frame starts from a fresh predictor. No event may have been added to it.
    pub(super) fn reset(&mut self) {
        debug_assert_eq!(self.len(), 0);
        self.predictor.reset();
    }

    /// Events for which there is room.
    #[inline]
    pub(super) fn room(&self) -> usize {
        FRAME_EVENTS - self.count
    }

    /// Adds events, for which there must be room.
    pub(super) fn push_all(&mut self, events: &[ActionEvent], runs: &[ThreadRun]) {
        let mut begin = 0;
        for &ThreadRun { thread, end } in runs {
            let events = &events[begin..end];
            begin = end;
            if self.run.0 != thread.0 && !events.is_empty() {
                self.turn_to(thread.0);
            }
            let ActionEncoder { predictor, codes, actions, objects, count, .. } = self;
            let mut predictor = predictor.for_thread(thread.0);
            let codes = &mut codes[*count..];
            debug_assert!(events.len() <= codes.len());
            let (mut actions, mut objects) = (actions.adding(), objects.adding());
            for (event, code) in events.iter().zip(codes) {
                let ActionEvent { action, object } = *event;
                let how = predictor.encode(action.number, action.space(), object);
                actions.push_if(how & code::ACTION_STORED != 0, action.number);
                objects.push_if(how & code::OBJECT_STORED != 0, object);
                *code = how;
            }
            *count += events.len();
        }
    }

    /// Adds an event, for which there must be room. Whether the frame is full then.
    #[inline]
    pub(super) fn push(&mut self, thread: u32, action: Action, object: u32, flags: u8) -> bool {
        if self.run.0 != thread {
            self.turn_to(thread);
        }
        let how = self.predictor.for_thread(thread).encode(action.number, action.space(), object);
        self.actions.push_if(how & code::ACTION_STORED != 0, action.number);
        self.objects.push_if(how & code::OBJECT_STORED != 0, object);
        self.codes[self.count % FRAME_EVENTS] = how | flags;
        self.count += 1;
        self.count == FRAME_EVENTS
    }

    /// Adds an event with an extra. Its stack is that of its action, unless the action has no number.
    pub(super) fn push_with(
        &mut self,
        thread: u32,
        action: Action,
        object: u32,
        site: SiteId,
        extra: Extra,
        args: &[Value],
    ) -> bool {
        put_extra_of(&mut self.extras, action, site, extra, args);
        self.push(thread, action, object, code::HAS_EXTRA) || self.extras.len() >= FULL_EXTRAS
    }

    #[inline(never)]
    fn turn_to(&mut self, thread: u32) {
        self.end_run();
        self.run = (thread, self.count);
    }

    fn end_run(&mut self) {
        let (thread, start) = self.run;
        let length = self.count - start;
        if length == 0 {
            return;
        }
        if thread < 1 << 7 && length < 1 << 7 {
            // Two numbers of a byte each.
            return self.runs.extend_from_slice(&[thread as u8, length as u8]);
        }
        put(&mut self.runs, thread.into());
        put(&mut self.runs, length as u64);
    }

    /// Appends the payload of a frame of the events added.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        self.end_run();
        let customs = &mut self.customs;
        self.columns.put(out, &self.runs, &mut customs.runs);
        self.columns.put(out, &self.codes[..self.count], &mut customs.codes);
        put_planes(&mut self.columns, out, self.actions.take(), &mut self.plane, &mut customs.actions);
        put_planes(&mut self.columns, out, self.objects.take(), &mut self.plane, &mut customs.objects);
        self.columns.put(out, &self.extras, &mut customs.extras);
        self.runs.clear();
        self.extras.clear();
        self.count = 0;
        self.run.1 = 0;
    }
}

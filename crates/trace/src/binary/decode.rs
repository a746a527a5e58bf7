//! Reads [events frames](super::events): the columns of a frame, then piece by piece what was predicted and the events.

use super::bytes::Cursor;
use super::column::ColumnReader;
use super::event_predictor::{EventPredictor, PredictBy, code};
use super::events::{Limits, needs_extra};
use super::extras::{self, Bounds};
use super::frame::{Damage, MAX_COLUMN, MAX_EVENTS};
use super::planes::Planes;
use event::{Batch, Event, Extra, Names, Op, SiteId, StackId, ThreadId};
use std::ops::Range;

/// Events that are put together at a time: what is looked up for them, and the events, should stay in a near cache.
const PIECE: usize = 1 << 12;

/// Reads events frames, piece by piece.
pub(super) struct EventDecoder {
    predictor: EventPredictor,
    /// Nothing was learned yet.
    fresh: bool,
    columns: ColumnReader,
    runs: Vec<u8>,
    ops: Vec<u8>,
    codes: Vec<u8>,
    extras: Vec<u8>,
    /// Objects and sites that were stored because they were not predicted.
    stored_objects: Planes,
    stored_sites: Planes,
    predict_by: PredictBy,
    /// Events taken so far, and the bytes of runs and extras for them.
    taken: usize,
    runs_taken: usize,
    extras_taken: usize,
    /// The run that the next event is in: the thread, and how many events are left.
    run: (u32, usize),
    /// Of a piece: its runs of events of one thread, and the object and the site of every event.
    thread_runs: Vec<(u32, usize)>,
    objects: Vec<u32>,
    sites: Vec<u32>,
    only_stacks: OnlyStacks,
}

/// Extras that are nothing but a call stack, by site: most events of a site share one.
struct OnlyStacks {
    /// Where in the batch it was last.
    indices: Vec<u32>,
}

impl OnlyStacks {
    #[inline]
    fn get(&mut self, site: u32, stack: StackId, batch: &mut Batch) -> u32 {
        let extra = Extra { stack, ..Extra::default() };
        let slots = self.indices.len();
        let index = &mut self.indices[site as usize % slots];
        // What is there in another batch may be something else.
        if batch.extras.get(*index as usize) != Some(&extra) {
            *index = batch.add_extra(extra);
        }
        *index
    }
}

impl EventDecoder {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(EventDecoder {
            predictor: EventPredictor::new(),
            fresh: true,
            columns: ColumnReader::new()?,
            runs: Vec::new(),
            ops: Vec::new(),
            codes: Vec::new(),
            extras: Vec::new(),
            stored_objects: Planes::default(),
            stored_sites: Planes::default(),
            predict_by: PredictBy::Object,
            taken: 0,
            runs_taken: 0,
            extras_taken: 0,
            run: (0, 0),
            thread_runs: Vec::new(),
            objects: Vec::new(),
            sites: Vec::new(),
            only_stacks: OnlyStacks { indices: vec![0; 1 << 12] },
        })
    }

    /// The next frame starts from a fresh predictor.
    pub(super) fn reset(&mut self) {
        if !std::mem::replace(&mut self.fresh, true) {
            self.predictor.reset();
        }
    }

    /// Begins to read the `count` events of a payload.
    pub(super) fn open(&mut self, payload: &[u8], count: usize, predict_by: PredictBy) -> Result<(), Damage> {
        self.close();
        self.predict_by = predict_by;
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
        self.ops.clear();
        (self.taken, self.runs_taken, self.extras_taken, self.run) = (0, 0, 0, (0, 0));
    }

    /// Whether all events were taken.
    pub(super) fn is_done(&self) -> bool {
        self.taken == self.ops.len()
    }

    /// Appends events to a batch: all that are left, or some.
    pub(super) fn take(&mut self, all: bool, names: &Names, stacks: usize, batch: &mut Batch) -> Result<(), Damage> {
        let left = self.ops.len() - self.taken;
        self.fresh = false;
        let limits = Limits::new(names);
        let taken = self.piece(if all { left } else { left.min(PIECE) }, &limits, Bounds::new(names, stacks), batch);
        if taken.is_err() {
            self.close();
        }
        taken
    }

    fn columns(&mut self, payload: &[u8], count: usize) -> Result<(), Damage> {
        let mut from = Cursor::new(payload);
        // A run is at least one event and at most 4 bytes of thread and 3 of length.
        self.columns.get(&mut from, 8 * count, &mut self.runs)?;
        self.columns.get_exact(&mut from, count, &mut self.ops)?;
        self.columns.get_exact(&mut from, count, &mut self.codes)?;
        let codes = count_codes(&self.codes);
        if codes.used & !code::ALL != 0 {
            return Err(Damage("there is no such prediction"));
        }
        if self.predict_by == PredictBy::Object && codes.used & (code::OBJECT_BY_STRIDE | code::SITE_BY_SITE) != 0 {
            return Err(Damage("a prediction is of a kind that the frame does not use"));
        }
        self.stored_objects.open(&mut self.columns, &mut from, count - codes.strides)?;
        self.stored_sites.open(&mut self.columns, &mut from, codes.stored)?;
        self.columns.get(&mut from, MAX_COLUMN, &mut self.extras)?;
        from.finish()
    }

    fn piece(&mut self, count: usize, limits: &Limits, bounds: Bounds, batch: &mut Batch) -> Result<(), Damage> {
        let piece = self.taken..self.taken + count;
        self.thread_runs(count, limits)?;
        let codes = count_codes(&self.codes[piece.clone()]);
        self.stored_objects.next(count - codes.strides);
        self.stored_sites.next(codes.stored);
        match self.predict_by {
            PredictBy::Object => self.predict(piece.clone()),
            PredictBy::Both => self.predict_by_site::<true>(piece.clone()),
            PredictBy::Site => self.predict_by_site::<false>(piece.clone()),
        }
        self.assemble(piece.clone(), codes.used, limits, bounds, batch)?;
        self.taken = piece.end;
        self.finish()
    }

    /// When all events were taken, everything must have been.
    fn finish(&self) -> Result<(), Damage> {
        let more = self.runs_taken != self.runs.len() || self.extras_taken != self.extras.len();
        if self.is_done() && more { Err(Damage("a frame holds more than it should")) } else { Ok(()) }
    }

    /// The next runs of events of one thread.
    fn thread_runs(&mut self, count: usize, limits: &Limits) -> Result<(), Damage> {
        self.thread_runs.clear();
        let mut runs = Cursor::new(&self.runs[self.runs_taken..]);
        let mut left = count;
        while left > 0 {
            if self.run.1 == 0 {
                let thread = runs.get_below(limits.threads)?;
                let most = self.ops.len() - self.taken - (count - left);
                self.run = match runs.get_below(most + 1)? as usize {
                    0 => return Err(Damage("a run of events is empty")),
                    len => (thread, len),
                };
            }
            let len = self.run.1.min(left);
            self.thread_runs.push((self.run.0, len));
            self.run.1 -= len;
            left -= len;
        }
        self.runs_taken = self.runs.len() - runs.len();
        Ok(())
    }

    /// Without the predictions of sites every object is stored, and sites depend on nothing but operations and objects:
    /// a loop so short that many look-ups are under way at once.
    fn predict(&mut self, piece: Range<usize>) {
        std::mem::swap(&mut self.objects, &mut self.stored_objects.numbers);
        let mut stored = self.stored_sites.numbers.iter();
        self.sites.clear();
        let events = self.ops[piece.clone()].iter().zip(&self.codes[piece]).zip(&self.objects);
        self.sites.extend(events.map(|((&op, &how), &object)| {
            if how & code::SITE_MASK == code::SITE_BY_OBJECT {
                self.predictor.site_of(op, object)
            } else {
                // As many were stored as there are such codes.
                let site = stored.next().copied().unwrap_or(0);
                self.predictor.learn_site(op, object, site);
                site
            }
        }));
    }

    fn predict_by_site<const OBJECTS: bool>(&mut self, piece: Range<usize>) {
        let (mut ops, mut codes) = (&self.ops[piece.clone()], &self.codes[piece]);
        let mut stored_objects = self.stored_objects.numbers.iter();
        let mut stored_sites = self.stored_sites.numbers.iter();
        self.objects.clear();
        self.sites.clear();
        for &(thread, len) in &self.thread_runs {
            let (run_ops, run_codes);
            (run_ops, ops) = ops.split_at(len);
            (run_codes, codes) = codes.split_at(len);
            let mut previous = self.predictor.enter(thread);
            for (&op, &how) in run_ops.iter().zip(run_codes) {
                let object = if how & code::OBJECT_BY_STRIDE == 0 {
                    stored_objects.next().copied().unwrap_or(0)
                } else {
                    self.predictor.next_object(self.predictor.next_site(previous))
                };
                let site = match how & code::SITE_MASK {
                    code::SITE_BY_OBJECT => self.predictor.site_of(op, object),
                    code::SITE_BY_SITE => self.predictor.next_site(previous),
                    _ => stored_sites.next().copied().unwrap_or(0),
                };
                if OBJECTS {
                    self.predictor.learn_site(op, object, site);
                }
                self.predictor.learn_successor(previous, object, site);
                previous = site;
                self.objects.push(object);
                self.sites.push(site);
            }
            self.predictor.leave(thread, previous);
        }
    }

    /// Puts the parts together, and sees that every operation is one, and every id that of a name.
    fn assemble(
        &mut self,
        piece: Range<usize>,
        used: u8,
        limits: &Limits,
        bounds: Bounds,
        batch: &mut Batch,
    ) -> Result<(), Damage> {
        let (ops, codes) = (&self.ops[piece.clone()], &self.codes[piece.clone()]);
        let mut extras = Cursor::new(&self.extras[self.extras_taken..]);
        batch.events.reserve(piece.len());
        let mut sound = true;
        let mut from = 0;
        for &(thread, len) in &self.thread_runs {
            let run = from..from + len;
            from += len;
            let parts = ops[run.clone()].iter().zip(&self.objects[run.clone()]).zip(&self.sites[run.clone()]);
            let event = |op, object, site, extra| {
                Event::with_extra(ThreadId(thread), Op::from_code(op).unwrap_or(Op::Read), object, SiteId(site), extra)
            };
            if used & (code::HAS_EXTRA | code::STACK_BY_SITE) == 0 {
                batch.events.extend(parts.map(|((&op, &object), &site)| {
                    sound &= (object < limits.bare_objects[usize::from(op)]) & (site < limits.sites);
                    event(op, object, site, 0)
                }));
                continue;
            }
            for (((&op, &object), &site), &how) in parts.zip(&codes[run]) {
                let known = StackId(self.predictor.stack_of(site));
                let (extra, limit) = match how & (code::HAS_EXTRA | code::STACK_BY_SITE) {
                    0 => (0, &limits.bare_objects),
                    code::STACK_BY_SITE => (self.only_stacks.get(site, known, batch), &limits.bare_objects),
                    parts => {
                        let op = Op::from_code(op).ok_or(NO_OPERATION)?;
                        let stack = (parts & code::STACK_BY_SITE != 0).then_some(known);
                        let (stack, extra) = extras::get_extra(&mut extras, op, bounds, batch, stack)?;
                        self.predictor.learn_stack(site, stack.0);
                        (extra, &limits.objects)
                    }
                };
                sound &= (object < limit[usize::from(op)]) & (site < limits.sites);
                batch.events.push(event(op, object, site, extra));
            }
        }
        self.extras_taken = self.extras.len() - extras.len();
        if sound { Ok(()) } else { Err(self.what_is_wrong()) }
    }

    /// Why the events are not sound.
    #[cold]
    fn what_is_wrong(&self) -> Damage {
        let lacks = |(&op, &how): (&u8, &u8)| how & code::HAS_EXTRA == 0 && Op::from_code(op).is_some_and(needs_extra);
        if self.ops.iter().any(|&op| Op::from_code(op).is_none()) {
            NO_OPERATION
        } else if self.ops.iter().zip(&self.codes).any(lacks) {
            Damage("an event lacks a part that its operation needs")
        } else {
            Damage("an event refers to a name that is not there")
        }
    }
}

const NO_OPERATION: Damage = Damage("there is no such operation");

/// What codes say together.
struct Codes {
    /// The bits that occur.
    used: u8,
    /// How many objects are strides.
    strides: usize,
    /// How many sites are stored.
    stored: usize,
}

fn count_codes(codes: &[u8]) -> Codes {
    let mut all = Codes { used: 0, strides: 0, stored: 0 };
    // Sums of so few fit a byte, so that many are added at once.
    for codes in codes.chunks(128) {
        let (mut strides, mut stored) = (0u8, 0u8);
        for &how in codes {
            all.used |= how;
            strides += how & code::OBJECT_BY_STRIDE;
            stored += (how & code::SITE_STORED) / code::SITE_STORED;
        }
        all.strides += usize::from(strides);
        all.stored += usize::from(stored);
    }
    all
}

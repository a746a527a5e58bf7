//! The events frame: one column per part of an event.
//!
//! | column | holds |
//! | --- | --- |
//! | runs | (thread, length) of each stretch of one thread |
//! | operations | one byte an event |
//! | codes | one byte an event: how its object and site were predicted ([`predict::code`]) |
//! | object planes | for unpredicted objects: as many bytes as the largest needs, lowest bytes first, all of one plane together |
//! | site planes | the same for unpredicted sites |
//! | extras | [`extras`](super::extras), for the events that have one |

use super::bytes::{Cursor, put};
use super::column::{ColumnReader, ColumnWriter};
use super::extras::{self, Bounds};
use super::frame::{Damage, MAX_COLUMN, MAX_EVENTS};
use super::predict::{Predictor, code};
use event::{Batch, Event, Names, Op, SiteId, Space, ThreadId};

/// Operations whose meaning lies partly in their extra.
fn needs_extra(op: Op) -> bool {
    extras::has_lock(op) || op == Op::Pin
}

/// Writes events frames.
pub(super) struct EventEncoder {
    pub(super) predictor: Predictor,
    columns: ColumnWriter,
    runs: Vec<u8>,
    ops: Vec<u8>,
    codes: Vec<u8>,
    objects: Vec<u32>,
    sites: Vec<u32>,
    extras: Vec<u8>,
    plane: Vec<u8>,
}

impl EventEncoder {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(EventEncoder {
            predictor: Predictor::new(),
            columns: ColumnWriter::new()?,
            runs: Vec::new(),
            ops: Vec::new(),
            codes: Vec::new(),
            objects: Vec::new(),
            sites: Vec::new(),
            extras: Vec::new(),
            plane: Vec::new(),
        })
    }

    /// Appends the payload for the events of a batch, at most [`MAX_EVENTS`].
    pub(super) fn encode(&mut self, out: &mut Vec<u8>, batch: &Batch, habits: bool) {
        for column in [&mut self.runs, &mut self.ops, &mut self.codes, &mut self.extras] {
            column.clear();
        }
        self.objects.clear();
        self.sites.clear();
        let habits = if habits { Self::runs::<true> } else { Self::runs::<false> };
        habits(self, batch);
        for column in [&self.runs, &self.ops, &self.codes] {
            self.columns.put(out, column);
        }
        put_planes(&mut self.columns, out, &self.objects, &mut self.plane);
        put_planes(&mut self.columns, out, &self.sites, &mut self.plane);
        self.columns.put(out, &self.extras);
    }

    /// Whether the habits of the last frame, which used them, foretold enough to be used again.
    pub(super) fn habits_paid(&self) -> bool {
        let foretold = self.codes.iter().filter(|&&how| how & (code::OBJECT_BY_STRIDE | code::SITE_BY_SITE) != 0);
        foretold.count() > self.codes.len() / 32
    }

    fn runs<const HABITS: bool>(&mut self, batch: &Batch) {
        for run in batch.events.chunk_by(|a, b| a.thread() == b.thread()) {
            let thread = run[0].thread().0;
            put(&mut self.runs, thread.into());
            put(&mut self.runs, run.len() as u64);
            let mut previous = self.predictor.enter(thread);
            for &event in run {
                self.event::<HABITS>(batch, event, previous);
                previous = event.site().0;
            }
            self.predictor.leave(thread, previous);
        }
    }

    #[inline]
    fn event<const HABITS: bool>(&mut self, batch: &Batch, event: Event, previous: u32) {
        let (op, object, site) = (event.op(), event.object(), event.site().0);
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
            how |= code::HAS_EXTRA;
            extras::put_extra(&mut self.extras, op, batch.extra(event), batch.args(event));
        }
        self.predictor.learn::<HABITS>(previous, op as u8, object, site);
        self.ops.push(op as u8);
        self.codes.push(how);
    }
}

/// Appends numbers as planes: their count, how many bytes each has, and a column for each of these bytes.
fn put_planes(columns: &mut ColumnWriter, out: &mut Vec<u8>, numbers: &[u32], plane: &mut Vec<u8>) {
    let widest = numbers.iter().fold(0, |all, &n| all | n);
    let width = (32 - widest.leading_zeros()).div_ceil(8);
    put(out, numbers.len() as u64);
    put(out, width.into());
    for byte in 0..width {
        plane.clear();
        plane.extend(numbers.iter().map(|&n| (n >> (8 * byte)) as u8));
        columns.put(out, plane);
    }
}

/// Reads events frames.
pub(super) struct EventDecoder {
    pub(super) predictor: Predictor,
    columns: ColumnReader,
    runs: Vec<u8>,
    ops: Vec<u8>,
    codes: Vec<u8>,
    objects: Vec<u32>,
    sites: Vec<u32>,
    extras: Vec<u8>,
    plane: Vec<u8>,
}

impl EventDecoder {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(EventDecoder {
            predictor: Predictor::new(),
            columns: ColumnReader::new()?,
            runs: Vec::new(),
            ops: Vec::new(),
            codes: Vec::new(),
            objects: Vec::new(),
            sites: Vec::new(),
            extras: Vec::new(),
            plane: Vec::new(),
        })
    }

    /// Appends the `count` events of a payload to a batch.
    pub(super) fn decode(
        &mut self,
        payload: &[u8],
        count: usize,
        habits: bool,
        names: &Names,
        stacks: usize,
        batch: &mut Batch,
    ) -> Result<(), Damage> {
        if count > MAX_EVENTS {
            return Err(Damage("it says it holds more events than a frame can"));
        }
        let mut from = Cursor::new(payload);
        // A run is at least one event and at most 4 bytes of thread and 3 of length.
        self.columns.get(&mut from, 8 * count, &mut self.runs)?;
        self.columns.get_exact(&mut from, count, &mut self.ops)?;
        self.columns.get_exact(&mut from, count, &mut self.codes)?;
        if self.ops.iter().any(|&op| usize::from(op) >= Op::COUNT) {
            return Err(Damage("there is no such operation"));
        }
        if self.codes.iter().fold(0, |all, &c| all | c) & !code::ALL != 0 {
            return Err(Damage("there is no such prediction"));
        }
        let stored = |codes: &[u8], mask, value| codes.iter().filter(|&&c| c & mask == value).count();
        let objects = stored(&self.codes, code::OBJECT_BY_STRIDE, 0);
        let sites = stored(&self.codes, code::SITE_MASK, code::SITE_STORED);
        get_planes(&mut self.columns, &mut from, objects, &mut self.objects, &mut self.plane)?;
        get_planes(&mut self.columns, &mut from, sites, &mut self.sites, &mut self.plane)?;
        self.columns.get(&mut from, MAX_COLUMN, &mut self.extras)?;
        from.finish()?;
        let bounds = Bounds::new(names, stacks);
        if habits {
            return self.events::<true>(names, bounds, batch);
        }
        if self.codes.iter().any(|&c| c & (code::OBJECT_BY_STRIDE | code::SITE_BY_SITE) != 0) {
            return Err(Damage("a prediction is of a kind that the frame does not use"));
        }
        self.events::<false>(names, bounds, batch)
    }

    fn events<const HABITS: bool>(&mut self, names: &Names, bounds: Bounds, batch: &mut Batch) -> Result<(), Damage> {
        let limits = Limits::new(names);
        let mut runs = Cursor::new(&self.runs);
        let mut extras = Cursor::new(&self.extras);
        let mut objects = self.objects.iter();
        let mut sites = self.sites.iter();
        let (mut ops, mut codes) = (&self.ops[..], &self.codes[..]);
        batch.events.reserve(ops.len());
        while !ops.is_empty() {
            let thread = runs.get_below(limits.threads)?;
            let len = runs.get_below(ops.len() + 1)? as usize;
            if len == 0 {
                return Err(Damage("a run of events is empty"));
            }
            let (run_ops, run_codes);
            (run_ops, ops) = ops.split_at(len);
            (run_codes, codes) = codes.split_at(len);
            let mut previous = self.predictor.enter(thread);
            let mut sound = true;
            for (&op, &how) in run_ops.iter().zip(run_codes) {
                let object = if !HABITS || how & code::OBJECT_BY_STRIDE == 0 {
                    // As many were stored as there are such codes.
                    objects.next().copied().unwrap_or(0)
                } else {
                    self.predictor.next_object(self.predictor.next_site(previous))
                };
                let site = match how & code::SITE_MASK {
                    code::SITE_BY_OBJECT => self.predictor.site_of(op, object),
                    code::SITE_BY_SITE if HABITS => self.predictor.next_site(previous),
                    _ => sites.next().copied().unwrap_or(0),
                };
                sound &= object < limits.objects[usize::from(op) & 63] && (site as usize) < limits.sites;
                self.predictor.learn::<HABITS>(previous, op, object, site);
                previous = site;
                let op = Op::from_code(op).unwrap_or(Op::Read);
                let extra = if how & code::HAS_EXTRA != 0 {
                    extras::get_extra(&mut extras, op, bounds, batch)?
                } else {
                    sound &= !needs_extra(op);
                    0
                };
                batch.events.push(Event::with_extra(ThreadId(thread), op, object, SiteId(site), extra));
            }
            if !sound {
                return Err(Damage("an event refers to a name that is not there, or lacks a part"));
            }
            self.predictor.leave(thread, previous);
        }
        runs.finish()?;
        extras.finish()
    }
}

/// What ids must stay below.
pub(super) struct Limits {
    pub(super) threads: usize,
    pub(super) sites: usize,
    /// By operation.
    pub(super) objects: [u32; 64],
}

impl Limits {
    pub(super) fn new(names: &Names) -> Self {
        let mut objects = [0; 64];
        for &op in Op::ALL {
            // An operation without an object has object 0.
            let count = op.space().map_or(1, |space| names.space(space).len());
            objects[op as usize] = u32::try_from(count).unwrap_or(u32::MAX);
        }
        Limits { threads: names.space(Space::Thread).len(), sites: names.space(Space::Site).len(), objects }
    }
}

fn get_planes(
    columns: &mut ColumnReader,
    from: &mut Cursor<'_>,
    count: usize,
    numbers: &mut Vec<u32>,
    plane: &mut Vec<u8>,
) -> Result<(), Damage> {
    if from.get()? != count as u64 {
        return Err(Damage("the predictions do not add up"));
    }
    let width = from.get_below(5)?;
    numbers.clear();
    numbers.resize(count, 0);
    for byte in 0..width {
        columns.get_exact(from, count, plane)?;
        for (number, &part) in numbers.iter_mut().zip(plane.iter()) {
            *number |= u32::from(part) << (8 * byte);
        }
    }
    Ok(())
}

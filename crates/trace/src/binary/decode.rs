//! Reads [events frames](super::events): first what was predicted, then the events themselves.

use super::bytes::Cursor;
use super::column::ColumnReader;
use super::events::{Limits, needs_extra};
use super::extras::{self, Bounds};
use super::frame::{Damage, MAX_COLUMN, MAX_EVENTS};
use super::predict::{Predictor, code};
use event::{Batch, Event, Names, Op, SiteId, ThreadId};

/// Reads events frames.
pub(super) struct EventDecoder {
    pub(super) predictor: Predictor,
    columns: ColumnReader,
    runs: Vec<u8>,
    ops: Vec<u8>,
    codes: Vec<u8>,
    extras: Vec<u8>,
    /// Objects and sites that were stored because they were not predicted.
    stored_objects: Vec<u32>,
    stored_sites: Vec<u32>,
    /// The object and the site of every event.
    objects: Vec<u32>,
    sites: Vec<u32>,
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
            extras: Vec::new(),
            stored_objects: Vec::new(),
            stored_sites: Vec::new(),
            objects: Vec::new(),
            sites: Vec::new(),
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
        self.columns(payload, count)?;
        let limits = Limits::new(names);
        if habits {
            self.predict_by_habits(&limits)?;
        } else {
            self.predict()?;
        }
        self.check(&limits)?;
        self.assemble(&limits, Bounds::new(names, stacks), batch)
    }

    fn columns(&mut self, payload: &[u8], count: usize) -> Result<(), Damage> {
        if count > MAX_EVENTS {
            return Err(Damage("it says it holds more events than a frame can"));
        }
        let mut from = Cursor::new(payload);
        // A run is at least one event and at most 4 bytes of thread and 3 of length.
        self.columns.get(&mut from, 8 * count, &mut self.runs)?;
        self.columns.get_exact(&mut from, count, &mut self.ops)?;
        self.columns.get_exact(&mut from, count, &mut self.codes)?;
        if self.codes.iter().fold(0, |all, &c| all | c) & !code::ALL != 0 {
            return Err(Damage("there is no such prediction"));
        }
        let stored = |mask, value| self.codes.iter().filter(|&&c| c & mask == value).count();
        let objects = stored(code::OBJECT_BY_STRIDE, 0);
        let sites = stored(code::SITE_MASK, code::SITE_STORED);
        get_planes(&mut self.columns, &mut from, objects, &mut self.stored_objects, &mut self.plane)?;
        get_planes(&mut self.columns, &mut from, sites, &mut self.stored_sites, &mut self.plane)?;
        self.columns.get(&mut from, MAX_COLUMN, &mut self.extras)?;
        from.finish()
    }

    /// Without habits every object is stored, and sites depend on nothing but operations and objects: a loop so
    /// short that many look-ups are under way at once.
    fn predict(&mut self) -> Result<(), Damage> {
        if self.codes.iter().any(|&c| c & (code::OBJECT_BY_STRIDE | code::SITE_BY_SITE) != 0) {
            return Err(Damage("a prediction is of a kind that the frame does not use"));
        }
        std::mem::swap(&mut self.objects, &mut self.stored_objects);
        let mut stored = self.stored_sites.iter();
        self.sites.clear();
        let events = self.ops.iter().zip(&self.codes).zip(&self.objects);
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
        Ok(())
    }

    fn predict_by_habits(&mut self, limits: &Limits) -> Result<(), Damage> {
        let (mut ops, mut codes) = (&self.ops[..], &self.codes[..]);
        let (mut stored_objects, mut stored_sites) = (self.stored_objects.iter(), self.stored_sites.iter());
        self.objects.clear();
        self.sites.clear();
        let mut runs = Cursor::new(&self.runs);
        while !ops.is_empty() {
            let (thread, len) = next_run(&mut runs, limits, ops.len())?;
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
                self.predictor.learn_site(op, object, site);
                self.predictor.learn_habit(previous, object, site);
                previous = site;
                self.objects.push(object);
                self.sites.push(site);
            }
            self.predictor.leave(thread, previous);
        }
        Ok(())
    }

    /// Every operation is one, and every id is that of a name.
    fn check(&self, limits: &Limits) -> Result<(), Damage> {
        if self.ops.iter().any(|&op| usize::from(op) >= Op::COUNT) {
            return Err(Damage("there is no such operation"));
        }
        let mut sound = self.sites.iter().fold(0, |max, &site| max.max(site)) < limits.sites || self.sites.is_empty();
        for (&op, &object) in self.ops.iter().zip(&self.objects) {
            sound &= object < limits.objects[usize::from(op) & 63];
        }
        if sound { Ok(()) } else { Err(Damage("an event refers to a name that is not there")) }
    }

    fn assemble(&mut self, limits: &Limits, bounds: Bounds, batch: &mut Batch) -> Result<(), Damage> {
        let count = self.ops.len();
        let mut runs = Cursor::new(&self.runs);
        let mut extras = Cursor::new(&self.extras);
        batch.events.reserve(count);
        let mut from = 0;
        while from < count {
            let (thread, len) = next_run(&mut runs, limits, count - from)?;
            let run = from..from + len;
            from += len;
            let parts = self.ops[run.clone()].iter().zip(&self.objects[run.clone()]).zip(&self.sites[run.clone()]);
            let bare = parts.map(|((&op, &object), &site)| {
                Event::new(ThreadId(thread), Op::from_code(op).unwrap_or(Op::Read), object, SiteId(site))
            });
            if self.extras.is_empty() {
                batch.events.extend(bare);
                continue;
            }
            for (event, &how) in bare.zip(&self.codes[run]) {
                let extra = match how & code::HAS_EXTRA {
                    0 => 0,
                    _ => extras::get_extra(&mut extras, event.op(), bounds, batch)?,
                };
                batch.events.push(Event::with_extra(event.thread(), event.op(), event.object(), event.site(), extra));
            }
        }
        let lacks = |(&op, &how): (&u8, &u8)| how & code::HAS_EXTRA == 0 && Op::from_code(op).is_some_and(needs_extra);
        if self.ops.iter().zip(&self.codes).any(lacks) {
            return Err(Damage("an event lacks a part that its operation needs"));
        }
        runs.finish()?;
        extras.finish()
    }
}

/// The next stretch of one thread: the thread, and how many events.
fn next_run(runs: &mut Cursor<'_>, limits: &Limits, left: usize) -> Result<(u32, usize), Damage> {
    let thread = runs.get_below(limits.threads)?;
    match runs.get_below(left + 1)? as usize {
        0 => Err(Damage("a run of events is empty")),
        len => Ok((thread, len)),
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

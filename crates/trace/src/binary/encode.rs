//! Writes [events frames](super::events).

use super::bytes::put;
use super::column::ColumnWriter;
use super::events::needs_extra;
use super::extras;
use super::planes::put_planes;
use super::predict::{Predictor, code};
use event::{Batch, Event};

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
        self.predictor.learn_site(op as u8, object, site);
        if HABITS {
            self.predictor.learn_habit(previous, object, site);
        }
        self.ops.push(op as u8);
        self.codes.push(how);
    }
}

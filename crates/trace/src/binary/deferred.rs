//! Deferred events: written after their position in their thread, and put back there when read.
//!
//! A recorder that filters accesses may learn only later that one mattered (another thread came to the same memory). It
//! then writes the event as a *deferred* one, with how many on-time (not deferred) events its thread had made before
//! it. The reader puts it right behind the last of these; with none before it, right behind the fork of its thread, or
//! else before the thread's first event. Deferred events with equal positions stand in the order of their sequence
//! numbers, then as written.
//!
//! The recorder cannot know how events will be numbered. A deferred drop barrier without a number names itself: it
//! stands where the access was that the recorder dropped.

use super::bytes::{Cursor, put};
use super::events::Limits;
use super::extras::{self, Bounds};
use super::frame::Damage;
use event::{Batch, Event, Extra, Item, Names, Op, SiteId, ThreadId, Value};

/// Where a deferred event belongs. The thread is the event's own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DeferredPosition {
    /// How many on-time events of its thread come before it.
    pub after: u64,
    /// Its order among deferred events with an equal `after`.
    pub sequence: u32,
}

/// Frames of deferred events: records of (thread, after, sequence, operation, object, site, extra).
pub(super) fn put_deferred(out: &mut Vec<u8>, batch: &Batch, events: &[Event], records: &[DeferredPosition]) -> u32 {
    for (&event, record) in events.iter().zip(records) {
        put(out, event.thread().0.into());
        put(out, record.after);
        put(out, record.sequence.into());
        out.push(event.op() as u8);
        put(out, event.object().into());
        put(out, event.site().0.into());
        extras::put_extra(out, event.op(), batch.extra(event), batch.args(event));
    }
    events.len() as u32
}

/// Reads the records of a deferred frame, appending to both.
pub(super) fn get_deferred(
    mut from: Cursor<'_>,
    names: &Names,
    stacks: usize,
    batch: &mut Batch,
    records: &mut Vec<DeferredPosition>,
) -> Result<(), Damage> {
    let limits = Limits::new(names);
    let bounds = Bounds::new(names, stacks);
    while !from.is_empty() {
        let thread = ThreadId(from.get_below(limits.threads)?);
        records.push(DeferredPosition { after: from.get()?, sequence: from.get_u32()? });
        let op = Op::from_code(from.byte()?).ok_or(Damage("there is no such operation"))?;
        let object = from.get_below(limits.objects[op as usize] as usize)?;
        let site = SiteId(from.get_below(limits.sites as usize)?);
        let extra = extras::get_deferred_extra(&mut from, op, bounds, batch, None)?;
        batch.events.push(Event::with_extra(thread, op, object, site, extra));
    }
    Ok(())
}

/// The deferred events of a file, and where they belong.
#[derive(Default)]
pub(super) struct Deferred {
    pub(super) batch: Batch,
    /// By thread: its events, in the order of [`key`].
    keys: Vec<Vec<u128>>,
    /// How many events have a key.
    known: usize,
}

/// What orders deferred events of a thread: the position, then the index, as written among equals. One number is sorted
/// faster than three.
fn key(position: DeferredPosition, index: u32) -> u128 {
    u128::from(position.after) << 64 | u128::from(position.sequence) << 32 | u128::from(index)
}

/// After how many events of its thread the event with this key belongs.
fn after(key: Option<&u128>) -> u64 {
    key.map_or(u64::MAX, |key| (key >> 64) as u64)
}

impl Deferred {
    /// Takes the positions of the last events of the batch, which leaves none of them.
    pub(super) fn place(&mut self, positions: &mut Vec<DeferredPosition>) {
        for (position, event) in positions.drain(..).zip(&self.batch.events[self.known..]) {
            let thread = event.thread().0 as usize;
            if self.keys.len() <= thread {
                self.keys.resize_with(thread + 1, Vec::new);
            }
            self.keys[thread].push(key(position, self.known as u32));
            self.known += 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known == 0
    }
}

/// Puts deferred events back to their places in a stream of on-time batches.
pub(super) struct Restorer {
    /// All deferred events of the file.
    deferred: Batch,
    /// By thread: the keys of its deferred events, and how many of these were placed.
    pending: Vec<(Vec<u128>, usize)>,
    /// By thread: on-time events so far.
    seen: Vec<u64>,
    /// By thread: after so many of them the next deferred event belongs.
    due: Vec<u64>,
    unplaced: usize,
    on_time: Batch,
    /// Where extras of the on-time batch are in the restored one.
    copied: Vec<u32>,
    /// By extra of the deferred events, if these are few: the batch in which it was last, and where.
    shared: Vec<(u32, u32)>,
    batches: u32,
}

/// Extras of deferred events that are remembered.
const SHARED: usize = 1 << 18;

impl Restorer {
    pub(super) fn new(deferred: Deferred) -> Restorer {
        let Deferred { batch: deferred, mut keys, known: unplaced } = deferred;
        keys.iter_mut().for_each(|keys| keys.sort_unstable());
        let pending: Vec<_> = keys.into_iter().map(|keys| (keys, 0)).collect();
        let seen = vec![0; pending.len()];
        let due = pending.iter().map(|(keys, _)| after(keys.first())).collect();
        let shared = if deferred.extras.len() <= SHARED { vec![(0, 0); deferred.extras.len()] } else { Vec::new() };
        Restorer {
            unplaced,
            deferred,
            pending,
            seen,
            due,
            on_time: Batch::default(),
            copied: Vec::new(),
            shared,
            batches: 0,
        }
    }

    /// Inserts what belongs among the events of an on-time batch.
    pub(super) fn restore(&mut self, batch: &mut Batch) {
        if self.unplaced == 0 {
            return;
        }
        let mut on_time = std::mem::take(&mut self.on_time);
        std::mem::swap(batch, &mut on_time);
        batch.clear(on_time.first);
        self.copied.clear();
        self.batches = self.batches.wrapping_add(1);
        for item in on_time.items() {
            match item {
                Item::Init(init) => batch.push_init(init.name, init.value),
                Item::Event(_, event) => {
                    let thread = event.thread();
                    self.place_due(thread, batch);
                    batch.push_sharing(&on_time, event, &mut self.copied);
                    if let Some(seen) = self.seen.get_mut(thread.0 as usize) {
                        *seen += 1;
                    }
                    self.place_due(thread, batch);
                    if event.op() == Op::Fork {
                        self.place_due(event.child(), batch);
                    }
                }
            }
        }
        self.on_time = on_time;
    }

    /// Appends the deferred events of a thread that are due: mostly none.
    #[inline]
    fn place_due(&mut self, thread: ThreadId, batch: &mut Batch) {
        let number = thread.0 as usize;
        if let (Some(due), Some(seen)) = (self.due.get(number), self.seen.get(number))
            && due <= seen
        {
            self.place(thread, batch);
        }
    }

    #[inline(never)]
    fn place(&mut self, thread: ThreadId, batch: &mut Batch) {
        let Some((keys, placed)) = self.pending.get_mut(thread.0 as usize) else { return };
        let seen = self.seen[thread.0 as usize];
        while let Some(&key) = keys.get(*placed)
            && (key >> 64) as u64 <= seen
        {
            self.unplaced -= 1;
            let event = self.deferred.events[key as u32 as usize];
            let extra = self.deferred.extra(event);
            if extras::leaves_position(event.op(), extra) {
                let value = Value::Int(i64::try_from(seen + *placed as u64).unwrap_or(i64::MAX));
                let extra = batch.add_extra(Extra { value, ..*extra });
                batch.events.push(Event::with_extra(thread, event.op(), event.object(), event.site(), extra));
            } else {
                match self.shared.get_mut(event.extra() as usize) {
                    Some(&mut (known, extra)) if known == self.batches => {
                        let (op, site) = (event.op(), event.site());
                        batch.events.push(Event::with_extra(thread, op, event.object(), site, extra));
                    }
                    shared => {
                        batch.push_from(&self.deferred, event);
                        if let (Some(shared), Some(last)) = (shared, batch.events.last()) {
                            *shared = (self.batches, last.extra());
                        }
                    }
                }
            }
            *placed += 1;
        }
        self.due[thread.0 as usize] = after(keys.get(*placed));
    }

    /// At the end of the file: how many deferred events had no place, because their thread made fewer events than they
    /// say.
    pub(super) fn unplaced(&self) -> usize {
        self.unplaced
    }
}

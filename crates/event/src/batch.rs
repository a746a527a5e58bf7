//! Consecutive events with their extras: a chunk of a stream, or a whole run in memory.

use crate::{Event, Extra, LockId, StrId, Value};

/// An initial value (of a variable) or count (of a semaphore), given by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Init {
    /// It stands before the event with this index in its batch.
    pub before: u32,
    /// The name, as text: which variable or semaphore it means is known when one is used.
    pub name: StrId,
    /// The value.
    pub value: Value,
}

/// Consecutive events of a run, in recorded order.
///
/// Slot 0 of the extras is the one that says nothing, so that every event's extra can be looked up alike.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The index in the run of the first event.
    pub first: u64,
    /// The events.
    pub events: Vec<Event>,
    /// Their extras, by [`Event::extra`].
    pub extras: Vec<Extra>,
    /// The arguments of internal events, by [`Extra::args_start`].
    pub args: Vec<Value>,
    /// Initial values given among these events, in order.
    pub inits: Vec<Init>,
}

impl Default for Batch {
    fn default() -> Self {
        Batch { first: 0, events: Vec::new(), extras: vec![Extra::default()], args: Vec::new(), inits: Vec::new() }
    }
}

/// What a batch consists of, in order.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// An initial value.
    Init(&'a Init),
    /// An event and its index in the batch.
    Event(usize, Event),
}

impl Batch {
    /// The events with the initial values between them.
    #[inline]
    pub fn items(&self) -> impl Iterator<Item = Item<'_>> {
        let mut inits = self.inits.iter().peekable();
        let mut events = self.events.iter().enumerate().peekable();
        std::iter::from_fn(move || {
            let index = events.peek().map_or(usize::MAX, |next| next.0);
            if let Some(init) = inits.next_if(|init| init.before as usize <= index) {
                return Some(Item::Init(init));
            }
            events.next().map(|(index, &event)| Item::Event(index, event))
        })
    }

    /// Adds an initial value, behind the events so far.
    pub fn push_init(&mut self, name: StrId, value: Value) {
        let before = u32::try_from(self.events.len()).expect("fewer than 2^32 events in a batch");
        self.inits.push(Init { before, name, value });
    }

    /// Forgets everything but the memory; the next event will be number `first` of the run.
    pub fn clear(&mut self, first: u64) {
        self.first = first;
        self.events.clear();
        self.extras.truncate(1);
        self.args.clear();
        self.inits.clear();
    }

    /// Nothing in it, not even an initial value.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.inits.is_empty()
    }

    /// The extra of one of this batch's events.
    #[inline]
    pub fn extra(&self, event: Event) -> &Extra {
        &self.extras[event.extra() as usize]
    }

    /// The lock whose critical section one of this batch's events opens or closes, if it does: its object, or the lock
    /// beside the condition of a `wait` or `woken`.
    #[inline]
    pub fn section_lock(&self, event: Event) -> Option<LockId> {
        let op = event.op();
        match op.opens_section() || op.closes_section() {
            true if op.has_lock_argument() => Some(self.extra(event).lock),
            true => Some(event.lock()),
            false => None,
        }
    }

    /// The arguments of one of this batch's internal events.
    #[inline]
    pub fn args(&self, event: Event) -> &[Value] {
        let extra = self.extra(event);
        let start = extra.args_start as usize;
        &self.args[start..start + usize::from(extra.args_len)]
    }

    /// Adds an extra and gives its index, 0 for the one that says nothing.
    #[inline]
    pub fn add_extra(&mut self, extra: Extra) -> u32 {
        if extra == Extra::default() {
            return 0;
        }
        self.extras.push(extra);
        u32::try_from(self.extras.len() - 1).expect("fewer than 2^32 extras in a batch")
    }

    /// Adds an event that stands in another batch, with its extra and arguments.
    pub fn push_from(&mut self, other: &Batch, event: Event) {
        if event.extra() == 0 {
            self.events.push(event);
            return;
        }
        let mut extra = *other.extra(event);
        if extra.args_len > 0 {
            extra.args_start = u32::try_from(self.args.len()).expect("fewer than 2^32 arguments in a batch");
            self.args.extend_from_slice(other.args(event));
        }
        let extra = self.add_extra(extra);
        self.events.push(Event::with_extra(event.thread(), event.op(), event.object(), event.site(), extra));
    }

    /// Adds an event of another batch; events that share an extra there share it here. `copied` remembers where extras
    /// of the other batch are in this one: it is empty at first, and serves these two until one of them is cleared.
    #[inline]
    pub fn push_sharing(&mut self, other: &Batch, event: Event, copied: &mut Vec<u32>) {
        let from = event.extra() as usize;
        if copied.len() <= from {
            copied.resize(other.extras.len(), 0);
        }
        if from == 0 {
            self.events.push(event);
        } else if copied[from] != 0 {
            self.events.push(Event::with_extra(event.thread(), event.op(), event.object(), event.site(), copied[from]));
        } else {
            self.push_from(other, event);
            copied[from] = self.events.last().map_or(0, |copy| copy.extra());
        }
    }

    /// Adds all of another batch that follows this one.
    pub fn append(&mut self, other: &Batch) {
        let base = self.events.len() as u32;
        self.inits.extend(other.inits.iter().map(|i| Init { before: base + i.before, ..*i }));
        self.events.reserve(other.events.len());
        let mut copied = Vec::new();
        for &event in &other.events {
            self.push_sharing(other, event, &mut copied);
        }
    }
}

//! Locks, conditions, semaphores and the rest: which one an address means now.

use event::Space;
use runtime::record::Class;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What the number of an object is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Number {
    /// An address.
    Memory(u64),
    /// A file descriptor.
    Descriptor(u64),
    /// A signal.
    Signal(u64),
    /// There is only one.
    AtExit,
}

impl Number {
    pub(crate) fn new(class: u8, object: u64) -> Number {
        match class {
            class if class == Class::Descriptor as u8 => Number::Descriptor(object),
            class if class == Class::Signal as u8 => Number::Signal(object),
            class if class == Class::AtExit as u8 => Number::AtExit,
            _ => Number::Memory(object),
        }
    }
}

/// The synchronisation objects of a process.
#[derive(Default)]
pub(crate) struct Objects {
    /// Those at addresses, so that freed memory takes them along.
    memory: BTreeMap<(u64, Space), u32>,
    others: FxHashMap<(Number, Space), u32>,
}

impl Objects {
    pub(crate) fn get(&self, number: Number, space: Space) -> Option<u32> {
        match number {
            Number::Memory(address) => self.memory.get(&(address, space)).copied(),
            other => self.others.get(&(other, space)).copied(),
        }
    }

    pub(crate) fn insert(&mut self, number: Number, space: Space, id: u32) {
        match number {
            Number::Memory(address) => self.memory.insert((address, space), id),
            other => self.others.insert((other, space), id),
        };
    }

    /// The object is no more: what comes there later is another one.
    pub(crate) fn end(&mut self, number: Number) {
        match number {
            Number::Memory(address) => self.end_range(address, 1),
            other => self.others.retain(|key, _| key.0 != other),
        }
    }

    /// The same for all in a range of addresses.
    pub(crate) fn end_range(&mut self, start: u64, size: u64) {
        let end = start.saturating_add(size);
        while let Some((&key, _)) = self.memory.range((start, Space::Thread)..(end, Space::Thread)).next() {
            self.memory.remove(&key);
        }
    }
}

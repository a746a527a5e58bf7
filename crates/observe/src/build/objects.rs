//! Synchronisation objects: which lock, condition or semaphore an address means now.

use event::Space;
use runtime::record::Class;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The number of an object, by its kind.
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

/// Objects remembered in front of the maps.
const CACHE_SIZE: usize = 1 << 9;

/// An object that was looked up.
#[derive(Clone, Copy)]
struct Cached {
    key: u64,
    id: u32,
}

/// The key of no object.
const NONE: Cached = Cached { key: u64::MAX, id: 0 };

/// The kind of the numbers of a class, by its code: 0 for addresses.
const SORTS: [u8; 256] = {
    let mut sorts = [0; 256];
    sorts[Class::Descriptor as usize] = DESCRIPTOR;
    sorts[Class::Signal as usize] = SIGNAL;
    sorts[Class::AtExit as usize] = AT_EXIT;
    sorts
};
const DESCRIPTOR: u8 = 1;
const SIGNAL: u8 = 2;
const AT_EXIT: u8 = 3;

/// The object that a record means, in one word: numbers have 48 bits.
#[inline]
fn key(sort: u8, object: u64, space: u8) -> u64 {
    object ^ u64::from(sort) << 48 ^ u64::from(space) << 56
}

/// The synchronisation objects of a process.
#[derive(Default)]
pub(crate) struct Objects {
    /// Those at addresses, so that freed memory takes them along.
    memory: BTreeMap<(u64, Space), u32>,
    others: FxHashMap<(Number, Space), u32>,
    /// By [`slot`].
    cache: ObjectCache,
}

struct ObjectCache(Box<[Cached; CACHE_SIZE]>);

impl Default for ObjectCache {
    fn default() -> Self {
        ObjectCache(Box::new([NONE; CACHE_SIZE]))
    }
}

/// Where an object is remembered. Objects lie in memory at distances of 8, 40, 64 bytes.
#[inline]
fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 55) as usize % CACHE_SIZE
}

impl Objects {
    /// The object that a record means, if it was looked up not long ago.
    #[inline]
    pub(crate) fn cached(&self, class: u8, object: u64, space: Space) -> Option<u32> {
        self.near_in(class, object, space as u8)
    }

    /// The object that a record means, if it was looked up not long ago; the space is given by its number.
    #[inline]
    pub(crate) fn near_in(&self, class: u8, object: u64, space: u8) -> Option<u32> {
        let key = key(SORTS[usize::from(class)], object, space);
        let cached = &self.cache.0[slot(key)];
        (cached.key == key).then_some(cached.id)
    }

    pub(crate) fn get(&mut self, class: u8, object: u64, space: Space) -> Option<u32> {
        let number = Number::new(class, object);
        let id = match number {
            Number::Memory(address) => self.memory.get(&(address, space)).copied(),
            other => self.others.get(&(other, space)).copied(),
        }?;
        let key = key(SORTS[usize::from(class)], object, space as u8);
        self.cache.0[slot(key)] = Cached { key, id };
        Some(id)
    }

    pub(crate) fn insert(&mut self, number: Number, space: Space, id: u32) {
        match number {
            Number::Memory(address) => self.memory.insert((address, space), id),
            other => self.others.insert((other, space), id),
        };
        self.forget(number, space);
    }

    fn forget(&mut self, number: Number, space: Space) {
        let key = match number {
            Number::Memory(address) => key(0, address, space as u8),
            Number::Descriptor(number) => key(DESCRIPTOR, number, space as u8),
            Number::Signal(number) => key(SIGNAL, number, space as u8),
            // There is only one, whatever number a record gives it.
            Number::AtExit => return self.cache.0.fill(NONE),
        };
        self.cache.0[slot(key)] = NONE;
    }

    /// Ends the lifetime of an object: what comes there later is another one.
    pub(crate) fn end(&mut self, number: Number) {
        match number {
            Number::Memory(address) => self.end_range(address, 1),
            other => {
                self.others.retain(|key, _| key.0 != other);
                Space::ALL.iter().for_each(|&space| self.forget(other, space));
            }
        }
    }

    /// Ends the lifetimes of all objects in a range of addresses.
    pub(crate) fn end_range(&mut self, start: u64, size: u64) {
        let end = start.saturating_add(size);
        while let Some((&(address, space), _)) = self.memory.range((start, Space::Thread)..(end, Space::Thread)).next()
        {
            self.memory.remove(&(address, space));
            self.forget(Number::Memory(address), space);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is cached is what the maps say, whatever began and ended.
    #[test]
    fn what_is_remembered_is_true() {
        let mut seed = 5u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let mut objects = Objects::default();
        let (mut next, mut hits) = (0, 0);
        for _ in 0..20_000 {
            let class = [Class::Mutex, Class::Descriptor, Class::Signal][random(3) as usize] as u8;
            let (object, space) = (random(2_000), [Space::Lock, Space::Latch][random(2) as usize]);
            let number = Number::new(class, object);
            match random(10) {
                0 => objects.end(number),
                1 => objects.end_range(object, 8),
                _ => {
                    let remembered = objects.cached(class, object, space);
                    hits += u32::from(remembered.is_some());
                    let known = objects.get(class, object, space);
                    assert!(remembered.is_none() || remembered == known);
                    if known.is_none() {
                        next += 1;
                        objects.insert(number, space, next);
                    }
                }
            }
        }
        assert!(hits > 100);
    }
}

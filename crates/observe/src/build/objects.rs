//! Synchronisation objects: which lock, condition or semaphore an address means now, and which lifetime it has.

use super::lives::{Life, Use};
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
    /// There is only one.
    Loader,
}

impl Number {
    pub(crate) fn new(class: u8, object: u64) -> Number {
        match class {
            class if class == Class::Descriptor as u8 => Number::Descriptor(object),
            class if class == Class::Signal as u8 => Number::Signal(object),
            class if class == Class::AtExit as u8 => Number::AtExit,
            class if class == Class::Loader as u8 => Number::Loader,
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
    known: Known,
}

/// The key of no object.
const NONE: Cached = Cached { key: u64::MAX, known: Known { id: 0, life: NO_LIFE } };

/// What is known of an object: its id, and where its lifetime is in `lives`, or [`NO_LIFE`].
#[derive(Clone, Copy)]
struct Known {
    id: u32,
    life: u32,
}

/// The object has no lifetime that its uses could miss: a file descriptor, the flag of `pthread_once`.
const NO_LIFE: u32 = u32::MAX;

/// The kind of the numbers of a class, by its code: 0 for addresses.
const SORTS: [u8; 256] = {
    let mut sorts = [0; 256];
    sorts[Class::Descriptor as usize] = DESCRIPTOR;
    sorts[Class::Signal as usize] = SIGNAL;
    sorts[Class::AtExit as usize] = AT_EXIT;
    sorts[Class::Loader as usize] = LOADER;
    sorts[Class::Barrier as usize] = UNREMEMBERED;
    sorts[Class::BarrierState as usize] = UNREMEMBERED;
    sorts
};
const DESCRIPTOR: u8 = 1;
const SIGNAL: u8 = 2;
const AT_EXIT: u8 = 3;
const LOADER: u8 = 4;
/// An address; but what a record means depends on more.
const UNREMEMBERED: u8 = 5;

/// The object that a record means, in one word: numbers have 48 bits.
#[inline]
fn key(sort: u8, object: u64, space: u8) -> u64 {
    object ^ u64::from(sort) << 48 ^ u64::from(space) << 56
}

/// The synchronisation objects of a process.
#[derive(Default)]
pub(crate) struct Objects {
    /// Those at addresses, so that freed memory takes them along.
    memory: BTreeMap<(u64, Space), Known>,
    others: FxHashMap<(Number, Space), u32>,
    lives: Vec<Life>,
    /// Lifetimes that are over and were taken.
    unused: Vec<u32>,
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
    /// The object that a record means, if it was looked up not long ago. `used` is its use: of an object with a
    /// lifetime it must not be the first of its slot.
    #[inline]
    pub(crate) fn cached(&mut self, class: u8, object: u64, space: u8, used: Option<Use>) -> Option<u32> {
        let key = key(SORTS[usize::from(class)], object, space);
        let cached = &self.cache.0[slot(key)];
        if cached.key != key {
            return None;
        }
        let Known { id, life } = cached.known;
        if let Some(used) = used
            && let Some(life) = self.lives.get_mut(life as usize)
            && !life.used_again(used)
        {
            return None;
        }
        Some(id)
    }

    pub(crate) fn get(&mut self, class: u8, object: u64, space: Space) -> Option<u32> {
        let number = Number::new(class, object);
        let known = match number {
            Number::Memory(address) => self.memory.get(&(address, space)).copied(),
            other => self.others.get(&(other, space)).map(|&id| Known { id, life: NO_LIFE }),
        }?;
        let sort = SORTS[usize::from(class)];
        if sort != UNREMEMBERED {
            let key = key(sort, object, space as u8);
            self.cache.0[slot(key)] = Cached { key, known };
        }
        Some(known.id)
    }

    /// Adds an object, and its lifetime, if it has one.
    pub(crate) fn insert(&mut self, number: Number, space: Space, id: u32, life: Option<Life>) {
        match number {
            Number::Memory(address) => {
                let life = life.map_or(NO_LIFE, |life| match self.unused.pop() {
                    Some(index) => {
                        self.lives[index as usize] = life;
                        index
                    }
                    None => {
                        self.lives.push(life);
                        self.lives.len() as u32 - 1
                    }
                });
                self.memory.insert((address, space), Known { id, life });
            }
            other => {
                self.others.insert((other, space), id);
            }
        }
        self.forget(number, space);
    }

    /// The lifetime of the object at an address.
    pub(crate) fn life(&mut self, address: u64, space: Space) -> Option<&mut Life> {
        let known = self.memory.get(&(address, space))?;
        self.lives.get_mut(known.life as usize)
    }

    fn forget(&mut self, number: Number, space: Space) {
        let key = match number {
            Number::Memory(address) => key(0, address, space as u8),
            Number::Descriptor(number) => key(DESCRIPTOR, number, space as u8),
            Number::Signal(number) => key(SIGNAL, number, space as u8),
            // There is only one, whatever number a record gives it.
            Number::AtExit | Number::Loader => return self.cache.0.fill(NONE),
        };
        self.cache.0[slot(key)] = NONE;
    }

    /// Ends the lifetime of an object: what comes there later is another one. Calls `with` for each that has one.
    pub(crate) fn end(&mut self, number: Number, with: impl FnMut(u64, Space, Life)) {
        match number {
            Number::Memory(address) => self.end_range(address, 1, with),
            other => {
                self.others.retain(|key, _| key.0 != other);
                Space::ALL.iter().for_each(|&space| self.forget(other, space));
            }
        }
    }

    /// Ends the lifetimes of all objects in a range of addresses, likewise.
    pub(crate) fn end_range(&mut self, start: u64, size: u64, mut with: impl FnMut(u64, Space, Life)) {
        let end = start.saturating_add(size);
        while let Some((&(address, space), &known)) =
            self.memory.range((start, Space::Thread)..(end, Space::Thread)).next()
        {
            self.memory.remove(&(address, space));
            self.forget(Number::Memory(address), space);
            if let Some(life) = self.lives.get_mut(known.life as usize) {
                with(address, space, std::mem::take(life));
                self.unused.push(known.life);
            }
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
                0 => objects.end(number, |_, _, _| ()),
                1 => objects.end_range(object, 8, |_, _, _| ()),
                _ => {
                    let remembered = objects.cached(class, object, space as u8, None);
                    hits += u32::from(remembered.is_some());
                    let known = objects.get(class, object, space);
                    assert!(remembered.is_none() || remembered == known);
                    if known.is_none() {
                        next += 1;
                        objects.insert(number, space, next, None);
                    }
                }
            }
        }
        assert!(hits > 100);
    }
}

//! Short names as numbers: up to 16 bytes in two words, and a cache from these to the names' ids.
//!
//! The interner touches a slot, an end and a text for each name; the cache touches one entry, which holds the name.

/// A name of at most 16 bytes, none of them 0.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Key {
    low: u64,
    high: u64,
    len: usize,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The index of the first byte of this value, 8 if there is none.
#[inline]
fn position(word: u64, byte: u8) -> usize {
    let zeros = word ^ (ONES * u64::from(byte));
    let found = zeros.wrapping_sub(ONES) & !zeros & HIGHS;
    (found.trailing_zeros() / 8) as usize
}

/// The first `len` bytes of a word, which are fewer than 8.
#[inline]
fn first(word: u64, len: usize) -> u64 {
    word & ((1 << (8 * len)) - 1)
}

impl Key {
    /// The bytes from an index to the next `end`. `None` if they are more than 15, or too near the end of the text to
    /// be loaded as words.
    #[inline(always)]
    pub(super) fn until(text: &[u8], at: usize, end: u8) -> Option<Key> {
        let bytes: &[u8; 16] = text.get(at..)?.first_chunk()?;
        let (low, high) = bytes.split_at(8);
        let low = u64::from_le_bytes(low.try_into().ok()?);
        let len = position(low, end);
        if len < 8 {
            return Some(Key { low: first(low, len), high: 0, len });
        }
        let high = u64::from_le_bytes(high.try_into().ok()?);
        let len = position(high, end);
        (len < 8).then(|| Key { low, high: first(high, len), len: 8 + len })
    }

    /// The key of a whole name, if it is short enough.
    pub(super) fn of(name: &[u8]) -> Option<Key> {
        let mut bytes = [0; 16];
        bytes.get_mut(..name.len())?.copy_from_slice(name);
        let word = u128::from_le_bytes(bytes);
        Some(Key { low: word as u64, high: (word >> 64) as u64, len: name.len() })
    }

    /// How many bytes it has.
    #[inline]
    pub(super) fn len(self) -> usize {
        self.len
    }

    #[inline]
    fn hash(self) -> u64 {
        const K: u64 = 0x9E37_79B9_7F4A_7C15;
        // Names differ in the low bits of their digits: fold the product, so that all of them count.
        let product = u128::from(self.low ^ self.high.rotate_left(23)) * u128::from(K);
        (product as u64) ^ (product >> 64) as u64
    }
}

#[derive(Clone, Copy, Default, Debug)]
struct Entry {
    low: u64,
    high: u64,
    number: u32,
}

/// How many entries are looked at for a name.
const WAYS: usize = 4;

/// More entries than this cost more than they gain.
const MOST: usize = 1 << 20;

/// A cache of names' ids. It may forget, so that names made to collide cost no more than names it never saw.
#[derive(Default, Debug)]
pub(super) struct NameCache {
    /// A power of two of them, and a few more, so that looking at several in a row needs no wrapping.
    entries: Vec<Entry>,
    shift: u32,
    used: usize,
}

impl NameCache {
    /// The id of a name, if it is remembered.
    #[inline(always)]
    pub(super) fn find(&self, key: Key) -> Option<u32> {
        let start = (key.hash() >> (self.shift & 63)) as usize;
        let entries = self.entries.get(start..start + WAYS)?;
        // An unused entry equals the empty name only, and that one is nowhere looked up.
        entries.iter().find(|e| e.low == key.low && e.high == key.high && key.len > 0).map(|e| e.number)
    }

    /// Remembers the id of a name, if it is short enough.
    pub(super) fn add(&mut self, key: Option<Key>, number: u32) {
        let Some(key) = key.filter(|&key| key.len > 0) else {
            return;
        };
        if self.find(key).is_some() {
            return;
        }
        let size = self.entries.len().saturating_sub(WAYS);
        if self.used * 2 >= size && size < MOST {
            self.grow((size * 2).max(64));
        }
        let start = (key.hash() >> self.shift) as usize;
        let entries = &mut self.entries[start..start + WAYS];
        let free = entries.iter().position(|e| e.low == 0);
        self.used += usize::from(free.is_some());
        entries[free.unwrap_or(0)] = Entry { low: key.low, high: key.high, number };
    }

    fn grow(&mut self, size: usize) {
        let old = std::mem::replace(&mut self.entries, vec![Entry::default(); size + WAYS]);
        self.shift = 64 - size.trailing_zeros();
        self.used = 0;
        for entry in old.into_iter().filter(|e| e.low != 0) {
            let key = Key { low: entry.low, high: entry.high, len: 1 };
            let start = (key.hash() >> self.shift) as usize;
            if let Some(free) = self.entries[start..start + WAYS].iter_mut().find(|e| e.low == 0) {
                *free = entry;
                self.used += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        let text = b"T12|w(V1)|403\nlonger_than_any_key|";
        for (at, end, name) in [(0, b'|', &b"T12"[..]), (6, b')', b"V1"), (10, b'\n', b"403"), (3, b'|', b"")] {
            assert_eq!(Key::until(text, at, end), Key::of(name));
            assert_eq!(Key::of(name).unwrap().len(), name.len());
        }
        assert_eq!(Key::until(text, 14, b'|'), None);
        assert_eq!(Key::until(b"T|", 0, b'|'), None);
        assert_eq!(Key::of(&[b'x'; 17]), None);
        for len in 0..16 {
            let text = [&vec![b'y'; len][..], &[b'|'; 20][..]].concat();
            assert_eq!(Key::until(&text, 0, b'|'), Key::of(&text[..len]));
        }
    }

    #[test]
    fn what_is_remembered_is_right() {
        let mut numbers = NameCache::default();
        assert_eq!(numbers.find(Key::of(b"a").unwrap()), None);
        let names: Vec<String> = (0..50_000).map(|i| format!("V{}", i * 7)).collect();
        for (i, name) in names.iter().enumerate() {
            numbers.add(Key::of(name.as_bytes()), i as u32);
        }
        let found: Vec<_> = names.iter().map(|name| numbers.find(Key::of(name.as_bytes()).unwrap())).collect();
        assert!(found.iter().enumerate().all(|(i, n)| n.is_none_or(|n| n as usize == i)));
        assert!(found.iter().flatten().count() > 45_000);
        assert_eq!(numbers.find(Key::of(b"V1").unwrap()), None);
        assert_eq!(numbers.find(Key::of(b"").unwrap()), None);
    }
}

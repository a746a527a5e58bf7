//! The blocks of the heap: which one an address belongs to, who allocated it, and who freed it.
//!
//! Programs allocate far more blocks than any event mentions, so adding and freeing one must cost little: small blocks
//! are in tables with an entry for every 16 bytes, large ones in an ordered map.

use event::ThreadId;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use trace::binary::DeferredPosition;

const REGION_BITS: u32 = 16;
const ENTRIES: usize = 1 << (REGION_BITS - 4);
/// Larger blocks are kept in the map.
const SMALL: u64 = 1 << 15;

/// Words of a block of which it is stored where variables with a name begin.
const NAMED_WORDS: usize = 64;

/// A thread and a call context: who did something where.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Actor {
    pub(crate) thread: ThreadId,
    pub(crate) slot: u32,
    pub(crate) context: u32,
}

/// When a block was freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Freed {
    pub(crate) by: Actor,
    /// Behind all that the thread did before the free.
    pub(crate) at: DeferredPosition,
}

/// A block of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) start: u64,
    pub(crate) size: u64,
    pub(crate) made: Actor,
    /// Its number among those that have a name; 0: it has none yet.
    pub(crate) number: u32,
    /// The origin of one of its variables was stored.
    described: bool,
    /// Its words with a named variable: the first 64 of them.
    named: u64,
    /// One of these has a variable that does not begin with it: see [`Blocks::named_bytes`].
    has_bytes: bool,
    pub(crate) freed: Option<Freed>,
}

impl Block {
    fn has(&self, address: u64) -> bool {
        address.wrapping_sub(self.start) < self.size
    }
}

/// The blocks of a process, those in use and those freed last.
#[derive(Default)]
pub(crate) struct Blocks {
    blocks: Vec<Block>,
    free: Vec<u32>,
    /// By address >> 16: for every 16 bytes, the block that begins there, + 1.
    regions: FxHashMap<u64, Box<[u32; ENTRIES]>>,
    large: BTreeMap<u64, u32>,
    named: u32,
    /// By block: which bytes of its first 64 words have a named variable that begins there, and not with the word. Only
    /// blocks that say so have any here.
    named_bytes: Vec<[u8; NAMED_WORDS]>,
    /// The last address that was looked for, and what was found.
    last: Option<(u64, Option<usize>)>,
}

impl Blocks {
    /// Adds a block. What was there is forgotten.
    pub(crate) fn insert(&mut self, start: u64, size: u64, made: Actor) {
        let size = size.max(1);
        self.last = None;
        self.forget(start, size);
        let block = Block { start, size, made, number: 0, described: false, named: 0, has_bytes: false, freed: None };
        let index = match self.free.pop() {
            Some(index) => {
                self.blocks[index as usize] = block;
                index
            }
            None => {
                self.blocks.push(block);
                (self.blocks.len() - 1) as u32
            }
        };
        if size >= SMALL {
            self.large.insert(start, index);
        } else {
            let region = self.regions.entry(start >> REGION_BITS).or_insert_with(|| Box::new([0; ENTRIES]));
            region[entry(start)] = index + 1;
        }
    }

    /// Forgets the blocks that begin in a range.
    fn forget(&mut self, start: u64, size: u64) {
        let end = start.saturating_add(size);
        let (first, last) = (start >> REGION_BITS, (end - 1) >> REGION_BITS);
        if last - first >= self.regions.len() as u64 {
            let keys: Vec<u64> = self.regions.keys().copied().filter(|key| (first..=last).contains(key)).collect();
            for key in keys {
                self.forget_in(key, start, end);
            }
        } else {
            for key in first..=last {
                self.forget_in(key, start, end);
            }
        }
        while let Some((&at, &index)) = self.large.range(start..end).next() {
            self.large.remove(&at);
            self.free.push(index);
        }
    }

    fn forget_in(&mut self, key: u64, start: u64, end: u64) {
        let Some(region) = self.regions.get_mut(&key) else { return };
        let base = key << REGION_BITS;
        let from = if start > base { entry(start) } else { 0 };
        let last = if end - base >= 1 << REGION_BITS { ENTRIES - 1 } else { entry(end - 1) };
        for known in &mut region[from..=last] {
            if *known != 0 {
                self.free.push(*known - 1);
                *known = 0;
            }
        }
    }

    /// Finds the block of an address. A new address is looked up several times in a row.
    #[inline]
    fn index(&mut self, address: u64) -> Option<usize> {
        match self.last {
            Some((known, found)) if known == address => found,
            _ => {
                let found = self.search(address);
                self.last = Some((address, found));
                found
            }
        }
    }

    fn search(&self, address: u64) -> Option<usize> {
        let key = address >> REGION_BITS;
        let mut found = None;
        if let Some(region) = self.regions.get(&key) {
            found = region[..=entry(address)].iter().rev().find(|&&known| known != 0);
        }
        if found.is_none() {
            // A small block may begin in the region before.
            found = self.regions.get(&key.checked_sub(1)?).and_then(|r| r.iter().rev().find(|&&known| known != 0));
        }
        let small = found.map(|&known| known as usize - 1).filter(|&index| self.blocks[index].has(address));
        small.or_else(|| {
            let (_, &index) = self.large.range(..=address).next_back()?;
            Some(index as usize).filter(|&index| self.blocks[index].has(address))
        })
    }

    /// The block that an address belongs to.
    pub(crate) fn find(&mut self, address: u64) -> Option<&mut Block> {
        let index = self.index(address)?;
        Some(&mut self.blocks[index])
    }

    /// Whether this is the first question for the block of an address.
    pub(crate) fn is_first(&mut self, address: u64) -> bool {
        self.find(address).is_none_or(|block| !std::mem::replace(&mut block.described, true))
    }

    /// Whether a variable at an address in a block is the first of its name, which says where in the block it is.
    /// `None`: that is not stored for such an address.
    pub(crate) fn is_new(&mut self, address: u64) -> Option<bool> {
        let index = self.index(address)?;
        let block = &mut self.blocks[index];
        let offset = address - block.start;
        let word = usize::try_from(offset / 8).ok().filter(|&word| word < NAMED_WORDS)?;
        if offset.is_multiple_of(8) {
            let bit = 1u64 << word;
            let is_new = block.named & bit == 0;
            block.named |= bit;
            return Some(is_new);
        }
        if self.named_bytes.len() <= index {
            self.named_bytes.resize(index + 1, [0; NAMED_WORDS]);
        }
        let bytes = &mut self.named_bytes[index];
        if !std::mem::replace(&mut block.has_bytes, true) {
            *bytes = [0; NAMED_WORDS];
        }
        let bit = 1u8 << (offset % 8);
        let is_new = bytes[word] & bit == 0;
        bytes[word] |= bit;
        Some(is_new)
    }

    /// The block that an address belongs to; from now on it has a number.
    pub(crate) fn name(&mut self, address: u64) -> Option<Block> {
        let index = self.index(address)?;
        let block = &mut self.blocks[index];
        if block.number == 0 {
            self.named += 1;
            block.number = self.named;
        }
        Some(*block)
    }
}

fn entry(address: u64) -> usize {
    (address >> 4) as usize & (ENTRIES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks as malloc gives them, against a list of all.
    #[test]
    fn addresses_find_their_block_as_in_a_list() {
        let mut seed = 3u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let mut blocks = Blocks::default();
        let mut list: Vec<(u64, u64, u32)> = Vec::new();
        let mut found = 0;
        for context in 0..20_000 {
            let start = 0x7f00_0000_0000 + random(1 << 18) * 16;
            let size = 1 + if random(200) == 0 { random(1 << 17) } else { random(300) };
            // The rest of a block whose front is still there belongs to no block.
            if blocks.find(start).is_some_and(|old| old.start < start) {
                continue;
            }
            list.retain(|&(s, n, _)| s + n <= start || s >= start + size);
            blocks.insert(start, size, Actor { context, ..Actor::default() });
            list.push((start, size, context));
            let probe = 0x7f00_0000_0000 + random(1 << 22);
            if let Some(&(s, ..)) = list.iter().find(|&&(s, n, _)| s <= probe && probe < s + n) {
                assert_eq!(blocks.find(probe).map(|block| block.start), Some(s));
                found += 1;
            }
        }
        assert!(found > 1_000);
    }

    #[test]
    fn each_place_in_a_block_is_new_once() {
        let mut blocks = Blocks::default();
        blocks.insert(0x1000, 1 << 10, Actor::default());
        for offset in [0, 8, 9, 15, 4, 63 * 8, 63 * 8 + 7] {
            assert_eq!(blocks.is_new(0x1000 + offset), Some(true));
            assert_eq!(blocks.is_new(0x1000 + offset), Some(false));
        }
        // Behind the first 64 words, and outside, it is not stored.
        for offset in [64 * 8, 64 * 8 + 1, 128 * 8 - 8, 1 << 10] {
            assert_eq!(blocks.is_new(0x1000 + offset), None);
        }
        blocks.insert(0x1000, 16, Actor::default());
        for offset in [8, 9, 15] {
            assert_eq!(blocks.is_new(0x1000 + offset), Some(true));
        }
    }
}

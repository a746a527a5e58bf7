//! Names, interned once: each kind of thing has its own dense numbering in order of first appearance.

use crate::{BlockId, CondId, Id, LabelId, LatchId, LockId, MAX_THREADS, SemId, SiteId, StrId, ThreadId, VarId};

/// The kinds of named things. The numbers are part of the binary trace format: never renumber, only add.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Space {
    /// Threads.
    Thread = 0,
    /// Variables.
    Var = 1,
    /// Locks.
    Lock = 2,
    /// Conditions.
    Cond = 3,
    /// Latches.
    Latch = 4,
    /// Semaphores.
    Sem = 5,
    /// Blocks; number 0 is the nameless one.
    Block = 6,
    /// Names of internal events.
    Label = 7,
    /// Sites; number 0 is the empty one.
    Site = 8,
    /// String values, names of initial values, and other text.
    Str = 9,
}

impl Space {
    /// Every space, in the order of their numbers.
    pub const ALL: [Space; 10] = [
        Space::Thread,
        Space::Var,
        Space::Lock,
        Space::Cond,
        Space::Latch,
        Space::Sem,
        Space::Block,
        Space::Label,
        Space::Site,
        Space::Str,
    ];

    /// The space with this number, if there is one.
    pub fn from_code(code: u8) -> Option<Space> {
        Space::ALL.get(usize::from(code)).copied()
    }

    /// How many names it can hold.
    pub fn capacity(self) -> usize {
        match self {
            Space::Thread => MAX_THREADS,
            _ => (1 << 32) - 1,
        }
    }
}

/// A name could not be added: its space is full, or the text of all names outgrew what an interner can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

impl std::fmt::Display for Full {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("too many names")
    }
}

impl std::error::Error for Full {}

/// Text to dense number and back, one allocation for all texts together.
///
/// Open addressing over (hash, number) pairs: a look-up touches one slot and the text it finds, in the common case.
#[derive(Clone, Debug)]
pub struct Interner {
    /// Differs from run to run, so that no trace can be made whose names all collide. Numbers do not depend on it.
    seed: u64,
    text: String,
    /// End of each name in `text`.
    ends: Vec<usize>,
    /// Hash in the high half, number + 1 in the low half; 0 is an empty slot. Its length is a power of two.
    slots: Vec<u64>,
    /// Slots that are not empty.
    known: usize,
}

impl Default for Interner {
    fn default() -> Self {
        use std::hash::{BuildHasher, RandomState};
        Interner {
            seed: RandomState::new().hash_one(0u8),
            text: String::new(),
            ends: Vec::new(),
            slots: Vec::new(),
            known: 0,
        }
    }
}

/// A fast hash of a short text.
#[inline]
fn hash(seed: u64, bytes: &[u8]) -> u32 {
    const K: u64 = 0x9E37_79B9_7F4A_7C15;
    #[inline]
    fn mix(h: u64, word: u64) -> u64 {
        let m = u128::from(h ^ word).wrapping_mul(u128::from(K));
        (m as u64) ^ (m >> 64) as u64
    }
    let mut h = seed ^ bytes.len() as u64;
    let mut rest = bytes;
    while let Some((chunk, tail)) = rest.split_first_chunk::<8>() {
        h = mix(h, u64::from_le_bytes(*chunk));
        rest = tail;
    }
    let mut word = 0u64;
    if rest.len() >= 4 {
        // Two overlapping words cover four to seven bytes without a loop.
        let low = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]);
        let n = rest.len();
        let high = u32::from_le_bytes([rest[n - 4], rest[n - 3], rest[n - 2], rest[n - 1]]);
        word = u64::from(low) | u64::from(high) << 32;
    } else if let (Some(&first), Some(&last)) = (rest.first(), rest.last()) {
        word = u64::from(first) | u64::from(rest[rest.len() / 2]) << 8 | u64::from(last) << 16;
    }
    h = mix(h, word);
    (h ^ h >> 32) as u32
}

impl Interner {
    /// How many names there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// About how many bytes of memory it takes.
    pub fn memory(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<usize>() + self.slots.len() * size_of::<u64>()
    }

    /// The name with this number.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&str> {
        let i = number as usize;
        let end = *self.ends.get(i)?;
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        Some(&self.text[start..end])
    }

    /// The number of a name, if it has one.
    #[inline]
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        self.probe(name, hash(self.seed, name)).ok()
    }

    /// The number of a name, adding it if it is new.
    pub fn add(&mut self, name: &str, capacity: usize) -> Result<u32, Full> {
        let h = hash(self.seed, name.as_bytes());
        match self.probe(name.as_bytes(), h) {
            Ok(number) => Ok(number),
            Err(slot) => self.insert(name, h, slot, capacity),
        }
    }

    /// Adds a name that is new and will not be looked up: [`Interner::find`] and [`Interner::add`] do not know it. That
    /// spares a look at a table that is too large for caches.
    pub fn push(&mut self, name: &str, capacity: usize) -> Result<u32, Full> {
        if self.ends.len() >= capacity {
            return Err(Full);
        }
        self.text.push_str(name);
        self.ends.push(self.text.len());
        Ok((self.ends.len() - 1) as u32)
    }

    /// The number of the name, or the slot where it would go.
    #[inline]
    fn probe(&self, name: &[u8], h: u32) -> Result<u32, usize> {
        if self.slots.is_empty() {
            return Err(0);
        }
        let mask = self.slots.len() - 1;
        let mut at = h as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            if (slot >> 32) as u32 == h {
                let number = slot as u32 - 1;
                if self.get(number).is_some_and(|known| known.as_bytes() == name) {
                    return Ok(number);
                }
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn insert(&mut self, name: &str, h: u32, mut slot: usize, capacity: usize) -> Result<u32, Full> {
        if self.ends.len() >= capacity {
            return Err(Full);
        }
        if (self.known + 1) * 2 > self.slots.len() {
            self.grow();
            slot = self.empty_slot(h);
        }
        self.known += 1;
        let number = self.ends.len() as u32;
        self.slots[slot] = u64::from(h) << 32 | u64::from(number + 1);
        self.text.push_str(name);
        self.ends.push(self.text.len());
        Ok(number)
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![0; (old.len() * 2).max(16)];
        for slot in old.into_iter().filter(|&s| s != 0) {
            let at = self.empty_slot((slot >> 32) as u32);
            self.slots[at] = slot;
        }
    }

    fn empty_slot(&self, h: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = h as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        at
    }
}

/// The names of a trace, space by space.
#[derive(Clone, Debug)]
pub struct Names {
    spaces: [Interner; Space::ALL.len()],
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Names { spaces: Default::default() };
        for space in [Space::Block, Space::Site] {
            let empty = names.add(space, "");
            debug_assert_eq!(empty, Ok(0));
        }
        names
    }
}

impl Names {
    /// The names of one space.
    #[inline]
    pub fn space(&self, space: Space) -> &Interner {
        &self.spaces[space as usize]
    }

    /// The number of a name, adding it if it is new.
    pub fn add(&mut self, space: Space, name: &str) -> Result<u32, Full> {
        self.spaces[space as usize].add(name, space.capacity())
    }

    /// Adds a name that is new and will not be looked up by its text: see [`Interner::push`].
    pub fn push(&mut self, space: Space, name: &str) -> Result<u32, Full> {
        self.spaces[space as usize].push(name, space.capacity())
    }

    /// The name with this number; `?` if there is none (never for the ids of a trace's own events).
    pub fn get(&self, space: Space, number: u32) -> &str {
        self.space(space).get(number).unwrap_or("?")
    }

    /// About how many bytes of memory all names take.
    pub fn memory(&self) -> usize {
        self.spaces.iter().map(Interner::memory).sum()
    }
}

macro_rules! named {
    ($($name:ident, $id:ident, $space:ident;)*) => {
        impl Names {$(
            #[doc = concat!("The name of a [`", stringify!($id), "`].")]
            pub fn $name(&self, id: $id) -> &str {
                self.get(Space::$space, id.index() as u32)
            }
        )*}
    };
}

named! {
    thread, ThreadId, Thread;
    var, VarId, Var;
    lock, LockId, Lock;
    cond, CondId, Cond;
    latch, LatchId, Latch;
    sem, SemId, Sem;
    block, BlockId, Block;
    label, LabelId, Label;
    site, SiteId, Site;
    str, StrId, Str;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn numbers_are_dense_and_names_come_back() {
        let mut interner = Interner::default();
        let mut model: HashMap<String, u32> = HashMap::new();
        let mut seed = 1u64;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let name = "x".repeat((seed >> 60) as usize) + &(seed >> 51).to_string();
            let expected = model.len() as u32;
            let expected = *model.entry(name.clone()).or_insert(expected);
            assert_eq!(interner.add(&name, usize::MAX), Ok(expected));
            assert_eq!(interner.find(name.as_bytes()), Some(expected));
            assert_eq!(interner.get(expected), Some(name.as_str()));
        }
        assert_eq!(interner.len(), model.len());
        assert_eq!(interner.find(b"never added"), None);
        assert_eq!(interner.get(model.len() as u32), None);
    }

    #[test]
    fn names_that_nobody_looks_for_have_numbers_among_the_others() {
        let mut interner = Interner::default();
        for number in 0..1_000 {
            let name = format!("heap#{number}");
            let id = if number % 3 == 0 { interner.add(&name, 2_000) } else { interner.push(&name, 2_000) };
            assert_eq!(id, Ok(number));
        }
        for number in 0..1_000 {
            let name = format!("heap#{number}");
            assert_eq!(interner.get(number), Some(name.as_str()));
            assert_eq!(interner.find(name.as_bytes()), (number % 3 == 0).then_some(number));
        }
        assert_eq!(interner.push("more", 1_000), Err(Full));
    }

    #[test]
    fn a_full_space_says_so() {
        let mut interner = Interner::default();
        assert_eq!(interner.add("a", 1), Ok(0));
        assert_eq!(interner.add("a", 1), Ok(0));
        assert_eq!(interner.add("b", 1), Err(Full));
    }

    #[test]
    fn the_nameless_block_and_the_unknown_site_are_number_0() {
        let names = Names::default();
        assert_eq!((names.block(BlockId(0)), names.site(SiteId(0))), ("", ""));
    }
}

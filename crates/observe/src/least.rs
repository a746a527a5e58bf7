//! Finds the slot with the least time: a tournament tree of the slots' times. A match has no branch that could be
//! mispredicted, and their number is the logarithm of the number of slots.

/// A time and a slot.
pub(crate) type Key = u128;

/// The key of a slot without a record.
pub(crate) const NEVER: Key = Key::MAX;

/// Whether a key is that of a slot without a record: no slot has such a number. (Only the low half is read: a key that
/// was just written in halves is not there as a whole yet.)
#[inline]
pub(crate) fn is_never(key: Key) -> bool {
    key as u64 == u64::MAX
}

/// The key of a slot's record. Slots with equal times come by their numbers.
#[inline]
pub(crate) fn key(time: u64, slot: u32) -> Key {
    u128::from(time) << 64 | u128::from(slot)
}

/// The time in a key.
#[inline]
pub(crate) fn time(key: Key) -> u64 {
    (key >> 64) as u64
}

/// The slot in a key.
#[inline]
pub(crate) fn slot(key: Key) -> u32 {
    key as u32
}

/// The least key of some slots.
#[derive(Default)]
pub(crate) struct Least {
    /// The slots' keys are the second half; each other node has the lesser of the two below it. Node 0 is unused.
    nodes: Vec<Key>,
}

impl Least {
    /// The least of all.
    #[inline]
    pub(crate) fn first(&self) -> Key {
        self.nodes.get(1).copied().unwrap_or(NEVER)
    }

    /// The least of all but this slot.
    #[inline]
    pub(crate) fn without(&self, slot: u32) -> Key {
        let mut at = self.nodes.len() / 2 + slot as usize;
        let mut least = NEVER;
        while at > 1 {
            least = least.min(self.nodes[at ^ 1]);
            at /= 2;
        }
        least
    }

    /// A slot has another key.
    #[inline]
    pub(crate) fn set(&mut self, slot: u32, key: Key) {
        if slot as usize >= self.nodes.len() / 2 {
            self.grow(slot as usize + 1);
        }
        let mut at = self.nodes.len() / 2 + slot as usize;
        let mut least = key;
        self.nodes[at] = key;
        while at > 1 {
            least = least.min(self.nodes[at ^ 1]);
            at /= 2;
            self.nodes[at] = least;
        }
    }

    #[cold]
    fn grow(&mut self, slots: usize) {
        let before = self.nodes.len() / 2;
        // Two at least: the first node of a single slot would be its own.
        let half = slots.next_power_of_two().max(2);
        let mut nodes = vec![NEVER; 2 * half];
        nodes[half..half + before].copy_from_slice(&self.nodes[before..]);
        for at in (1..half).rev() {
            nodes[at] = nodes[2 * at].min(nodes[2 * at + 1]);
        }
        self.nodes = nodes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_random_keys() {
        let mut seed = 7u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for slots in [1u64, 2, 3, 9, 64, 100] {
            let mut least = Least::default();
            let mut keys = vec![NEVER; slots as usize];
            for _ in 0..2_000 {
                let slot = random(slots) as u32;
                let new = if random(4) == 0 { NEVER } else { key(random(20), slot) };
                keys[slot as usize] = new;
                least.set(slot, new);
                assert_eq!(least.first(), keys.iter().copied().min().unwrap_or(NEVER));
                let other = random(slots) as u32;
                keys[other as usize] = NEVER;
                least.set(other, NEVER);
                assert_eq!(least.without(other), keys.iter().copied().min().unwrap_or(NEVER));
            }
        }
    }
}

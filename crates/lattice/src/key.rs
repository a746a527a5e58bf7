//! Cuts packed into machine words: a field for each chain that moves, with a guard bit above it.
//!
//! Taking an event adds a constant to the key, so a sorted level stays sorted when one chain moves; and whether a cut
//! covers what an event needs is one subtraction: no field may borrow from its guard bit.

/// A packed cut.
pub(crate) trait Key: Copy + Ord + Send + Sync + 'static {
    /// Its width.
    const BITS: u32;
    /// It is a machine word.
    const FAST: bool;
    /// Greater than every cut, for guard bits are never set in one.
    const MAX: Self;
    /// The empty cut.
    const ZERO: Self;

    /// A key with one field.
    fn place(value: u32, shift: u32) -> Self;
    /// One field.
    fn field(self, shift: u32, mask: u32) -> u32;
    /// Adds fields; no field may overflow.
    fn plus(self, other: Self) -> Self;
    /// Whether every field is at least that of `need`. `guards` has all guard bits set.
    fn covers(self, prefix: Self, guards: Self) -> bool;
}

impl Key for u64 {
    const BITS: u32 = 64;
    const FAST: bool = true;
    const MAX: u64 = u64::MAX;
    const ZERO: u64 = 0;

    #[inline(always)]
    fn place(value: u32, shift: u32) -> u64 {
        u64::from(value) << shift
    }
    #[inline(always)]
    fn field(self, shift: u32, mask: u32) -> u32 {
        (self >> shift) as u32 & mask
    }
    #[inline(always)]
    fn plus(self, other: u64) -> u64 {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn covers(self, prefix: u64, guards: u64) -> bool {
        (self | guards).wrapping_sub(prefix) & guards == guards
    }
}

impl Key for u128 {
    const BITS: u32 = 128;
    const FAST: bool = true;
    const MAX: u128 = u128::MAX;
    const ZERO: u128 = 0;

    #[inline(always)]
    fn place(value: u32, shift: u32) -> u128 {
        u128::from(value) << shift
    }
    #[inline(always)]
    fn field(self, shift: u32, mask: u32) -> u32 {
        (self >> shift) as u32 & mask
    }
    #[inline(always)]
    fn plus(self, other: u128) -> u128 {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn covers(self, prefix: u128, guards: u128) -> bool {
        (self | guards).wrapping_sub(prefix) & guards == guards
    }
}

/// The fall-back for many chains. The first word is the most significant, so that keys of all widths have the same order.
impl<const W: usize> Key for [u64; W] {
    const BITS: u32 = 64 * W as u32;
    const FAST: bool = false;
    const MAX: [u64; W] = [u64::MAX; W];
    const ZERO: [u64; W] = [0; W];

    #[inline]
    fn place(value: u32, shift: u32) -> [u64; W] {
        let mut key = [0; W];
        key[W - 1 - shift as usize / 64] = u64::from(value) << (shift % 64);
        key
    }
    #[inline]
    fn field(self, shift: u32, mask: u32) -> u32 {
        (self[W - 1 - shift as usize / 64] >> (shift % 64)) as u32 & mask
    }
    #[inline]
    fn plus(mut self, other: [u64; W]) -> [u64; W] {
        for (word, other) in self.iter_mut().zip(other) {
            *word = word.wrapping_add(other);
        }
        self
    }
    #[inline]
    fn covers(self, prefix: [u64; W], guards: [u64; W]) -> bool {
        let mut same = true;
        for word in 0..W {
            same &= (self[word] | guards[word]).wrapping_sub(prefix[word]) & guards[word] == guards[word];
        }
        same
    }
}

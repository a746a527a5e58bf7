//! Packed cuts: a field for each chain that can move, with a guard bit above it.
//!
//! ```text
//!   bit 63                                      0
//!   +-+-----------+-+-----------+-+-------------+
//!   |g|  chain 2  |g|  chain 1  |g|   chain 0   |      g: guard bit, 0 in a cut
//!   +-+-----------+-+-----------+-+-------------+
//! ```
//!
//! Taking an event adds a constant to the key, so the successors of a sorted level by one chain are sorted. Whether a
//! cut contains the predecessors of an event is one subtraction with all guard bits set: a field that is too small
//! borrows from its guard bit.

/// A packed cut.
pub(crate) trait Key: Copy + Ord + Send + Sync + 'static {
    /// The width.
    const BITS: u32;
    /// Whether it is a machine word.
    const FAST: bool;
    /// Greater than every cut, because the guard bits of a cut are 0.
    const MAX: Self;
    /// The empty cut.
    const ZERO: Self;

    /// A key whose only field has this value.
    fn with_field(value: u32, shift: u32) -> Self;
    /// The value of a field.
    fn field(self, shift: u32, mask: u32) -> u32;
    /// Adds field by field; no field may overflow.
    fn plus(self, other: Self) -> Self;
    /// Whether every field is at least that of `least`. `guards` has all guard bits set.
    fn covers(self, least: Self, guards: Self) -> bool;
}

impl Key for u64 {
    const BITS: u32 = 64;
    const FAST: bool = true;
    const MAX: u64 = u64::MAX;
    const ZERO: u64 = 0;

    #[inline(always)]
    fn with_field(value: u32, shift: u32) -> u64 {
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
    fn covers(self, least: u64, guards: u64) -> bool {
        (self | guards).wrapping_sub(least) & guards == guards
    }
}

impl Key for u128 {
    const BITS: u32 = 128;
    const FAST: bool = true;
    const MAX: u128 = u128::MAX;
    const ZERO: u128 = 0;

    #[inline(always)]
    fn with_field(value: u32, shift: u32) -> u128 {
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
    fn covers(self, least: u128, guards: u128) -> bool {
        (self | guards).wrapping_sub(least) & guards == guards
    }
}

/// For many chains. The first word is the most significant, so that cuts have the same order in keys of all widths.
impl<const W: usize> Key for [u64; W] {
    const BITS: u32 = 64 * W as u32;
    const FAST: bool = false;
    const MAX: [u64; W] = [u64::MAX; W];
    const ZERO: [u64; W] = [0; W];

    #[inline]
    fn with_field(value: u32, shift: u32) -> [u64; W] {
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
    fn covers(self, least: [u64; W], guards: [u64; W]) -> bool {
        let mut covers = true;
        for word in 0..W {
            covers &= (self[word] | guards[word]).wrapping_sub(least[word]) & guards[word] == guards[word];
        }
        covers
    }
}

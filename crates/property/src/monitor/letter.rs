//! What a monitor reads at a step: which atoms hold, and which are unknown.

use crate::AtomId;

/// Atoms that one property can have: a letter is a bit set.
pub const MAX_ATOMS: u32 = 64;

/// The atoms of a property at one step. An atom is true, false or unknown; the two sets are disjoint.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Letter {
    /// The atoms that hold.
    pub holds: u64,
    /// The atoms whose truth is unknown.
    pub unknown: u64,
}

impl Letter {
    /// A letter in which everything is known.
    pub const fn known(holds: u64) -> Self {
        Self { holds, unknown: 0 }
    }

    /// A letter with unknown atoms; those do not count as holding.
    pub const fn new(holds: u64, unknown: u64) -> Self {
        Self { holds: holds & !unknown, unknown }
    }

    /// The truth of an atom; `None` when unknown.
    pub const fn truth(self, atom: AtomId) -> Option<bool> {
        if self.unknown >> atom & 1 == 1 { None } else { Some(self.holds >> atom & 1 == 1) }
    }
}

/// The subsets of `mask`, the empty one first.
pub(super) fn subsets(mask: u64) -> impl Iterator<Item = u64> {
    let mut next = Some(0_u64);
    std::iter::from_fn(move || {
        let now = next?;
        let after = now.wrapping_sub(mask) & mask;
        next = (after != 0).then_some(after);
        Some(now)
    })
}

/// Moves a stretch of adjacent bits to another place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    mask: u64,
    right: u32,
    left: u32,
}

impl Run {
    #[inline(always)]
    pub(super) fn of(self, word: u64) -> u64 {
        (word & self.mask) >> (self.right & 63) << (self.left & 63)
    }
}

/// The atoms that a monitor looks at, and the numbering of the letters over them.
#[derive(Clone, Debug)]
pub struct Alphabet {
    used: u64,
    unknown: u64,
    // Atoms are numbered per property, so that the first run of adjacent ones is nearly always all there is.
    mask: u64,
    shift: u32,
    more: Box<[Run]>,
    more_unknown: Box<[Run]>,
}

/// The moves that bring the bits of a set together, from place `at` on.
pub(super) fn runs(mut set: u64, mut at: u32) -> Vec<Run> {
    let mut out = Vec::new();
    while set != 0 {
        let right = set.trailing_zeros();
        let len = (set >> right).trailing_ones();
        let mask = (u64::MAX >> (64 - len)) << right;
        out.push(Run { mask, right, left: at });
        at += len;
        set &= !mask;
    }
    out
}

impl Alphabet {
    /// `used`: the atoms that matter. `unknown`: those that a letter may leave unknown.
    pub(super) fn new(used: u64, unknown: u64) -> Self {
        let unknown = used & unknown;
        let mut known = runs(used, 0);
        let first = if known.is_empty() { Run { mask: 0, right: 0, left: 0 } } else { known.remove(0) };
        let bits = used.count_ones() + unknown.count_ones();
        // The index of a larger alphabet is never asked for, and would not fit.
        let more_unknown = if bits > 64 { Vec::new() } else { runs(unknown, used.count_ones()) };
        Self {
            used,
            unknown,
            mask: first.mask,
            shift: first.right,
            more: known.into(),
            more_unknown: more_unknown.into(),
        }
    }

    /// The atoms that matter.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// The atoms that may be unknown.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    /// The bits of an index.
    pub(super) fn bits(&self) -> u32 {
        self.used.count_ones() + self.unknown.count_ones()
    }

    /// The number of a letter, below two to the power of [`Alphabet::bits`].
    #[inline(always)]
    pub(super) fn index(&self, letter: Letter) -> u64 {
        let mut index = (letter.holds & self.mask) >> self.shift;
        for run in &self.more {
            index |= run.of(letter.holds);
        }
        for run in &self.more_unknown {
            index |= run.of(letter.unknown);
        }
        index
    }

    /// The letter without the atoms that do not matter.
    #[inline]
    pub(super) fn restrict(&self, letter: Letter) -> Letter {
        Letter::new(letter.holds & self.used, letter.unknown & self.unknown)
    }

    /// Every letter, with unknown atoms where they may be; known ones first.
    pub(super) fn letters(&self) -> impl Iterator<Item = Letter> + '_ {
        subsets(self.unknown)
            .flat_map(|unknown| subsets(self.used & !unknown).map(move |holds| Letter { holds, unknown }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn letters_are_numbered_one_to_one() {
        for (used, unknown) in [(0, 0), (0b111, 0), (0b1011_0110, 0b10_0010), (1 << 63 | 1, 1 << 63), (0b1110, 0b110)] {
            let alphabet = Alphabet::new(used, unknown);
            let mut seen = HashSet::new();
            for letter in alphabet.letters() {
                assert_eq!(letter.holds & letter.unknown, 0);
                assert!(alphabet.index(letter) < 1 << alphabet.bits());
                assert!(seen.insert(alphabet.index(letter)), "{used:b} {letter:?}");
            }
            let known = used & !unknown;
            assert_eq!(seen.len(), (1 << known.count_ones()) * 3_usize.pow((used & unknown).count_ones()));
        }
    }

    #[test]
    fn atoms_of_others_do_not_count() {
        let alphabet = Alphabet::new(0b1010, 0b1000);
        assert_eq!(alphabet.index(Letter::new(0b0111, 0b1_0000)), alphabet.index(Letter::known(0b10)));
    }
}

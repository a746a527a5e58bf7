//! Who made an access, and which locks it held, in one word: a variable must fit half a cache line.

use super::clocks::Slot;
use crate::locksets::SetId;

/// A slot, and above it the number of a set of locks. Only a [`Packing`] distinguishes them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Who(u32);

impl Who {
    /// No thread: no packing makes it of a slot and locks.
    pub(super) const NONE: Who = Who(u32::MAX);
}

/// How many bits of a word the slot has; what is left is the locks'. A set whose number does not fit counts as unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packing {
    /// The bits of the slot.
    mask: u32,
}

impl Default for Packing {
    fn default() -> Self {
        Packing { mask: (1 << 10) - 1 }
    }
}

impl Packing {
    /// Whether so many slots can be distinguished. The last one is [`Who::NONE`]'s.
    pub(super) fn fits(self, slots: usize) -> bool {
        slots <= self.mask as usize
    }

    /// This packing with twice as many slots.
    pub(super) fn wider(self) -> Packing {
        Packing { mask: self.mask << 1 | 1 }
    }

    #[inline]
    pub(super) fn pack(self, slot: Slot, locks: SetId) -> Who {
        let bits = self.mask.count_ones();
        Who(locks.word().min(u32::MAX >> bits) << bits | slot & self.mask)
    }

    #[inline]
    pub(super) fn slot(self, who: Who) -> Slot {
        who.0 & self.mask
    }

    #[inline]
    pub(super) fn locks(self, who: Who) -> SetId {
        let bits = self.mask.count_ones();
        let word = who.0 >> bits;
        if word == u32::MAX >> bits { SetId::ALL } else { SetId::from_word(word) }
    }

    /// Packs again what was packed by this packing.
    pub(super) fn repack(self, who: &mut Who, new: Packing) {
        if *who != Who::NONE {
            *who = new.pack(self.slot(*who), self.locks(*who));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        let mut packing = Packing::default();
        let mut all = Vec::new();
        for slot in [0, 1, 7, 1022] {
            for locks in [SetId::EMPTY, SetId::from_word(5), SetId::from_word(100_000), SetId::ALL] {
                all.push((slot, locks, packing.pack(slot, locks)));
            }
        }
        for _ in 0..17 {
            assert!(all.iter().all(|&(slot, locks, who)| {
                let known = packing.locks(who);
                who != Who::NONE && packing.slot(who) == slot && (known == locks || known == SetId::ALL)
            }));
            assert!(all.iter().filter(|a| a.1.word() <= 5).all(|&(_, locks, who)| packing.locks(who) == locks));
            let wider = packing.wider();
            all.iter_mut().for_each(|(_, _, who)| packing.repack(who, wider));
            assert!(!packing.fits(1 << packing.mask.count_ones()) && wider.fits(1 << packing.mask.count_ones()));
            packing = wider;
        }
        let mut none = Who::NONE;
        Packing::default().repack(&mut none, packing);
        assert_eq!(none, Who::NONE);
    }
}

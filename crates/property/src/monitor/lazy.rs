//! An automaton discovered as it runs, shared by threads: known transitions are read without a lock.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::automaton::Automaton;
use super::intern::FastMap;
use super::letter::{Alphabet, Letter};
use super::options::TooLarge;
use super::verdict::Verdict;
use super::{Form, Monitor, Q, Size};

/// Bits of a state's number in the cache.
const STATE_BITS: u32 = 20;
/// Bits of the number of a slot.
const SLOT_BITS: u32 = 16;
/// Bits of a letter's index that the cache can take: what is left of a word for the tag is the rest of the key.
const LETTER_BITS: u32 = 36;
/// A cached value: state and verdict. Zero means that the slot is empty, so that state numbers are kept plus one.
const VALUE_BITS: u32 = STATE_BITS + 3;
const KEY_BITS: u32 = STATE_BITS + LETTER_BITS;
const _: () = assert!(KEY_BITS - SLOT_BITS + VALUE_BITS <= 64);

/// Transitions that are remembered; forgotten ones are computed again.
const MAX_KNOWN: usize = 1 << 21;

/// The state in which a bound was hit. Nothing is known from here on.
const GAVE_UP: Q = (Verdict::Unknown as u64) << STATE_BITS;

/// An automaton discovered as it runs. A state is `verdict << 20 | number`, numbers from 1.
pub struct Lazy {
    alphabet: Alphabet,
    slots: Box<[AtomicU64]>,
    bits: u32,
    found: Mutex<Discovered>,
}

struct Discovered {
    automaton: Box<dyn Automaton>,
    first: FastMap<Letter, Q>,
    next: FastMap<(Q, Letter), Q>,
    states: FastMap<u32, ()>,
}

impl fmt::Debug for Lazy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").field("alphabet", &self.alphabet).field("size", &self.size()).finish()
    }
}

/// A bijection on keys that spreads them over the slots.
#[inline(always)]
fn mix(key: u64) -> u64 {
    const MASK: u64 = (1 << KEY_BITS) - 1;
    let key = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) & MASK;
    key ^ key >> (KEY_BITS / 2)
}

impl Lazy {
    pub(super) fn new(automaton: Box<dyn Automaton>, alphabet: Alphabet) -> Self {
        let bits = automaton.bits();
        let slots = if alphabet.bits() <= LETTER_BITS { 1 << SLOT_BITS } else { 0 };
        let found =
            Discovered { automaton, first: FastMap::default(), next: FastMap::default(), states: FastMap::default() };
        Self { alphabet, slots: (0..slots).map(|_| AtomicU64::new(0)).collect(), bits, found: Mutex::new(found) }
    }

    fn found(&self) -> MutexGuard<'_, Discovered> {
        // A panic inside leaves at worst a state without its transitions, which are then computed again.
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cold]
    #[inline(never)]
    fn discover(&self, q: Q, letter: Letter) -> Q {
        self.found().step(q, self.alphabet.restrict(letter))
    }
}

impl Discovered {
    fn pack(&mut self, q: Result<u32, TooLarge>) -> Q {
        match q {
            Ok(id) if id < (1 << STATE_BITS) - 1 => {
                self.states.insert(id, ());
                (self.automaton.verdict(id) as u64) << STATE_BITS | (u64::from(id) + 1)
            }
            _ => GAVE_UP,
        }
    }

    fn init(&mut self, letter: Letter) -> Q {
        if let Some(q) = self.first.get(&letter) {
            return *q;
        }
        let q = self.automaton.init(letter);
        let q = self.pack(q);
        self.first.insert(letter, q);
        q
    }

    fn step(&mut self, q: Q, letter: Letter) -> Q {
        let Some(id) = number(q) else { return GAVE_UP };
        if let Some(q) = self.next.get(&(q, letter)) {
            return *q;
        }
        let to = self.automaton.step(id, letter);
        let to = self.pack(to);
        if self.next.len() >= MAX_KNOWN {
            self.next.clear();
        }
        self.next.insert((q, letter), to);
        to
    }
}

#[inline(always)]
fn number(q: Q) -> Option<u32> {
    ((q & ((1 << STATE_BITS) - 1)) as u32).checked_sub(1)
}

impl Monitor for Lazy {
    fn init(&self, step0: Letter) -> Q {
        self.found().init(self.alphabet.restrict(step0))
    }

    #[inline]
    fn step(&self, q: Q, letter: Letter) -> Q {
        if q == GAVE_UP {
            return q;
        }
        let state = q & ((1 << STATE_BITS) - 1);
        let key = mix(state << LETTER_BITS | self.alphabet.index(letter));
        let tag = key >> SLOT_BITS;
        let Some(slot) = self.slots.get((key & ((1 << SLOT_BITS) - 1)) as usize) else {
            return self.discover(q, letter);
        };
        // An entry is one word, and the transition it stands for is true for ever: no order is needed.
        let entry = slot.load(Ordering::Relaxed);
        if entry != 0 && entry >> VALUE_BITS == tag {
            return entry & ((1 << VALUE_BITS) - 1);
        }
        let to = self.discover(q, letter);
        slot.store(tag << VALUE_BITS | to, Ordering::Relaxed);
        to
    }

    #[inline]
    fn verdict(&self, q: Q) -> Verdict {
        Verdict::from_code((q >> STATE_BITS) as u8 & 7)
    }

    fn at_end(&self, q: Q, _last: Letter) -> Verdict {
        number(q).map_or(Verdict::Unknown, |id| self.found().automaton.at_end(id))
    }

    #[inline]
    fn can_violate(&self, q: Q) -> bool {
        self.verdict(q) != Verdict::Satisfied
    }

    fn can_fail(&self, q: Q) -> bool {
        self.can_violate(q)
    }

    fn gave_up(&self, q: Q) -> bool {
        q == GAVE_UP
    }

    fn size(&self) -> Size {
        let found = self.found();
        Size {
            form: Form::Lazy,
            states: Some(found.states.len()),
            bits: self.bits,
            letters: 1_usize.checked_shl(self.alphabet.bits()).unwrap_or(usize::MAX),
            bytes: self.slots.len() * 8 + found.next.capacity() * size_of::<(Q, Letter, Q)>(),
        }
    }

    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: u64 = 50_000;

    /// Far more transitions than the cache has slots.
    struct Scattered;

    fn scatter(q: u64, letter: Letter) -> u64 {
        (q * 65_537 + letter.holds).wrapping_mul(0xd134_2543_de82_ef95) >> 32
    }

    impl Automaton for Scattered {
        fn init(&mut self, step0: Letter) -> Result<u32, TooLarge> {
            Ok((scatter(1 << 20, step0) % STATES) as u32)
        }
        fn step(&mut self, q: u32, letter: Letter) -> Result<u32, TooLarge> {
            match scatter(u64::from(q), letter) % STATES {
                0 => Err(TooLarge),
                to => Ok(to as u32),
            }
        }
        fn verdict(&mut self, q: u32) -> Verdict {
            if q.is_multiple_of(2) { Verdict::Pending } else { Verdict::Unknown }
        }
        fn at_end(&mut self, q: u32) -> Verdict {
            if q.is_multiple_of(3) { Verdict::Fulfilled } else { Verdict::Unfulfilled }
        }
        fn bits(&self) -> u32 {
            0
        }
    }

    #[test]
    fn slots_that_many_transitions_share_tell_them_apart() {
        let lazy = Lazy::new(Box::new(Scattered), Alphabet::new(0xffff, 0));
        let mut random = 1_u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            Letter::known(random >> 48)
        };
        let (mut q, mut want, mut gave_up) = (GAVE_UP, None, 0);
        for _ in 0..500_000 {
            let letter = next();
            match want {
                None => {
                    q = lazy.init(letter);
                    want = Scattered.init(letter).ok();
                }
                Some(before) => {
                    q = lazy.step(q, letter);
                    want = Scattered.step(before, letter).ok();
                }
            }
            assert_eq!((number(q), lazy.gave_up(q)), (want, want.is_none()));
            let expect =
                want.map_or((Verdict::Unknown, Verdict::Unknown), |q| (Scattered.verdict(q), Scattered.at_end(q)));
            assert_eq!((lazy.verdict(q), lazy.at_end(q, letter)), expect);
            if lazy.gave_up(q) {
                assert_eq!(lazy.step(q, letter), q);
                gave_up += 1;
            }
        }
        assert!(gave_up > 0);
    }
}

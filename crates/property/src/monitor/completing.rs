//! Unknown atoms for automata that read known letters: all completions are followed, as a set of states.

use super::automaton::Automaton;
use super::intern::Interner;
use super::letter::{Letter, subsets};
use super::options::TooLarge;
use super::verdict::Verdict;

/// Completions that one step may try: unknown atoms of the letter, times states followed.
const MAX_COMPLETIONS: u64 = 1 << 16;

/// An automaton over letters with unknown atoms. A state is the set of states that the completions of the letters so
/// far lead to; it is violated only if all of them are.
pub(super) struct Completing<A> {
    inner: A,
    used: u64,
    unknown: u64,
    sets: Interner<Box<[u32]>>,
    limit: usize,
}

impl<A: Automaton> Completing<A> {
    pub(super) fn new(inner: A, used: u64, unknown: u64, limit: usize) -> Self {
        Self { inner, used, unknown: used & unknown, sets: Interner::default(), limit }
    }

    fn completions(&self, letter: Letter) -> impl Iterator<Item = Letter> + use<A> {
        let holds = letter.holds & self.used & !letter.unknown;
        subsets(letter.unknown & self.unknown).map(move |more| Letter::known(holds | more))
    }

    fn set(&mut self, mut states: Vec<u32>) -> Result<u32, TooLarge> {
        states.sort_unstable();
        states.dedup();
        let id = self.sets.intern(states.into());
        if self.sets.len() > self.limit { Err(TooLarge) } else { Ok(id) }
    }

    fn fits(&self, letter: Letter, states: usize) -> Result<(), TooLarge> {
        let unknown = (letter.unknown & self.unknown).count_ones();
        let tries = 1_u64.checked_shl(unknown).and_then(|n| n.checked_mul(states as u64));
        if tries.is_some_and(|n| n <= MAX_COMPLETIONS) { Ok(()) } else { Err(TooLarge) }
    }
}

impl<A: Automaton> Automaton for Completing<A> {
    fn init(&mut self, step0: Letter) -> Result<u32, TooLarge> {
        self.fits(step0, 1)?;
        let states = self.completions(step0).map(|l| self.inner.init(l)).collect::<Result<Vec<_>, _>>()?;
        self.set(states)
    }
    fn step(&mut self, q: u32, letter: Letter) -> Result<u32, TooLarge> {
        let before = self.sets.get(q).clone();
        self.fits(letter, before.len())?;
        let mut after = Vec::new();
        for state in before {
            for letter in self.completions(letter) {
                after.push(self.inner.step(state, letter)?);
            }
        }
        self.set(after)
    }
    fn verdict(&mut self, q: u32) -> Verdict {
        let Self { inner, sets, .. } = self;
        sets.get(q).iter().map(|q| inner.verdict(*q)).reduce(Verdict::either).unwrap_or(Verdict::Unknown)
    }
    fn at_end(&mut self, q: u32) -> Verdict {
        let Self { inner, sets, .. } = self;
        sets.get(q).iter().map(|q| inner.at_end(*q)).reduce(Verdict::either).unwrap_or(Verdict::Unknown)
    }
    fn bits(&self) -> u32 {
        self.inner.bits()
    }
}

//! Unknown atoms for automata that read known letters: all completions are followed, as a set of states.

use super::automaton::Automaton;
use super::intern::{FastMap, Interner};
use super::letter::Letter;
use super::options::TooLarge;
use super::verdict::Verdict;

/// Completions that one step may try: unknown atoms of the letter, times states followed.
const MAX_COMPLETIONS: u64 = 1 << 18;
/// Transitions that are remembered; forgotten ones are computed again.
const MAX_KNOWN: usize = 1 << 20;

/// An automaton over letters with unknown atoms. A state is the set of states that the completions of the letters so
/// far lead to; it is violated only if all of them are.
pub(super) struct Completing<A> {
    inner: A,
    used: u64,
    unknown: u64,
    sets: Interner<Box<[u32]>>,
    /// From a set (`None`: before step 0) by a letter.
    known: FastMap<(Option<u32>, Letter), u32>,
    limit: usize,
}

impl<A: Automaton> Completing<A> {
    pub(super) fn new(inner: A, used: u64, unknown: u64, limit: usize) -> Self {
        let unknown = used & unknown;
        Self { inner, used, unknown, sets: Interner::default(), known: FastMap::default(), limit }
    }

    fn set(&mut self, mut states: Vec<u32>) -> Result<u32, TooLarge> {
        states.sort_unstable();
        states.dedup();
        let id = self.sets.intern(states.into());
        if self.sets.len() > self.limit { Err(TooLarge) } else { Ok(id) }
    }

    fn read(&mut self, from: Option<u32>, letter: Letter) -> Result<u32, TooLarge> {
        let letter = Letter::new(letter.holds & self.used, letter.unknown & self.unknown);
        let states = from.map_or(1, |q| self.sets.get(q).len() as u64);
        let tries = 1_u64.checked_shl(letter.unknown.count_ones()).and_then(|n| n.checked_mul(states));
        if tries.is_none_or(|n| n > MAX_COMPLETIONS) {
            return Err(TooLarge);
        }
        self.complete(from, letter)
    }

    /// One unknown atom at a time: letters with fewer of them share what they lead to.
    fn complete(&mut self, from: Option<u32>, letter: Letter) -> Result<u32, TooLarge> {
        if let Some(to) = self.known.get(&(from, letter)) {
            return Ok(*to);
        }
        let to = match (letter.unknown & letter.unknown.wrapping_neg(), from) {
            (0, None) => {
                let q = self.inner.init(letter)?;
                self.set(vec![q])?
            }
            (0, Some(from)) => {
                let before = self.sets.get(from).clone();
                let after = before.iter().map(|q| self.inner.step(*q, letter)).collect::<Result<Vec<_>, _>>()?;
                self.set(after)?
            }
            (atom, from) => {
                let unknown = letter.unknown ^ atom;
                let without = self.complete(from, Letter { holds: letter.holds, unknown })?;
                let with = self.complete(from, Letter { holds: letter.holds | atom, unknown })?;
                if without == with {
                    with
                } else {
                    let both = [&self.sets.get(without)[..], &self.sets.get(with)[..]].concat();
                    self.set(both)?
                }
            }
        };
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert((from, letter), to);
        Ok(to)
    }
}

impl<A: Automaton> Automaton for Completing<A> {
    fn init(&mut self, step0: Letter) -> Result<u32, TooLarge> {
        self.read(None, step0)
    }
    fn step(&mut self, q: u32, letter: Letter) -> Result<u32, TooLarge> {
        self.read(Some(q), letter)
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

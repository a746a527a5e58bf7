//! A complete minimal automaton as a table: one load per step.

use super::automaton::Automaton;
use super::intern::{FastMap, Interner};
use super::letter::{Alphabet, Letter, subsets};
use super::minimise::minimise;
use super::options::Options;
use super::verdict::Verdict;
use super::{Form, Monitor, Q, Size};

/// Letters for which a table is tried at all, as bits of their index.
const MAX_LETTER_BITS: u32 = 12;

/// A complete minimal automaton. A state is the place of its row in the table, its verdict, whether it can still be
/// violated, and whether it can be violated or end unfulfilled, packed: `fail << 28 | violate << 27 | verdict << 24 |
/// place`.
#[derive(Clone, Debug)]
pub struct Table {
    alphabet: Alphabet,
    class: Box<[u16]>,
    width: usize,
    rows: Box<[u32]>,
    first: Box<[u32]>,
    ends: Box<[Verdict]>,
    bits: u32,
}

const PLACE: u64 = (1 << 24) - 1;
const VERDICT: u32 = 24;
const CAN_VIOLATE: u32 = 27;
const CAN_FAIL: u32 = 28;

/// An automaton discovered completely; `None` if it is too large.
struct Discovered {
    letters: Vec<Letter>,
    first: Vec<u32>,
    next: Vec<u32>,
    verdicts: Vec<Verdict>,
    ends: Vec<Verdict>,
}

fn discover(automaton: &mut dyn Automaton, alphabet: &Alphabet, limit: usize) -> Option<Discovered> {
    if alphabet.bits() > MAX_LETTER_BITS {
        return None;
    }
    let letters = alphabet.letters().collect::<Vec<_>>();
    let mut seen = Interner::default();
    let mut first = Vec::with_capacity(letters.len());
    for letter in &letters {
        first.push(seen.intern(automaton.init(*letter).ok()?));
    }
    let mut next = Vec::new();
    let mut at = 0;
    while at < seen.len() {
        // The states seen bound the table from below, so that a large one is noticed early.
        if seen.len() * letters.len() > limit {
            return None;
        }
        let q = *seen.get(at as u32);
        for letter in &letters {
            next.push(seen.intern(automaton.step(q, *letter).ok()?));
        }
        at += 1;
    }
    let states = (0..seen.len()).map(|at| *seen.get(at as u32)).collect::<Vec<_>>();
    Some(Discovered {
        first,
        next,
        verdicts: states.iter().map(|q| automaton.verdict(*q)).collect(),
        ends: states.iter().map(|q| automaton.at_end(*q)).collect(),
        letters,
    })
}

impl Table {
    /// The table of an automaton, or `None` if that would be larger than the limit.
    pub(super) fn build(automaton: &mut dyn Automaton, alphabet: &Alphabet, options: &Options<'_>) -> Option<Self> {
        let found = discover(automaton, alphabet, options.limits.table.min(PLACE as usize))?;
        let (states, width) = (found.verdicts.len(), found.letters.len());

        let kinds = found.verdicts.iter().zip(&found.ends).map(|(v, e)| *v as u32 * 8 + *e as u32).collect::<Vec<_>>();
        let block = minimise(&found.next, width, &kinds);
        let blocks = block.iter().max().map_or(0, |b| *b as usize + 1);
        let mut member = vec![0; blocks];
        for q in (0..states).rev() {
            member[block[q] as usize] = q;
        }

        // Letters with equal columns are one class; what they do at step 0 counts too.
        let mut columns: FastMap<Vec<u32>, u16> = FastMap::default();
        let mut of_letter = Vec::with_capacity(width);
        let mut example = Vec::new();
        for letter in 0..width {
            let mut column = Vec::with_capacity(blocks + 1);
            column.push(block[found.first[letter] as usize]);
            column.extend(member.iter().map(|q| block[found.next[q * width + letter] as usize]));
            let fresh = columns.len() as u16;
            let class = *columns.entry(column).or_insert(fresh);
            if class == fresh {
                example.push(letter);
            }
            of_letter.push(class);
        }
        let mut class = vec![0_u16; 1 << alphabet.bits()];
        for (at, letter) in found.letters.iter().enumerate() {
            // An atom that is unknown is not read as holding, even if a letter says both.
            for both in subsets(letter.unknown) {
                let index = alphabet.index(Letter { holds: letter.holds | both, unknown: letter.unknown });
                class[index as usize] = of_letter[at];
            }
        }

        let violated = |q: usize| found.verdicts[q] == Verdict::Violated;
        let can = can_reach(&found, &block, &member, options, violated);
        let fails = |q: usize| violated(q) || found.ends[q] == Verdict::Unfulfilled;
        let can_fail = can_reach(&found, &block, &member, options, fails);
        let classes = example.len();
        let pack = |b: u32| {
            let b = b as usize;
            let verdict = found.verdicts[member[b]] as u32;
            let can = u32::from(can[b]) << CAN_VIOLATE | u32::from(can_fail[b]) << CAN_FAIL;
            (b * classes) as u32 | verdict << VERDICT | can
        };
        let mut rows = Vec::with_capacity(blocks * classes);
        for q in &member {
            rows.extend(example.iter().map(|letter| pack(block[found.next[q * width + letter] as usize])));
        }
        Some(Self {
            alphabet: alphabet.clone(),
            class: class.into(),
            width: classes,
            rows: rows.into(),
            first: example.iter().map(|letter| pack(block[found.first[*letter] as usize])).collect(),
            ends: member.iter().map(|q| found.ends[*q]).collect(),
            bits: automaton.bits(),
        })
    }

    #[inline(always)]
    fn class(&self, letter: Letter) -> usize {
        usize::from(self.class[self.alphabet.index(letter) as usize])
    }
}

/// The states from which one that is `wanted` can be reached by possible letters. Letters with unknown atoms count as
/// possible.
fn can_reach(
    found: &Discovered,
    block: &[u32],
    member: &[usize],
    options: &Options<'_>,
    wanted: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let width = found.letters.len();
    let possible =
        found.letters.iter().map(|letter| letter.unknown != 0 || (options.possible.later)(letter)).collect::<Vec<_>>();
    let mut into = vec![Vec::new(); member.len()];
    for (from, q) in member.iter().enumerate() {
        let successors = (0..width).filter(|l| possible[*l]).map(|l| block[found.next[q * width + l] as usize]);
        for to in successors {
            into[to as usize].push(from);
        }
    }
    let mut can = member.iter().map(|q| wanted(*q)).collect::<Vec<_>>();
    let mut todo = (0..member.len()).filter(|b| can[*b]).collect::<Vec<_>>();
    while let Some(to) = todo.pop() {
        for from in &into[to] {
            if !std::mem::replace(&mut can[*from], true) {
                todo.push(*from);
            }
        }
    }
    can
}

impl Monitor for Table {
    #[inline]
    fn init(&self, step0: Letter) -> Q {
        u64::from(self.first[self.class(step0)])
    }

    #[inline(always)]
    fn step(&self, q: Q, letter: Letter) -> Q {
        u64::from(self.rows[(q & PLACE) as usize + self.class(letter)])
    }

    #[inline(always)]
    fn verdict(&self, q: Q) -> Verdict {
        Verdict::from_code((q >> VERDICT) as u8 & 7)
    }

    fn at_end(&self, q: Q, _last: Letter) -> Verdict {
        self.ends[(q & PLACE) as usize / self.width]
    }

    #[inline]
    fn can_violate(&self, q: Q) -> bool {
        q >> CAN_VIOLATE & 1 == 1
    }

    #[inline]
    fn can_fail(&self, q: Q) -> bool {
        q >> CAN_FAIL & 1 == 1
    }

    fn gave_up(&self, _q: Q) -> bool {
        false
    }

    fn size(&self) -> Size {
        Size {
            form: Form::Table,
            states: Some(self.ends.len()),
            bits: self.bits,
            letters: self.width,
            bytes: self.rows.len() * 4 + self.first.len() * 4 + self.class.len() * 2 + self.ends.len(),
        }
    }

    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }
}

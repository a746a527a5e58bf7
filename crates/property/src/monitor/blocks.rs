//! A past-time program in a few table lookups: instructions are grouped into blocks with few input bits each.
//!
//! One word holds every signal of a step: the letter's index, the stored bits, and what blocks pass on to later ones.
//! A block gathers its inputs from that word, and its table gives its stored bits and the values it passes on.

use super::letter::{Alphabet, Run, runs};
use super::program::Program;

/// Input bits of one block: its table has two to the power of this many entries.
const MAX_INPUTS: u32 = 11;

#[derive(Clone, Debug)]
struct Block {
    /// Three moves nearly always do (letter, stored bits, passed on), so that they need no loop.
    gather: [Run; 3],
    more: Box<[Run]>,
    table: Box<[u32]>,
    /// How many bits of an entry are stored bits; the others are passed on.
    stored: u32,
    state_at: u32,
    pass_at: u32,
}

/// All the blocks of a program.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    blocks: Box<[Block]>,
    letter_bits: u32,
    root_at: u32,
    root_mask: u64,
    negated: bool,
}

/// Where the value of a register is in the word: the place of its first bit, and of its second if it has one.
#[derive(Clone, Copy)]
struct RegisterBits {
    first: u32,
    second: Option<u32>,
}

impl RegisterBits {
    fn bits(self) -> u64 {
        1 << self.first | self.second.map_or(0, |bit| 1 << bit)
    }

    fn value(self, word: u64) -> u8 {
        (word >> self.first & 1 | self.second.map_or(0, |bit| (word >> bit & 1) << 1)) as u8
    }
}

fn rank(set: u64, atom: u8) -> u32 {
    (set & ((1 << atom) - 1)).count_ones()
}

/// The word being laid out.
struct Layout<'a> {
    program: &'a Program,
    /// Registers whose value is in the word: atoms, and what blocks pass on.
    places: Vec<Option<RegisterBits>>,
    letter_bits: u32,
    first_op: usize,
}

impl Layout<'_> {
    /// The bits of the word that instructions `from..to` look at.
    fn inputs(&self, from: usize, to: usize) -> u64 {
        let mut set = 0;
        for op in &self.program.later()[from..to] {
            for register in [op.a, op.b] {
                if usize::from(register) < self.first_op + from {
                    set |= self.places[usize::from(register)].map_or(0, RegisterBits::bits);
                }
            }
            if op.looks_back {
                set |= u64::from(op.mask) << (self.letter_bits + u32::from(op.bit));
            }
        }
        set
    }

    /// The values of instructions `from..to` and what they store, for one word.
    fn evaluate(&self, from: usize, to: usize, word: u64) -> (Vec<u8>, u64) {
        let mut values = Vec::with_capacity(to - from);
        let mut state = 0;
        for op in &self.program.later()[from..to] {
            let value = |register: u16| {
                let register = usize::from(register);
                if register >= self.first_op + from {
                    values[register - self.first_op - from]
                } else {
                    let value = self.places[register].map_or(0, |place| place.value(word));
                    // An atom that a letter calls both holding and unknown is unknown.
                    if value == 3 { 2 } else { value }
                }
            };
            let pre = if op.looks_back { (word >> (self.letter_bits + u32::from(op.bit))) as u8 & op.mask } else { 0 };
            let (value, store) = op.apply(self.program.three_valued(), value(op.a), value(op.b), pre);
            values.push(value);
            state |= u64::from(store) << op.bit;
        }
        (values, state)
    }
}

impl Blocks {
    /// `None` if the signals do not fit in a word, or there is nothing to compute.
    pub(super) fn new(program: &Program, alphabet: &Alphabet) -> Option<Self> {
        let (used, unknown) = (alphabet.used(), alphabet.unknown());
        let letter_bits = alphabet.bits();
        let mut pass_at = letter_bits + program.bits();
        let ops = program.later();
        let first_op = program.atoms().len() + 1;
        if ops.is_empty() || pass_at > 62 {
            return None;
        }
        let mut places = vec![None];
        for atom in program.atoms() {
            let second = (unknown >> atom & 1 == 1).then(|| used.count_ones() + rank(unknown, *atom));
            places.push(Some(RegisterBits { first: rank(used, *atom), second }));
        }
        let mut layout = Layout { program, places, letter_bits, first_op };
        let (root, negated) = program.root_register(0);

        // The last instruction that looks at each register.
        let mut last_use = vec![0; first_op + ops.len()];
        for (at, op) in ops.iter().enumerate() {
            last_use[usize::from(op.a)] = at;
            last_use[usize::from(op.b)] = at;
        }
        last_use[usize::from(root)] = ops.len();

        let mut blocks = Vec::new();
        let mut from = 0;
        while from < ops.len() {
            let mut to = from + 1;
            while to < ops.len() && layout.inputs(from, to + 1).count_ones() <= MAX_INPUTS {
                to += 1;
            }
            let inputs = layout.inputs(from, to);
            let kept = ops[from..to].iter().filter(|op| op.keeps).map(|op| u64::from(op.mask) << op.bit);
            let kept = kept.fold(0, |set, bits| set | bits);
            let (state_at, stored) = (kept.trailing_zeros() % 64, kept.count_ones());
            let passed = (from..to).filter(|at| last_use[first_op + at] >= to).collect::<Vec<_>>();
            let widths =
                passed.iter().map(|at| 1 + u32::from(program.is_windowed((first_op + at) as u16))).collect::<Vec<_>>();
            let width = widths.iter().sum::<u32>();
            if pass_at + width > 63 || stored + width > 32 || inputs.count_ones() > MAX_INPUTS {
                return None;
            }
            let entry = |index: u64| {
                let word = spread(index, inputs);
                let (values, state) = layout.evaluate(from, to, word);
                let mut entry = (state >> state_at) as u32;
                let mut at = stored;
                for (op, width) in passed.iter().zip(&widths) {
                    entry |= u32::from(values[op - from]) << at;
                    at += width;
                }
                entry
            };
            let table = (0..1_u64 << inputs.count_ones()).map(entry).collect();
            let runs = runs(inputs, 0);
            let gather = [0, 1, 2].map(|at| runs.get(at).copied().unwrap_or_default());
            let more = runs.get(3..).unwrap_or_default().into();
            blocks.push(Block { gather, more, table, stored, state_at, pass_at });
            layout.places.resize(first_op + to, None);
            for (op, width) in passed.iter().zip(widths) {
                let second = (width == 2).then_some(pass_at + 1);
                layout.places[first_op + op] = Some(RegisterBits { first: pass_at, second });
                pass_at += width;
            }
            from = to;
        }
        let place = layout.places[usize::from(root)]?;
        // An atom as the root leaves its two bits apart; such a formula has no instructions anyway.
        if place.second.is_some_and(|second| second != place.first + 1) {
            return None;
        }
        let root_mask = if place.second.is_some() { 3 } else { 1 };
        Some(Self { blocks: blocks.into(), letter_bits, root_at: place.first, root_mask, negated })
    }

    /// The stored bits after a step, and the value of the formula there.
    #[inline(always)]
    pub(super) fn step(&self, bits: u64, letter: u64) -> (u64, u8) {
        let mut word = letter | bits << (self.letter_bits & 63);
        let mut after = 0;
        for block in &self.blocks {
            let [a, b, c] = block.gather.map(|run| run.of(word));
            let mut index = a | b | c;
            for run in &block.more {
                index |= run.of(word);
            }
            let entry = u64::from(block.table[index as usize]);
            let passed = entry >> (block.stored & 63);
            after |= (entry ^ passed << (block.stored & 63)) << (block.state_at & 63);
            word |= passed << (block.pass_at & 63);
        }
        let value = (word >> (self.root_at & 63) & self.root_mask) as u8;
        (after, if self.negated && value < 2 { value ^ 1 } else { value })
    }

    /// Memory that the tables take.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.table.len() * 4).sum()
    }
}

/// The bits of an index, spread to the places of a set: the inverse of gathering.
fn spread(index: u64, mut set: u64) -> u64 {
    let mut word = 0;
    let mut at = 0;
    while set != 0 {
        let bit = set & set.wrapping_neg();
        if index >> at & 1 == 1 {
            word |= bit;
        }
        set ^= bit;
        at += 1;
    }
    word
}

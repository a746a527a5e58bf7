//! Past-time formulas, judged at every step (docs/semantics.md, "Past-time operators").

use super::automaton::{Automaton, finish};
use super::blocks::Blocks;
use super::intern::Interner;
use super::leaves::atoms;
use super::letter::{Alphabet, Letter};
use super::options::{CompileError, Options, TooLarge};
use super::program::Program;
use super::verdict::Verdict;
use super::{AnyMonitor, Form, Monitor, Q, Size, Table};
use crate::Formula;

/// Compiles "`formula` at every step". The first step where it is definitely false is a violation, for ever. The end
/// of a run adds nothing.
pub fn past(formula: &Formula, options: &Options<'_>) -> Result<AnyMonitor, CompileError> {
    let used = atoms(formula)?;
    let program = Program::new(&[formula], options.unknown)?;
    let alphabet = Alphabet::new(used, options.unknown);
    if program.bits() > STATE_BITS {
        return finish(Box::new(Wide::new(program, options.limits.states)), used, options);
    }
    let blocks = Blocks::new(&program, &alphabet);
    let monitor = PastMonitor { program, alphabet: alphabet.clone(), blocks };
    let mut automaton = Explored { monitor, states: Interner::default() };
    if let Some(table) = Table::build(&mut automaton, &alphabet, options) {
        return Ok(AnyMonitor::Table(table));
    }
    Ok(AnyMonitor::Past(automaton.monitor))
}

/// Bits of a state that operators can have; two are for the verdict.
const STATE_BITS: u32 = 62;
/// The only violated state.
const VIOLATED: Q = 1 << 63;
/// The formula was unknown at some step.
const DOUBT: Q = 1 << 62;

/// A past-time formula, evaluated at each step: one bit of state per temporal operator, two if it can be unknown.
#[derive(Clone, Debug)]
pub struct PastMonitor {
    program: Program,
    alphabet: Alphabet,
    blocks: Option<Blocks>,
}

#[inline(always)]
fn judge(value: u8, bits: Q, doubt: Q) -> Q {
    match value {
        0 => VIOLATED,
        1 => bits | doubt,
        _ => bits | DOUBT,
    }
}

impl Monitor for PastMonitor {
    fn init(&self, step0: Letter) -> Q {
        let mut bits = 0;
        let value = self.program.init(&mut bits, step0, |regs| self.program.root(0, regs));
        judge(value, bits, 0)
    }

    #[inline]
    fn step(&self, q: Q, letter: Letter) -> Q {
        if q == VIOLATED {
            return q;
        }
        if let Some(blocks) = &self.blocks {
            let (bits, value) = blocks.step(q & !DOUBT, self.alphabet.index(letter));
            return judge(value, bits, q & DOUBT);
        }
        let mut bits = 0;
        let value = self.program.step(&q, &mut bits, letter, |regs| self.program.root(0, regs));
        judge(value, bits, q & DOUBT)
    }

    #[inline]
    fn verdict(&self, q: Q) -> Verdict {
        match q {
            VIOLATED => Verdict::Violated,
            q if q & DOUBT != 0 => Verdict::Unknown,
            _ => Verdict::Pending,
        }
    }

    fn at_end(&self, q: Q, _last: Letter) -> Verdict {
        self.verdict(q)
    }

    fn can_violate(&self, _q: Q) -> bool {
        true
    }

    fn can_fail(&self, q: Q) -> bool {
        self.can_violate(q)
    }

    fn gave_up(&self, _q: Q) -> bool {
        false
    }

    fn size(&self) -> Size {
        Size {
            form: Form::Program,
            states: None,
            bits: self.program.bits(),
            letters: 1_usize.checked_shl(self.alphabet.bits()).unwrap_or(usize::MAX),
            bytes: self.program.bytes() + self.blocks.as_ref().map_or(0, Blocks::bytes),
        }
    }

    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }
}

/// The monitor as an automaton, for a table.
struct Explored {
    monitor: PastMonitor,
    states: Interner<Q>,
}

impl Automaton for Explored {
    fn init(&mut self, step0: Letter) -> Result<u32, TooLarge> {
        Ok(self.states.intern(self.monitor.init(step0)))
    }
    fn step(&mut self, q: u32, letter: Letter) -> Result<u32, TooLarge> {
        Ok(self.states.intern(self.monitor.step(*self.states.get(q), letter)))
    }
    fn verdict(&mut self, q: u32) -> Verdict {
        self.monitor.verdict(*self.states.get(q))
    }
    fn at_end(&mut self, q: u32) -> Verdict {
        self.verdict(q)
    }
    fn bits(&self) -> u32 {
        self.monitor.program.bits()
    }
}

/// A formula with more bits than a word has; its states are interned.
struct Wide {
    program: Program,
    blank: Box<[u64]>,
    states: Interner<(Box<[u64]>, Verdict)>,
    limit: usize,
}

impl Wide {
    fn new(program: Program, limit: usize) -> Self {
        let blank = program.blank();
        Self { program, blank, states: Interner::default(), limit }
    }

    fn state(&mut self, bits: Box<[u64]>, value: u8, before: Verdict) -> Result<u32, TooLarge> {
        let state = match value {
            0 => (self.blank.clone(), Verdict::Violated),
            1 => (bits, before),
            _ => (bits, Verdict::Unknown),
        };
        let id = self.states.intern(state);
        if self.states.len() > self.limit { Err(TooLarge) } else { Ok(id) }
    }
}

impl Automaton for Wide {
    fn init(&mut self, step0: Letter) -> Result<u32, TooLarge> {
        let mut bits = self.blank.clone();
        let value = self.program.init(&mut bits, step0, |regs| self.program.root(0, regs));
        self.state(bits, value, Verdict::Pending)
    }
    fn step(&mut self, q: u32, letter: Letter) -> Result<u32, TooLarge> {
        let (before, verdict) = self.states.get(q);
        if *verdict == Verdict::Violated {
            return Ok(q);
        }
        let (mut bits, verdict) = (self.blank.clone(), *verdict);
        let value = self.program.step(before, &mut bits, letter, |regs| self.program.root(0, regs));
        self.state(bits, value, verdict)
    }
    fn verdict(&mut self, q: u32) -> Verdict {
        self.states.get(q).1
    }
    fn at_end(&mut self, q: u32) -> Verdict {
        self.verdict(q)
    }
    fn bits(&self) -> u32 {
        self.program.bits()
    }
}

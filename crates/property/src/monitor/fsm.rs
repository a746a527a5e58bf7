//! Explicit nondeterministic machines: the set of states that the paths so far lead to.
//!
//! docs/semantics.md, "Explicit machines", defines when a run violates one.

use super::AnyMonitor;
use super::automaton::{Product, Reader, complete};
use super::intern::Interner;
use super::leaves::{LeafSet, atoms};
use super::options::{CompileError, Options, TooLarge};
use super::verdict::Verdict;
use crate::{Fsm, Guard, Otherwise};

/// Compiles a machine: violated once some path has reached the bad state. A path that no transition continues, where
/// the machine says `die` or nothing, has ended safely.
pub fn fsm(machine: &Fsm, options: &Options<'_>) -> Result<AnyMonitor, CompileError> {
    let states = machine.states.len();
    let check = |state: usize| if state < states { Ok(()) } else { Err(CompileError::NoSuchState { state, states }) };
    check(machine.init)?;
    check(machine.bad)?;
    let mut used = 0;
    let mut leaves = LeafSet::default();
    let mut moves = Vec::with_capacity(states);
    for state in &machine.states {
        let mut of_state = Moves { guarded: Vec::new(), otherwise: None };
        for (guard, targets) in &state.transitions {
            targets.iter().try_for_each(|to| check(*to))?;
            let targets = targets.iter().map(|to| *to as u32);
            match guard {
                Guard::If(formula) => {
                    used |= atoms(formula)?;
                    of_state.guarded.push((leaves.add(formula)?, targets.collect()));
                }
                Guard::Else => of_state.otherwise.get_or_insert_default().extend(targets),
            }
        }
        moves.push(of_state);
    }
    let mut sets = Interner::default();
    sets.intern(Box::from([]));
    sets.intern(Box::from([machine.bad as u32]));
    let subsets = Subsets {
        moves,
        init: machine.init as u32,
        bad: machine.bad as u32,
        otherwise: machine.otherwise,
        sets,
        limit: options.limits.states,
    };
    complete(Product::new(leaves.finish()?, subsets, &options.limits), used, options)
}

struct Moves {
    guarded: Vec<(u32, Box<[u32]>)>,
    /// Where a letter leads that no guard takes.
    otherwise: Option<Vec<u32>>,
}

/// No path is left.
const DEAD: u32 = 0;
/// Some path is bad.
const BAD: u32 = 1;

struct Subsets {
    moves: Vec<Moves>,
    init: u32,
    bad: u32,
    otherwise: Option<Otherwise>,
    sets: Interner<Box<[u32]>>,
    limit: usize,
}

impl Subsets {
    fn set(&mut self, mut states: Vec<u32>) -> Result<u32, TooLarge> {
        if states.contains(&self.bad) {
            return Ok(BAD);
        }
        states.sort_unstable();
        states.dedup();
        let id = self.sets.intern(states.into());
        if self.sets.len() > self.limit { Err(TooLarge) } else { Ok(id) }
    }
}

impl Reader for Subsets {
    fn init(&mut self, _leaves: u64) -> Result<u32, TooLarge> {
        self.set(vec![self.init])
    }
    fn step(&mut self, q: u32, leaves: u64) -> Result<u32, TooLarge> {
        let mut after = Vec::new();
        for state in self.sets.get(q) {
            let moves = &self.moves[*state as usize];
            let mut taken = false;
            for (_, targets) in moves.guarded.iter().filter(|(leaf, _)| leaves >> leaf & 1 == 1) {
                taken = true;
                after.extend_from_slice(targets);
            }
            if taken {
                continue;
            }
            match (&moves.otherwise, self.otherwise) {
                (Some(targets), _) => after.extend_from_slice(targets),
                (None, Some(Otherwise::Stay)) => after.push(*state),
                (None, Some(Otherwise::Bad)) => after.push(self.bad),
                (None, Some(Otherwise::Die) | None) => {}
            }
        }
        self.set(after)
    }
    fn verdict(&self, q: u32) -> Verdict {
        if q == BAD { Verdict::Violated } else { Verdict::Pending }
    }
    fn at_end(&self, q: u32) -> Verdict {
        self.verdict(q)
    }
    fn is_sink(&self, q: u32) -> bool {
        q == BAD || q == DEAD
    }
}

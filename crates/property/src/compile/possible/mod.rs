//! The letters that a property can meet on some run, and which can follow which.
//!
//! A step is one event: it writes one variable, event atoms exclude each other, and what is declared to hold at first
//! does. Atoms over several variables are not related to each other, so that more is thought possible than is, never
//! less.

mod stepwise;
mod together;
mod values;

use crate::check::{
    Atom, Expr, ExprKind, ParamId, Property, Settings, Spec, Steps, Valuation, Value, VarId, VarRef, VariableKind,
    holds,
};
use crate::monitor::{Exploration, Letter, Monitor, Possible};
use std::collections::BTreeSet;
use values::OneVariable;

/// What the kinds of a property's atoms alone say.
pub(super) struct Kinds {
    events: u64,
    states: u64,
    all: bool,
}

impl Kinds {
    pub(super) fn new(property: &Property, settings: &Settings) -> Kinds {
        let events = mask(property, |atom| matches!(atom, Atom::Event(_)));
        let states = mask(property, |atom| !matches!(atom, Atom::Event(_)));
        Kinds { events, states, all: settings.steps == Some(Steps::All) }
    }

    pub(super) fn at_start(&self, letter: &Letter) -> bool {
        letter.holds & self.events == 0
    }

    /// With relevant steps, an event that makes no atom true can still be a step: a write of a variable.
    pub(super) fn later(&self, letter: &Letter) -> bool {
        self.all || self.states != 0 || letter.holds & self.events != 0
    }
}

/// The atoms of a kind, as bits.
pub(super) fn mask(property: &Property, wanted: fn(&Atom) -> bool) -> u64 {
    let atoms = property.atoms.iter().enumerate().take(64).filter(|(_, (atom, _))| wanted(atom));
    atoms.fold(0, |set, (i, _)| set | 1u64 << i)
}

/// The letters that a property can meet.
pub struct Letters {
    kinds: Kinds,
    /// Atoms that what is declared decides at step 0, and those of them that hold.
    decided: u64,
    first: u64,
    values: Vec<OneVariable>,
    exclusions: Vec<u64>,
    /// Atoms that do not change once they hold.
    lasting: u64,
    /// State atoms that can change at any step.
    free: u64,
    /// For each variable: the state atoms that its writes can change, and the event atoms that they can make true.
    writes: Vec<(u64, u64)>,
}

impl Letters {
    /// Those of a property with these settings.
    pub fn new(spec: &Spec, property: &Property, settings: &Settings) -> Letters {
        let kinds = Kinds::new(property, settings);
        let lasting = mask(property, |atom| matches!(atom, Atom::Instance(_)));
        let (mut decided, mut first, mut free) = (0, 0, 0);
        let mut variables: BTreeSet<VarId> = BTreeSet::new();
        for (number, (atom, _)) in property.atoms.iter().enumerate().take(64) {
            let bit = 1u64 << number;
            match atom {
                Atom::State(expr) => {
                    if let Ok(truth) = holds(expr, &Declared(spec)) {
                        decided |= bit;
                        first |= if truth { bit } else { 0 };
                    }
                    let mentioned = expr.variables();
                    if mentioned.iter().any(|var| is_free(spec, property, var)) {
                        free |= bit;
                    }
                    variables.extend(mentioned.iter().map(|var| var.var));
                }
                // Parameters stand for nothing yet.
                Atom::Instance(expr) if mentions_parameters(expr) => decided |= bit,
                Atom::Instance(_) | Atom::Event(_) => {}
            }
        }
        let writes = variables.into_iter().map(|written| write(spec, property, written)).collect();
        let values = values::by_variable(spec, property);
        let exclusions = together::exclusions(spec, property);
        Letters { kinds, decided, first, values, exclusions, lasting, free, writes }
    }

    /// Whether step 0 can have this letter.
    pub fn at_start(&self, letter: &Letter) -> bool {
        self.kinds.at_start(letter) && letter.holds & self.decided == self.first && self.consistent(letter)
    }

    /// Whether a later step can have this letter.
    pub fn later(&self, letter: &Letter) -> bool {
        self.kinds.later(letter) && self.consistent(letter)
    }

    /// Whether the one can be the letter of a step, and the other that of the next.
    pub fn follows(&self, before: &Letter, after: &Letter) -> bool {
        if before.holds & !after.holds & self.lasting != 0 {
            return false;
        }
        let changed = (before.holds ^ after.holds) & self.kinds.states & !self.lasting & !self.free;
        let events = after.holds & self.kinds.events;
        changed == 0 || self.writes.iter().any(|(changes, fits)| changed & !changes == 0 && events & !fits == 0)
    }

    fn consistent(&self, letter: &Letter) -> bool {
        let apart = |(bit, excluded): (usize, &u64)| letter.holds >> bit & 1 == 0 || letter.holds & excluded == 0;
        self.values.iter().all(|one| one.allows(letter.holds)) && self.exclusions.iter().enumerate().all(apart)
    }

    /// Explores a monitor by these letters, each step on its own: what an automaton looks like.
    pub fn automaton(&self, monitor: &impl Monitor, limit: usize) -> Exploration {
        let possible = Possible { at_start: &|letter| self.at_start(letter), later: &|letter| self.later(letter) };
        Exploration::new(monitor, possible, limit)
    }

    /// Explores a monitor by runs whose steps can follow each other: what can happen.
    pub fn runs(&self, monitor: &impl Monitor, limit: usize) -> Exploration {
        self.automaton(&stepwise::Stepwise::new(monitor, self), limit)
    }

    /// The atoms that a step takes from the one before, if nothing happens to them.
    fn states(&self) -> u64 {
        self.kinds.states
    }
}

/// Whether a variable can change at a step that does not write it, as far as an instance sees.
fn is_free(spec: &Spec, property: &Property, var: &VarRef) -> bool {
    let Some(variable) = spec.variables.get(var.var as usize) else { return true };
    // No event writes what has no place; and an instance of several parameters can be made from one that did not see
    // all of the variables.
    variable.place.is_none() || var.index.is_some() && property.params.len() > 1
}

/// The state atoms and the event atoms that a write of the variable can touch.
fn write(spec: &Spec, property: &Property, written: VarId) -> (u64, u64) {
    let place = |var: VarId| spec.variables.get(var as usize).and_then(|v| v.place.as_ref());
    let same = |var: VarId| var == written || together::one_place(place(var), place(written));
    let (mut changes, mut fits) = (0, 0);
    for (number, (atom, _)) in property.atoms.iter().enumerate().take(64) {
        match atom {
            Atom::State(expr) if expr.variables().iter().any(|var| same(var.var)) => changes |= 1u64 << number,
            Atom::Event(pattern) if together::can_write(pattern, same) => fits |= 1u64 << number,
            _ => {}
        }
    }
    (changes, fits)
}

fn mentions_parameters(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::Param(_)));
    found
}

/// The valuation of step 0 as far as the specification says.
struct Declared<'a>(&'a Spec);

impl Valuation for Declared<'_> {
    fn variable(&self, var: &VarRef) -> Value<'_> {
        match self.0.variables.get(var.var as usize) {
            Some(v) if v.kind == VariableKind::Region => Value::Bool(false),
            Some(v) => v.init.as_ref().map_or(Value::Unknown, values::value),
            None => Value::Unknown,
        }
    }

    fn param(&self, _: ParamId) -> Value<'_> {
        Value::Unknown
    }
}

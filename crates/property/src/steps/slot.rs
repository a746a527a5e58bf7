//! What the variables of an instance can hold, as coarsely as its atoms allow.
//!
//! A variable whose atoms mention no other variable is kept as the truth of these atoms: `x > 0` has three values,
//! however many numbers are written. Variables that share an atom keep what they hold.

use super::SpecContext;
use crate::bind::subject::Subject;
use crate::bind::values::{HeldValue, Key, View, value};
use crate::check::{Arg, Atom, Expr, ExprKind, ParamId, Property, Valuation, Value, VarRef, holds};
use crate::monitor::Letter;
use event::{Space, ThreadId};
use std::collections::HashMap;

/// A state atom.
pub(super) struct StateAtom {
    pub(super) bit: u64,
    pub(super) expr: Expr,
    /// The variables that it mentions, as numbers of [`Property::relevant`]'s.
    pub(super) slots: Vec<usize>,
    /// The parameters that it compares with, as bits.
    pub(super) params: u64,
}

/// The state atoms of a property, by what has to be known for them.
pub(super) struct StateAtoms {
    /// By variable: the atoms over it, if none of them mentions another one.
    pub(super) alone: Vec<Option<Vec<StateAtom>>>,
    /// The other atoms.
    pub(super) over_several: Vec<StateAtom>,
}

impl StateAtoms {
    pub(super) fn new(property: &Property) -> StateAtoms {
        let variables = &property.relevant.variables;
        let mut atoms = Vec::new();
        for (number, (atom, _)) in property.atoms.iter().enumerate() {
            let Atom::State(expr) = atom else { continue };
            let mut params = 0;
            expr.walk(&mut |e| {
                if let ExprKind::Param(param) = e.kind {
                    params |= 1u64.checked_shl(param).unwrap_or(0);
                }
            });
            let slots = expr.variables().into_iter().filter_map(|var| variables.iter().position(|v| v == var));
            atoms.push(StateAtom { bit: 1 << number, slots: slots.collect(), params, expr: expr.clone() });
        }
        let shared = |slot: usize| atoms.iter().any(|atom| atom.slots.len() > 1 && atom.slots.contains(&slot));
        let mut alone: Vec<Option<Vec<StateAtom>>> =
            (0..variables.len()).map(|slot| (!shared(slot)).then(Vec::new)).collect();
        let mut over_several = Vec::new();
        for atom in atoms {
            match atom.slots[..] {
                [slot] if alone[slot].is_some() => alone[slot].get_or_insert_default().push(atom),
                _ => over_several.push(atom),
            }
        }
        StateAtoms { alone, over_several }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &StateAtom> {
        self.alone.iter().flatten().flatten().chain(&self.over_several)
    }
}

/// What an atom is evaluated on: some way to look variables up.
pub(super) struct At<'a, F> {
    pub(super) context: &'a SpecContext,
    pub(super) binding: &'a [Option<Subject>],
    pub(super) held: F,
}

impl<F: Fn(&VarRef) -> HeldValue> Valuation for At<'_, F> {
    fn variable(&self, var: &VarRef) -> Value<'_> {
        value((self.held)(var), self.context.spec.variables[var.var as usize].ty, &self.context.objects)
    }

    fn param(&self, param: ParamId) -> Value<'_> {
        let subject = self.binding.get(param as usize).copied().flatten();
        subject.map_or(Value::Unknown, |subject| self.context.objects.value(subject))
    }

    fn thread(&self, name: &str) -> Value<'_> {
        let number = self.context.threads.space(Space::Thread).find(name.as_bytes());
        number.map_or(Value::Unknown, |number| self.context.objects.value(Subject::Thread(ThreadId(number))))
    }
}

impl SpecContext {
    /// Initial values as an instance sees them.
    pub(super) fn view<'a>(&'a self, binding: &'a [Option<Subject>]) -> View<'a> {
        let SpecContext { spec, threads, objects, values } = self;
        View { spec, names: threads, values, objects, binding }
    }
}

/// Adds the truth of an atom to a letter.
pub(super) fn judge(letter: &mut Letter, bit: u64, expr: &Expr, at: &impl Valuation) {
    match holds(expr, at) {
        Ok(true) => letter.holds |= bit,
        Ok(false) => {}
        Err(_) => letter.unknown |= bit,
    }
}

/// A variable of an instance.
pub(super) struct Slot {
    pub(super) var: VarRef,
    pub(super) key: Option<Key>,
    /// The parameter that its index is.
    pub(super) param: Option<ParamId>,
    /// What it holds before the first write where nothing is given for its name, and the atoms over it alone then.
    pub(super) generic: HeldValue,
    pub(super) generic_letter: Letter,
    /// The number of what it holds at first.
    pub(super) initial: u32,
    /// By number: what it holds, or of that only the atoms over it alone.
    pub(super) values: Vec<(HeldValue, Letter)>,
    numbers: HashMap<HeldValue, u32>,
    by_letter: Option<HashMap<(u64, u64), u32>>,
}

impl Slot {
    pub(super) fn new(
        context: &SpecContext,
        atoms: &StateAtoms,
        slot: usize,
        var: &VarRef,
        binding: &[Option<Subject>],
    ) -> Slot {
        let key = context.view(binding).key(var);
        let generic = context.values.initial(var.var);
        let initial = key.map_or(generic, |key| context.values.get(key));
        let param = match var.index {
            Some(Arg::Param(param)) => Some(param),
            _ => None,
        };
        let mut made = Slot {
            var: var.clone(),
            key,
            param,
            generic,
            generic_letter: Letter::default(),
            initial: 0,
            values: Vec::new(),
            numbers: HashMap::new(),
            by_letter: atoms.alone[slot].is_some().then(HashMap::new),
        };
        made.generic_letter = made.letter(context, atoms.alone[slot].as_deref(), binding, generic);
        made.initial = made.number(context, atoms.alone[slot].as_deref(), binding, initial);
        made
    }

    fn letter(
        &self,
        context: &SpecContext,
        alone: Option<&[StateAtom]>,
        binding: &[Option<Subject>],
        held: HeldValue,
    ) -> Letter {
        let at = At { context, binding, held: |_: &VarRef| held };
        let mut letter = Letter::default();
        alone.unwrap_or_default().iter().for_each(|atom| judge(&mut letter, atom.bit, &atom.expr, &at));
        letter
    }

    /// The number of something that it holds.
    pub(super) fn number(
        &mut self,
        context: &SpecContext,
        alone: Option<&[StateAtom]>,
        binding: &[Option<Subject>],
        held: HeldValue,
    ) -> u32 {
        if let Some(&number) = self.numbers.get(&held) {
            return number;
        }
        let letter = self.letter(context, alone, binding, held);
        let fresh = self.values.len() as u32;
        let number = match &mut self.by_letter {
            Some(known) => *known.entry((letter.holds, letter.unknown)).or_insert(fresh),
            None => fresh,
        };
        if number == fresh {
            self.values.push((held, letter));
        }
        self.numbers.insert(held, number);
        number
    }
}

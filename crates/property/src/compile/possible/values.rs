//! Which comparisons of one variable with constants can hold together.

use crate::check::{Atom, Const, Expr, ExprKind, ParamId, Property, Spec, Valuation, Value, VarRef, holds};
use crate::syntax::ast::Type;
use std::collections::BTreeSet;

/// The comparisons of one variable.
pub(super) struct OneVariable {
    /// Their atoms.
    mask: u64,
    /// The sets of them that hold for some value.
    patterns: BTreeSet<u64>,
}

impl OneVariable {
    pub(super) fn allows(&self, holds: u64) -> bool {
        self.patterns.contains(&(holds & self.mask))
    }
}

/// The variables that are compared with constants only by what can hold together. Atoms over more are left out.
pub(super) fn by_variable(spec: &Spec, property: &Property) -> Vec<OneVariable> {
    let mut found: Vec<(&VarRef, Vec<(usize, &Expr)>)> = Vec::new();
    for (bit, (atom, _)) in property.atoms.iter().enumerate().take(64) {
        let Atom::State(expr) = atom else { continue };
        let Some(var) = compared(expr) else { continue };
        match found.iter_mut().find(|(v, _)| *v == var) {
            Some((_, atoms)) => atoms.push((bit, expr)),
            None => found.push((var, vec![(bit, expr)])),
        }
    }
    let groups = found.into_iter().filter_map(|(var, atoms)| {
        let ty = spec.variables.get(var.var as usize)?.ty;
        let constants: Vec<&Const> = atoms.iter().flat_map(|(_, expr)| constants(expr)).collect();
        let mask = atoms.iter().fold(0, |mask, (bit, _)| mask | 1u64 << bit);
        let mut patterns = BTreeSet::new();
        for value in candidates(ty, &constants)? {
            let at = Holding(&value);
            // Where a comparison has no truth value, this is not a value of the variable.
            let pattern = atoms.iter().try_fold(0, |set, (bit, expr)| {
                holds(expr, &at).map(|holds| if holds { set | 1u64 << bit } else { set })
            });
            patterns.extend(pattern);
        }
        (!patterns.is_empty()).then_some(OneVariable { mask, patterns })
    });
    groups.collect()
}

/// The variable, if the expression is one or compares one with a constant.
fn compared(expr: &Expr) -> Option<&VarRef> {
    match &expr.kind {
        ExprKind::Var(var) => Some(var),
        ExprKind::Compare(_, a, b) => match (&a.kind, &b.kind) {
            (ExprKind::Var(var), other) | (other, ExprKind::Var(var)) => is_constant(other).then_some(var),
            _ => None,
        },
        _ => None,
    }
}

fn is_constant(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Const(_) => true,
        ExprKind::Neg(e) => is_constant(&e.kind),
        _ => false,
    }
}

fn constants(expr: &Expr) -> Vec<&Const> {
    let mut found = Vec::new();
    expr.walk(&mut |e| {
        if let ExprKind::Const(c) = &e.kind {
            found.push(c);
        }
    });
    found
}

/// Values of the variable, one at least for each way to lie among the constants and their negations.
fn candidates(ty: Option<Type>, constants: &[&Const]) -> Option<Vec<Const>> {
    let mut values = Vec::new();
    match ty {
        Some(Type::Bool) => values.extend([Const::Bool(false), Const::Bool(true)]),
        Some(Type::Int) => {
            let near = |n: i64| [n.saturating_sub(1), n, n.saturating_add(1)].map(Const::Int);
            values.extend(near(0));
            for constant in constants {
                match constant {
                    Const::Int(n) => values.extend(near(*n).into_iter().chain(near(n.saturating_neg()))),
                    Const::Real(r) => {
                        values.extend([*r, -*r].into_iter().flat_map(|r| near(r.floor() as i64)));
                    }
                    Const::Bool(_) | Const::Str(_) => {}
                }
            }
        }
        Some(Type::Real) => {
            let near = |r: f64| [r.next_down(), r, r.next_up()].map(Const::Real);
            values.extend(near(0.0));
            for constant in constants {
                let r = match constant {
                    Const::Int(n) => *n as f64,
                    Const::Real(r) => *r,
                    Const::Bool(_) | Const::Str(_) => continue,
                };
                values.extend([r, -r].into_iter().flat_map(near));
            }
        }
        Some(Type::String) => {
            values.push(Const::Str(String::new()));
            for constant in constants {
                if let Const::Str(s) = constant {
                    // Nothing lies between a string and itself with the least character behind it.
                    values.extend([Const::Str(s.clone()), Const::Str(format!("{s}\0"))]);
                }
            }
        }
        Some(Type::Ref) | None => return None,
    }
    Some(values)
}

/// The only variable holds this.
struct Holding<'a>(&'a Const);

impl Valuation for Holding<'_> {
    fn variable(&self, _: &VarRef) -> Value<'_> {
        value(self.0)
    }

    fn param(&self, _: ParamId) -> Value<'_> {
        Value::Unknown
    }
}

pub(super) fn value(constant: &Const) -> Value<'_> {
    match constant {
        Const::Bool(b) => Value::Bool(*b),
        Const::Int(n) => Value::Int(*n),
        Const::Real(r) => Value::Real(*r),
        Const::Str(s) => Value::Str(s),
    }
}

//! Formulas with names resolved and types checked, before they become those of one logic. MTTL properties stay so.

use super::expr::{Expr, ParamId};
use crate::syntax::ast::{ListOp, Quantifier, UnOp};
use crate::{AtomId, Formula};

/// Temporal and logical operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the words of the language")]
pub enum Connective {
    Iff,
    Implies,
    Since,
    WSince,
    Until,
    WUntil,
    Releases,
    Interval,
    WInterval,
}

/// A checked formula over numbered atoms.
#[derive(Clone, PartialEq, Debug)]
pub enum Typed {
    /// `true` or `false`.
    Const(bool),
    /// A predicate on the current step.
    Atom(AtomId),
    /// Every unary operator but minus.
    Unary(UnOp, Box<Typed>),
    /// Two operands.
    Binary(Connective, Box<Typed>, Box<Typed>),
    /// `&&` and `||`
    List(ListOp, Vec<Typed>),
    /// `@j f`
    At(ParamId, Box<Typed>),
    /// `exists j … . f` over the threads known, those that pass the filter if there is one.
    Quant(Quantifier, ParamId, Option<Expr>, Box<Typed>),
}

impl Typed {
    /// As a formula; `None` for what only MTTL has.
    pub fn to_formula(&self) -> Option<Formula> {
        Some(match self {
            Typed::Const(value) => Formula::Const(*value),
            Typed::Atom(atom) => Formula::Atom(*atom),
            Typed::Unary(op, operand) => {
                let f = Box::new(operand.to_formula()?);
                match op {
                    UnOp::Not => Formula::Not(f),
                    UnOp::Prev => Formula::Prev(f),
                    UnOp::Yesterday => Formula::Yesterday(f),
                    UnOp::WYesterday => Formula::WYesterday(f),
                    UnOp::Once => Formula::Once(f),
                    UnOp::Hist => Formula::Hist(f),
                    UnOp::Start => Formula::Start(f),
                    UnOp::End => Formula::End(f),
                    UnOp::Always => Formula::Always(f),
                    UnOp::Eventually => Formula::Eventually(f),
                    UnOp::Next => Formula::Next(f),
                    UnOp::WNext => Formula::WNext(f),
                    UnOp::Neg => return None,
                }
            }
            Typed::Binary(op, left, right) => {
                let (f, g) = (Box::new(left.to_formula()?), Box::new(right.to_formula()?));
                match op {
                    Connective::Iff => Formula::Iff(f, g),
                    Connective::Implies => Formula::Implies(f, g),
                    Connective::Since => Formula::Since(f, g),
                    Connective::WSince => Formula::WSince(f, g),
                    Connective::Until => Formula::Until(f, g),
                    Connective::WUntil => Formula::WUntil(f, g),
                    Connective::Releases => Formula::Releases(f, g),
                    Connective::Interval => Formula::Interval(f, g),
                    Connective::WInterval => Formula::WInterval(f, g),
                }
            }
            Typed::List(op, list) => balanced(*op, list)?,
            Typed::At(..) | Typed::Quant(..) => return None,
        })
    }
}

/// Halves a long list at each level, so that a thousand conjuncts are ten levels deep and not a thousand.
fn balanced(op: ListOp, list: &[Typed]) -> Option<Formula> {
    match list {
        [] => Some(Formula::Const(op == ListOp::And)),
        [one] => one.to_formula(),
        _ => {
            let (left, right) = list.split_at(list.len().div_ceil(2));
            let (f, g) = (Box::new(balanced(op, left)?), Box::new(balanced(op, right)?));
            Some(match op {
                ListOp::And => Formula::And(f, g),
                ListOp::Or => Formula::Or(f, g),
            })
        }
    }
}

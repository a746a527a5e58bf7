//! Formulas and regular expressions, with as few parentheses as the grammar needs.

use super::{quote, sort_text};
use crate::syntax::ast::{BinOp, Domain, Ere, EreKind, Expr, ExprKind, ListOp, Repeat, UnOp};
use std::fmt::Write as _;

/// A formula or value as text.
pub fn print_expr(expr: &Expr) -> String {
    let mut out = String::new();
    write_expr(&mut out, expr, 0);
    out
}

/// A regular expression as text.
pub fn print_ere(ere: &Ere) -> String {
    let mut out = String::new();
    write_ere(&mut out, ere, 0);
    out
}

// Levels of the grammar, loosest first.
const IFF: u8 = 0;
const IMPLIES: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const TEMPORAL: u8 = 4;
const UNARY: u8 = 5;
const COMPARISON: u8 = 6;
const SUM: u8 = 7;
const PRODUCT: u8 = 8;
const NEGATED: u8 = 9;
const ATOM: u8 = 10;

/// The level of a binary operator and the lowest levels of its operands.
fn levels(op: BinOp) -> (u8, u8, u8) {
    match op {
        BinOp::Iff => (IFF, IFF, IMPLIES),
        BinOp::Implies => (IMPLIES, OR, IMPLIES),
        BinOp::Since | BinOp::WSince | BinOp::Until | BinOp::WUntil | BinOp::Releases => (TEMPORAL, UNARY, TEMPORAL),
        BinOp::Eq | BinOp::Ne | BinOp::Le | BinOp::Ge | BinOp::Lt | BinOp::Gt => (COMPARISON, SUM, SUM),
        BinOp::Add | BinOp::Sub => (SUM, SUM, PRODUCT),
        BinOp::Mul | BinOp::Div | BinOp::Rem => (PRODUCT, PRODUCT, NEGATED),
    }
}

fn level(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Binary(op, ..) => levels(*op).0,
        ExprKind::List(ListOp::And, _) => AND,
        ExprKind::List(ListOp::Or, _) => OR,
        ExprKind::Unary(UnOp::Start | UnOp::End, ..) => ATOM,
        ExprKind::Unary(UnOp::Neg, ..) => NEGATED,
        ExprKind::Unary(..) | ExprKind::Quant(..) => UNARY,
        _ => ATOM,
    }
}

fn write_expr(out: &mut String, expr: &Expr, lowest: u8) {
    let parentheses = level(expr) < lowest;
    if parentheses {
        out.push('(');
    }
    match &expr.kind {
        ExprKind::Int(value) => {
            let _ = write!(out, "{value}");
        }
        ExprKind::Real(value) => {
            let _ = write!(out, "{value:?}");
        }
        ExprKind::Str(value) => out.push_str(&quote(value)),
        ExprKind::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        ExprKind::Name(name) => out.push_str(name),
        ExprKind::Index(name, index) => {
            let _ = write!(out, "{}[", name.text);
            write_expr(out, index, 0);
            out.push(']');
        }
        ExprKind::Call(name, arguments) => {
            let _ = write!(out, "{}(", name.text);
            write_list(out, arguments, ", ", 0);
            out.push(')');
        }
        ExprKind::Unary(op, _, operand) => match op {
            UnOp::Start | UnOp::End => {
                let _ = write!(out, "{}(", op.text());
                write_expr(out, operand, 0);
                out.push(')');
            }
            UnOp::Neg => {
                out.push('-');
                write_expr(out, operand, NEGATED);
            }
            _ => {
                out.push_str(op.text());
                if *op != UnOp::Not {
                    out.push(' ');
                }
                write_expr(out, operand, UNARY);
            }
        },
        ExprKind::Binary(op, _, left, right) => {
            let (_, l, r) = levels(*op);
            write_expr(out, left, l);
            let _ = write!(out, " {} ", op.text());
            write_expr(out, right, r);
        }
        ExprKind::List(op, list) => {
            let lowest = if *op == ListOp::And { TEMPORAL } else { AND };
            write_list(out, list, &format!(" {} ", op.text()), lowest);
        }
        ExprKind::Interval(weak, from, to) => {
            out.push_str(if *weak { "weak [" } else { "[" });
            write_expr(out, from, 0);
            out.push_str(", ");
            write_expr(out, to, 0);
            out.push(')');
        }
        ExprKind::Quant(quantifier, _, name, domain, body) => {
            let _ = write!(out, "{} {}", quantifier.text(), name.text);
            match domain {
                Domain::NotEqual(other) => {
                    let _ = write!(out, " != {}", other.text);
                }
                Domain::Sort(sort, _, filter) => {
                    let _ = write!(out, " : {}", sort_text(sort));
                    if let Some(filter) = filter {
                        out.push_str(" where ");
                        write_expr(out, filter, 0);
                    }
                }
            }
            out.push_str(" . ");
            write_expr(out, body, UNARY);
        }
        ExprKind::At(thread, operand) => {
            let _ = write!(out, "@{}(", thread.text);
            write_expr(out, operand, 0);
            out.push(')');
        }
    }
    if parentheses {
        out.push(')');
    }
}

fn write_list(out: &mut String, list: &[Expr], separator: &str, lowest: u8) {
    for (i, item) in list.iter().enumerate() {
        if i > 0 {
            out.push_str(separator);
        }
        write_expr(out, item, lowest);
    }
}

fn write_ere(out: &mut String, ere: &Ere, lowest: u8) {
    let (level, list): (u8, Option<(&[Ere], &str)>) = match &ere.kind {
        EreKind::Or(list) => (0, Some((list, " | "))),
        EreKind::And(list) => (1, Some((list, " & "))),
        EreKind::Cat(list) => (2, Some((list, " "))),
        EreKind::Repeat(..) => (3, None),
        _ => (4, None),
    };
    if level < lowest {
        out.push('(');
    }
    if let Some((list, separator)) = list {
        for (i, item) in list.iter().enumerate() {
            if i > 0 {
                out.push_str(separator);
            }
            write_ere(out, item, level + 1);
        }
    }
    match &ere.kind {
        EreKind::Or(_) | EreKind::And(_) | EreKind::Cat(_) => {}
        EreKind::Event(event) => write_expr(out, event, ATOM),
        EreKind::State(formula) => {
            out.push_str("{ ");
            write_expr(out, formula, 0);
            out.push_str(" }");
        }
        EreKind::Any => out.push_str("any"),
        EreKind::Eps => out.push_str("eps"),
        EreKind::Not(inner) => {
            out.push('~');
            write_ere(out, inner, 4);
        }
        EreKind::Repeat(repeat, inner) => {
            write_ere(out, inner, 3);
            out.push(match repeat {
                Repeat::Star => '*',
                Repeat::Plus => '+',
                Repeat::Opt => '?',
            });
        }
    }
    if level < lowest {
        out.push(')');
    }
}

//! Values of atoms on a valuation, with Kleene's third truth value and the reason for it.

use super::expr::{ArithOp, CompareOp, Const, Expr, ExprKind, ParamId, VarRef};
use crate::syntax::Span;
use std::cmp::Ordering;

/// A value of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value<'a> {
    /// Not recorded, or not written yet.
    Unknown,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A real.
    Real(f64),
    /// A string.
    Str(&'a str),
    /// The identity of a thread, lock or object.
    Ref(u64),
}

impl<'a> Value<'a> {
    /// A value of a trace with these names.
    pub fn recorded(value: event::Value, names: &'a event::Names) -> Value<'a> {
        match value {
            event::Value::Unknown => Value::Unknown,
            event::Value::Bool(b) => Value::Bool(b),
            event::Value::Int(n) => Value::Int(n),
            event::Value::Real(r) => Value::Real(r),
            event::Value::Str(s) => Value::Str(names.str(s)),
        }
    }
}

/// Why a value is unknown, and at which part of the property.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unknown {
    /// A variable has no recorded value.
    NotRecorded(Span),
    /// A result is beyond 64 bits.
    Overflow(Span),
    /// A division by zero.
    DivisionByZero(Span),
    /// A result that is no number, or a comparison with one.
    NotANumber(Span),
    /// The trace has a value of another type than the property expects.
    WrongType(Span),
}

impl Unknown {
    /// The part of the property that could not be evaluated.
    pub fn span(self) -> Span {
        match self {
            Unknown::NotRecorded(span)
            | Unknown::Overflow(span)
            | Unknown::DivisionByZero(span)
            | Unknown::NotANumber(span)
            | Unknown::WrongType(span) => span,
        }
    }

    /// What happened.
    pub fn text(self) -> &'static str {
        match self {
            Unknown::NotRecorded(_) => "the value is not known",
            Unknown::Overflow(_) => "the result is beyond 64 bits",
            Unknown::DivisionByZero(_) => "division by zero",
            Unknown::NotANumber(_) => "the result is not a number",
            Unknown::WrongType(_) => "the recorded value has another type",
        }
    }
}

/// A truth value, or why there is none.
pub type Truth = Result<bool, Unknown>;

/// What variables and parameters are at a step.
pub trait Valuation {
    /// The value of a variable.
    fn variable(&self, var: &VarRef) -> Value<'_>;

    /// What a parameter stands for.
    fn param(&self, param: ParamId) -> Value<'_>;

    /// The identity of a thread given by name.
    fn thread(&self, name: &str) -> Value<'_> {
        let _ = name;
        Value::Unknown
    }

    /// The valuation at the last known position of a thread (mttl).
    fn remote(&self, thread: ParamId) -> Option<&dyn Valuation> {
        let _ = thread;
        None
    }
}

/// Whether a condition holds. Zero is false and every other integer true, as in C.
pub fn holds<V: Valuation + ?Sized>(expr: &Expr, at: &V) -> Truth {
    match evaluate(expr, at)? {
        Value::Bool(b) => Ok(b),
        Value::Int(n) => Ok(n != 0),
        Value::Unknown => Err(Unknown::NotRecorded(expr.span)),
        _ => Err(Unknown::WrongType(expr.span)),
    }
}

/// The value of an expression; never [`Value::Unknown`].
pub fn evaluate<'a, V: Valuation + ?Sized>(expr: &'a Expr, at: &'a V) -> Result<Value<'a>, Unknown> {
    let known = |value| match value {
        Value::Unknown => Err(Unknown::NotRecorded(expr.span)),
        value => Ok(value),
    };
    match &expr.kind {
        ExprKind::Const(c) => Ok(match c {
            Const::Bool(b) => Value::Bool(*b),
            Const::Int(n) => Value::Int(*n),
            Const::Real(r) => Value::Real(*r),
            Const::Str(s) => Value::Str(s),
        }),
        ExprKind::Var(var) => known(at.variable(var)),
        ExprKind::Param(param) => known(at.param(*param)),
        ExprKind::Thread(name) => known(at.thread(name)),
        ExprKind::Neg(e) => match number(evaluate(e, at)?, e.span)? {
            Number::Int(n) => n.checked_neg().map(Value::Int).ok_or(Unknown::Overflow(expr.span)),
            Number::Real(r) => Ok(Value::Real(-r)),
        },
        ExprKind::Arith(op, a, b) => {
            let (x, y) = (number(evaluate(a, at)?, a.span)?, number(evaluate(b, at)?, b.span)?);
            arithmetic(*op, x, y, expr.span)
        }
        ExprKind::Compare(op, a, b) => compare(*op, evaluate(a, at)?, evaluate(b, at)?, expr.span).map(Value::Bool),
        ExprKind::Not(e) => holds(e, at).map(|b| Value::Bool(!b)),
        ExprKind::And(list) => all(list, at, true).map(Value::Bool),
        ExprKind::Or(list) => all(list, at, false).map(|none| Value::Bool(!none)),
        ExprKind::At(thread, e) => match at.remote(*thread) {
            Some(there) => evaluate(e, there),
            None => Err(Unknown::NotRecorded(expr.span)),
        },
    }
}

/// Whether all conditions are `wanted`: one that is not decides, even next to unknown ones.
fn all<V: Valuation + ?Sized>(list: &[Expr], at: &V, wanted: bool) -> Truth {
    let mut result = Ok(true);
    for e in list {
        match holds(e, at) {
            Ok(b) if b != wanted => return Ok(false),
            Ok(_) => {}
            Err(why) => result = result.and(Err(why)),
        }
    }
    result
}

#[derive(Clone, Copy)]
enum Number {
    Int(i64),
    Real(f64),
}

fn number(value: Value<'_>, span: Span) -> Result<Number, Unknown> {
    match value {
        Value::Int(n) => Ok(Number::Int(n)),
        Value::Real(r) => Ok(Number::Real(r)),
        // C has no truth values of its own.
        Value::Bool(b) => Ok(Number::Int(i64::from(b))),
        Value::Unknown => Err(Unknown::NotRecorded(span)),
        Value::Str(_) | Value::Ref(_) => Err(Unknown::WrongType(span)),
    }
}

fn arithmetic<'a>(op: ArithOp, x: Number, y: Number, span: Span) -> Result<Value<'a>, Unknown> {
    if let (Number::Int(a), Number::Int(b)) = (x, y) {
        if b == 0 && matches!(op, ArithOp::Div | ArithOp::Rem) {
            return Err(Unknown::DivisionByZero(span));
        }
        let result = match op {
            ArithOp::Add => a.checked_add(b),
            ArithOp::Sub => a.checked_sub(b),
            ArithOp::Mul => a.checked_mul(b),
            ArithOp::Div => a.checked_div(b),
            // The remainder by -1 is 0, even where the quotient overflows.
            ArithOp::Rem => Some(a.wrapping_rem(b)),
        };
        return result.map(Value::Int).ok_or(Unknown::Overflow(span));
    }
    let real = |n| match n {
        Number::Int(n) => n as f64,
        Number::Real(r) => r,
    };
    let (a, b) = (real(x), real(y));
    let result = match op {
        ArithOp::Add => a + b,
        ArithOp::Sub => a - b,
        ArithOp::Mul => a * b,
        ArithOp::Div if b == 0.0 => return Err(Unknown::DivisionByZero(span)),
        ArithOp::Div => a / b,
        ArithOp::Rem => return Err(Unknown::WrongType(span)),
    };
    if result.is_nan() {
        Err(Unknown::NotANumber(span))
    } else if result.is_infinite() && a.is_finite() && b.is_finite() {
        Err(Unknown::Overflow(span))
    } else {
        Ok(Value::Real(result))
    }
}

fn compare(op: CompareOp, x: Value<'_>, y: Value<'_>, span: Span) -> Truth {
    let order = match (x, y) {
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        (Value::Ref(a), Value::Ref(b)) => {
            return match op {
                CompareOp::Eq => Ok(a == b),
                CompareOp::Ne => Ok(a != b),
                _ => Err(Unknown::WrongType(span)),
            };
        }
        _ => match (number(x, span)?, number(y, span)?) {
            (Number::Int(a), Number::Int(b)) => a.cmp(&b),
            (Number::Int(a), Number::Real(b)) => int_real(a, b).ok_or(Unknown::NotANumber(span))?,
            (Number::Real(a), Number::Int(b)) => int_real(b, a).ok_or(Unknown::NotANumber(span))?.reverse(),
            (Number::Real(a), Number::Real(b)) => a.partial_cmp(&b).ok_or(Unknown::NotANumber(span))?,
        },
    };
    Ok(match op {
        CompareOp::Eq => order.is_eq(),
        CompareOp::Ne => order.is_ne(),
        CompareOp::Le => order.is_le(),
        CompareOp::Ge => order.is_ge(),
        CompareOp::Lt => order.is_lt(),
        CompareOp::Gt => order.is_gt(),
    })
}

/// The order of an integer and a real, exactly: not every 64-bit integer is a real.
fn int_real(a: i64, b: f64) -> Option<Ordering> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if b.is_nan() {
        return None;
    }
    if b >= LIMIT {
        return Some(Ordering::Less);
    }
    if b < -LIMIT {
        return Some(Ordering::Greater);
    }
    let whole = b.trunc();
    Some(a.cmp(&(whole as i64)).then(whole.partial_cmp(&b)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variables are the values in order; parameters are references to themselves.
    struct At(Vec<Value<'static>>);

    impl Valuation for At {
        fn variable(&self, var: &VarRef) -> Value<'_> {
            self.0[var.var as usize]
        }
        fn param(&self, param: ParamId) -> Value<'_> {
            Value::Ref(u64::from(param))
        }
    }

    fn e(kind: ExprKind) -> Expr {
        Expr::new(kind, Span::default())
    }

    fn var(n: u32) -> Box<Expr> {
        Box::new(e(ExprKind::Var(VarRef { var: n, index: None })))
    }

    #[test]
    fn integers_do_not_wrap() {
        use Value::Int;
        let at = At(vec![Int(i64::MAX), Int(1), Int(0), Int(i64::MIN), Int(-1), Int(-7), Int(2)]);
        let op = |op, a, b| match evaluate(&e(ExprKind::Arith(op, var(a), var(b))), &at) {
            Ok(Int(n)) => Ok(Int(n)),
            Ok(_) => Err("not an integer"),
            Err(why) => Err(why.text()),
        };
        let overflow = Err("the result is beyond 64 bits");
        assert_eq!(op(ArithOp::Add, 0, 1), overflow);
        assert_eq!(op(ArithOp::Sub, 3, 1), overflow);
        assert_eq!(op(ArithOp::Mul, 0, 0), overflow);
        assert_eq!(op(ArithOp::Div, 3, 4), overflow);
        assert_eq!(op(ArithOp::Rem, 3, 4), Ok(Int(0)));
        assert_eq!(op(ArithOp::Div, 1, 2), Err("division by zero"));
        assert_eq!(op(ArithOp::Rem, 1, 2), Err("division by zero"));
        assert_eq!(op(ArithOp::Div, 5, 6), Ok(Int(-3)), "towards zero");
        assert_eq!(op(ArithOp::Rem, 5, 6), Ok(Int(-1)));
        assert_eq!(evaluate(&e(ExprKind::Neg(var(3))), &at), Err(Unknown::Overflow(Span::default())));
    }

    #[test]
    fn comparisons_are_exact_and_never_wrong() {
        use Value::{Bool, Int, Real, Ref, Str, Unknown as U};
        let cases = [
            (Int(9_007_199_254_740_993), Real(9_007_199_254_740_992.0), Some((false, false))),
            (Int(i64::MAX), Real(9.3e18), Some((false, true))),
            (Int(i64::MIN), Real(-9.3e18), Some((false, false))),
            (Int(-1), Real(-1.5), Some((false, false))),
            (Int(1), Real(1.0), Some((true, false))),
            (Int(1), Real(1.5), Some((false, true))),
            (Int(1), Real(f64::NAN), None),
            (Real(f64::NAN), Real(f64::NAN), None),
            (Str("a"), Str("b"), Some((false, true))),
            (Str("a"), Int(1), None),
            (Bool(true), Int(1), Some((true, false))),
            (U, Int(1), None),
            (Ref(3), Int(3), None),
        ];
        for (x, y, expected) in cases {
            let at = At(vec![x, y]);
            let op = |op| holds(&e(ExprKind::Compare(op, var(0), var(1))), &at).ok();
            assert_eq!(op(CompareOp::Eq), expected.map(|(eq, _)| eq), "{x:?} == {y:?}");
            assert_eq!(op(CompareOp::Lt), expected.map(|(_, lt)| lt), "{x:?} < {y:?}");
            assert_eq!(op(CompareOp::Ne), expected.map(|(eq, _)| !eq));
            assert_eq!(op(CompareOp::Ge), expected.map(|(_, lt)| !lt));
        }
    }

    #[test]
    fn recorded_values_keep_their_kind() {
        let mut names = event::Names::default();
        let id = event::StrId(names.add(event::Space::Str, "up").expect("room"));
        assert_eq!(Value::recorded(event::Value::Str(id), &names), Value::Str("up"));
        assert_eq!(Value::recorded(event::Value::Int(-3), &names), Value::Int(-3));
        assert_eq!(Value::recorded(event::Value::Unknown, &names), Value::Unknown);
    }

    #[test]
    fn unknown_decides_nothing_that_is_decided_without_it() {
        let at = At(vec![Value::Unknown, Value::Bool(false), Value::Bool(true)]);
        let list = |vars: &[u32]| vars.iter().map(|&v| *var(v)).collect::<Vec<_>>();
        assert_eq!(holds(&e(ExprKind::And(list(&[0, 1]))), &at), Ok(false));
        assert!(holds(&e(ExprKind::And(list(&[0, 2]))), &at).is_err());
        assert_eq!(holds(&e(ExprKind::Or(list(&[0, 2]))), &at), Ok(true));
        assert!(holds(&e(ExprKind::Or(list(&[0, 1]))), &at).is_err());
        assert!(holds(&e(ExprKind::Not(var(0))), &at).is_err());
        let same = e(ExprKind::Compare(CompareOp::Ge, var(0), var(0)));
        assert!(holds(&same, &at).is_err(), "x >= x is unknown while x is");
    }
}

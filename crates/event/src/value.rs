//! The values that variables hold and internal events carry.

use crate::StrId;

/// A recorded value. `Unknown` stands for "not recorded", and is what a variable holds before its first write.
#[derive(Clone, Copy, Default, Debug)]
pub enum Value {
    /// Not recorded.
    #[default]
    Unknown,
    /// A truth value.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A floating-point number.
    Real(f64),
    /// A string.
    Str(StrId),
}

impl Value {
    /// Whether a value was recorded.
    #[inline]
    pub fn is_known(self) -> bool {
        !matches!(self, Value::Unknown)
    }
}

/// Two values are the same when the same thing was recorded: reals are compared by their bits, so that a NaN equals
/// itself and `0.0` differs from `-0.0`. Arithmetic comparison belongs to the properties.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Value::Unknown, Value::Unknown) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Real(a), Value::Real(b)) => a.to_bits() == b.to_bits(),
            (Value::Str(a), Value::Str(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

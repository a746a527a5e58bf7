//! Values of watched variables: their encoding, and whether a read agrees with the order.

use event::{Value, VarId};
use runtime::layout::{PARAMETERS, Parameter};
use rustc_hash::FxHashMap;
use std::path::PathBuf;

/// What the bytes of a variable mean.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Encoding {
    /// A whole number with a sign.
    #[default]
    Signed,
    /// A whole number without one, or a pointer.
    Unsigned,
    /// `float` or `double`.
    Float,
    /// A truth value.
    Bool,
}

/// What is recorded of something that a specification names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// A variable: its values.
    Value(Encoding),
    /// A bit-field: the values of some bits, counted from the lowest of its first byte.
    Bits {
        /// What they mean.
        encoding: Encoding,
        /// The first of them.
        first: u8,
        /// How many.
        width: u8,
    },
    /// A function: its calls are blocks.
    Region,
    /// A function: that it is entered, as an event of its name.
    Entered,
    /// A function: that it is left, as an event of its name.
    Left,
    /// A function with room for a hook at its entry: that it is entered, as an event of its name, with these values.
    Called([Parameter; PARAMETERS]),
}

impl Use {
    /// The code that agents use.
    pub(crate) fn code(self) -> u16 {
        match self {
            Use::Value(_) | Use::Bits { .. } => runtime::layout::watch::VALUE,
            Use::Region => runtime::layout::watch::REGION,
            Use::Entered => runtime::layout::watch::ENTERED,
            Use::Left => runtime::layout::watch::LEFT,
            Use::Called(_) => runtime::layout::watch::CALLED,
        }
    }

    /// The parameters whose values agents record.
    pub(crate) fn parameters(self) -> [Parameter; PARAMETERS] {
        match self {
            Use::Called(parameters) => parameters,
            _ => [Parameter::default(); PARAMETERS],
        }
    }
}

/// A variable or a function that a specification names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Watched {
    /// The file it is in.
    pub module: PathBuf,
    /// Its address in that file.
    pub address: u64,
    /// How many bytes it has.
    pub size: u32,
    /// What the trace calls it.
    pub name: String,
    /// What is recorded of it.
    pub used: Use,
}

impl Encoding {
    /// The value of a variable of 2^`log2` bytes.
    pub(crate) fn value(self, word: u64, log2: u8) -> Value {
        let bits = 8u32 << log2.min(3);
        let unused = 64 - bits;
        match self {
            Encoding::Signed => Value::Int((word << unused) as i64 >> unused),
            Encoding::Unsigned => unsigned(word << unused >> unused),
            Encoding::Float if bits == 64 => Value::Real(f64::from_bits(word)),
            Encoding::Float if bits == 32 => Value::Real(f32::from_bits(word as u32).into()),
            Encoding::Float => Value::Unknown,
            Encoding::Bool => Value::Bool(word << unused != 0),
        }
    }
}

/// A number without a sign. Those of 2^63 and more are no values of traces, so they are not known.
fn unsigned(number: u64) -> Value {
    i64::try_from(number).map_or(Value::Unknown, Value::Int)
}

impl Encoding {
    /// The value of a bit-field in a word.
    pub(crate) fn bits(self, word: u64, first: u32, width: u32) -> Value {
        let unused = 64 - width.clamp(1, 64);
        let word = word.checked_shr(first).unwrap_or(0) << unused;
        match self {
            Encoding::Signed => Value::Int(word as i64 >> unused),
            Encoding::Unsigned => unsigned(word >> unused),
            Encoding::Bool => Value::Bool(word != 0),
            Encoding::Float => Value::Unknown,
        }
    }
}

/// The last values of variables, in the merged order.
#[derive(Default)]
pub(crate) struct Values {
    last: FxHashMap<VarId, Value>,
}

impl Values {
    /// A write.
    pub(crate) fn written(&mut self, var: VarId, value: Value) {
        self.last.insert(var, value);
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Forgets the value: something unknown was written.
    #[inline]
    pub(crate) fn unknown(&mut self, var: VarId) {
        if !self.last.is_empty() {
            self.last.remove(&var);
        }
    }

    /// A read. Returns whether it contradicts the last write.
    pub(crate) fn read(&mut self, var: VarId, value: Value) -> bool {
        let last = self.last.insert(var, value);
        last.is_some_and(|last| last.is_known() && value.is_known() && last != value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_values_of_their_size_and_kind() {
        assert_eq!(Encoding::Signed.value(0xffff_ffff, 2), Value::Int(-1));
        assert_eq!(Encoding::Unsigned.value(0xdead_ffff_ffff, 2), Value::Int(0xffff_ffff));
        assert_eq!(Encoding::Unsigned.value(i64::MAX as u64, 3), Value::Int(i64::MAX));
        assert_eq!(Encoding::Unsigned.value(1 << 63, 3), Value::Unknown);
        assert_eq!(Encoding::Unsigned.bits(u64::MAX, 0, 64), Value::Unknown);
        assert_eq!(Encoding::Signed.value(0x1_80, 0), Value::Int(-128));
        assert_eq!(Encoding::Signed.value(u64::MAX, 3), Value::Int(-1));
        assert_eq!(Encoding::Float.value(1.5f64.to_bits(), 3), Value::Real(1.5));
        assert_eq!(Encoding::Float.value(u64::from(0.5f32.to_bits()), 2), Value::Real(0.5));
        assert_eq!(Encoding::Bool.value(0x100, 0), Value::Bool(false));
        assert_eq!(Encoding::Bool.value(1, 0), Value::Bool(true));
        assert_eq!(Encoding::Unsigned.bits(0b1101_0110, 4, 3), Value::Int(0b101));
        assert_eq!(Encoding::Signed.bits(0b1101_0110, 4, 3), Value::Int(-3));
        assert_eq!(Encoding::Bool.bits(0b1101_0110, 3, 1), Value::Bool(false));
        assert_eq!(Encoding::Signed.bits(u64::MAX, 0, 64), Value::Int(-1));
    }
}

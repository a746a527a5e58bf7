//! Types as class files write them: what has one place on the stack, and what has two.

use crate::error::{Error, Result};

/// What a value is to the virtual machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// An int, or something smaller.
    Int,
    /// A long.
    Long,
    /// A float.
    Float,
    /// A double.
    Double,
    /// An object or an array.
    Object,
}

impl Kind {
    /// That of a type.
    pub(crate) fn of(descriptor: &[u8]) -> Kind {
        match descriptor.first() {
            Some(b'J') => Kind::Long,
            Some(b'F') => Kind::Float,
            Some(b'D') => Kind::Double,
            Some(b'L' | b'[') => Kind::Object,
            _ => Kind::Int,
        }
    }

    /// Places on the stack.
    pub(crate) fn size(self) -> u16 {
        if matches!(self, Kind::Long | Kind::Double) { 2 } else { 1 }
    }

    /// The type that hooks have for it.
    pub(crate) fn hook(self) -> &'static str {
        match self {
            Kind::Int => "I",
            Kind::Long => "J",
            Kind::Float => "F",
            Kind::Double => "D",
            Kind::Object => "Ljava/lang/Object;",
        }
    }

    /// How much further the instruction for it is than that for ints, of loads, stores and returns.
    pub(crate) fn further(self) -> u8 {
        match self {
            Kind::Int => 0,
            Kind::Long => 1,
            Kind::Float => 2,
            Kind::Double => 3,
            Kind::Object => 4,
        }
    }
}

/// The types of a method's arguments, and of its result (`V` for none).
pub(crate) fn of_method(descriptor: &[u8]) -> Result<(Vec<&[u8]>, &[u8])> {
    let damaged = || Error::Damaged { name: "descriptor" };
    let mut rest = descriptor.strip_prefix(b"(").ok_or_else(damaged)?;
    let mut arguments = Vec::new();
    while !rest.starts_with(b")") {
        let dimensions = rest.iter().take_while(|&&byte| byte == b'[').count();
        let size = match rest.get(dimensions).ok_or_else(damaged)? {
            b'L' => dimensions + 1 + rest[dimensions..].iter().position(|&byte| byte == b';').ok_or_else(damaged)?,
            b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => dimensions + 1,
            _ => return Err(damaged()),
        };
        let (argument, behind) = rest.split_at(size);
        arguments.push(argument);
        rest = behind;
    }
    Ok((arguments, &rest[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_and_results() {
        let (arguments, result) = of_method(b"(I[[Ljava/lang/String;JLA;)[D").expect("a method's");
        assert_eq!(arguments, [&b"I"[..], b"[[Ljava/lang/String;", b"J", b"LA;"]);
        assert_eq!((Kind::of(result), Kind::of(arguments[2]).size()), (Kind::Object, 2));
        for wrong in [&b""[..], b"I", b"(", b"(L", b"([", b"(V)V", b"(I"] {
            assert!(of_method(wrong).is_err(), "{wrong:?}");
        }
    }
}

//! Types as class files write them: what has one place on the stack, and what has two.

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

//! The memory orders of atomic operations and fences.

/// Memory orders of atomic operations and fences, as in C11.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[repr(u8)]
pub enum Order {
    /// Sequentially consistent, the default.
    #[default]
    SeqCst = 0,
    /// No ordering.
    Relaxed = 1,
    /// Acquire.
    Acquire = 2,
    /// Release.
    Release = 3,
    /// Acquire and release.
    AcqRel = 4,
}

impl Order {
    /// Every order, in the order of their numbers.
    pub const ALL: [Order; 5] = [Order::SeqCst, Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel];

    /// The order's spelling in text traces.
    pub const fn text(self) -> &'static str {
        match self {
            Order::SeqCst => "seqcst",
            Order::Relaxed => "relaxed",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::AcqRel => "acqrel",
        }
    }

    /// The order with this number, if there is one.
    pub fn from_code(code: u8) -> Option<Order> {
        Order::ALL.get(usize::from(code)).copied()
    }
}

//! Numbers that look random and are the same in every run, for tests that damage files.

/// A linear congruential generator: its upper bits are good enough here.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Random {
        Random(1)
    }

    /// A number below another one.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// A byte with which to damage a file: any, or one that is often special.
    pub(crate) fn byte(&mut self) -> u8 {
        if self.below(2) == 0 { self.below(256) as u8 } else { [0, 1, 0x7f, 0x80, 0xff][self.below(5)] }
    }
}

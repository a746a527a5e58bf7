//! File names, built without allocation.

/// A path that ends in a zero byte.
#[derive(Clone, Copy)]
pub struct Path {
    bytes: [u8; 512],
    length: usize,
}

impl Path {
    /// The empty one.
    pub const fn new() -> Path {
        Path { bytes: [0; 512], length: 0 }
    }

    /// Adds text. What does not fit is left out, and the path is not [`whole`](Path::is_whole) any more.
    pub fn push(&mut self, text: &[u8]) -> &mut Path {
        for &byte in text {
            if let Some(free) = self.bytes.get_mut(self.length) {
                *free = byte;
            }
            self.length += 1;
        }
        self
    }

    /// Adds a number.
    pub fn number(&mut self, mut number: u32) -> &mut Path {
        let mut digits = [0; 10];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.push(&digits[at..])
    }

    /// Whether all of it fits.
    pub fn is_whole(&self) -> bool {
        self.length < self.bytes.len()
    }

    /// With its zero byte.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..=self.length).unwrap_or(b"\0")
    }
}

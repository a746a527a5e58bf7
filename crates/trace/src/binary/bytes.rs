//! Variable-length integers, and a reader over bytes that may be wrong.

use super::frame::Damage;

/// Appends an integer, seven bits a byte, low bits first.
#[inline]
pub(super) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a signed integer so that small magnitudes stay short.
#[inline]
pub(super) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, (value << 1 ^ value >> 63) as u64);
}

/// Bytes read from the front.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { rest: bytes }
    }

    /// How many bytes are left.
    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Damage> {
        let (&first, rest) = self.rest.split_first().ok_or(Damage("a record is cut off"))?;
        self.rest = rest;
        Ok(first)
    }

    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], Damage> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Damage("a record is cut off"))?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    pub(super) fn get(&mut self) -> Result<u64, Damage> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Damage("a number is too long"))
    }

    #[inline]
    pub(super) fn get_u32(&mut self) -> Result<u32, Damage> {
        u32::try_from(self.get()?).map_err(|_| Damage("a number is too large"))
    }

    /// A number that must be below `limit`: an id, or a count of things that each take a byte or more.
    #[inline]
    pub(super) fn get_below(&mut self, limit: usize) -> Result<u32, Damage> {
        let value = self.get_u32()?;
        if (value as usize) < limit { Ok(value) } else { Err(Damage("a number is out of range")) }
    }

    #[inline]
    pub(super) fn get_signed(&mut self) -> Result<i64, Damage> {
        let value = self.get()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub(super) fn u64_le(&mut self) -> Result<u64, Damage> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| Damage("a record is cut off"))?))
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Damage> {
        let len = self.get()?;
        let len = usize::try_from(len).map_err(|_| Damage("a record is cut off"))?;
        std::str::from_utf8(self.take(len)?).map_err(|_| Damage("a name is not UTF-8"))
    }

    /// Everything must have been read.
    pub(super) fn finish(self) -> Result<(), Damage> {
        if self.rest.is_empty() { Ok(()) } else { Err(Damage("a frame holds more than it should")) }
    }
}

/// Appends a text with its length.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let mut out = Vec::new();
        let samples: Vec<u64> = (0..64).flat_map(|i| [1u64 << i, (1u64 << i) - 1]).chain([u64::MAX]).collect();
        for &v in &samples {
            put(&mut out, v);
            put_signed(&mut out, v as i64);
        }
        let mut cursor = Cursor::new(&out);
        for &v in &samples {
            assert_eq!((cursor.get().unwrap(), cursor.get_signed().unwrap()), (v, v as i64));
        }
        assert!(cursor.byte().is_err() && cursor.finish().is_ok());
        assert!(Cursor::new(&[0x80; 11]).get().is_err());
    }
}

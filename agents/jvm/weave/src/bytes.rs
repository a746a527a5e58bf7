//! Reads and writes the numbers of class files: the highest byte first, every read checked.

use crate::error::{Error, Result};

/// Reads one number after another.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    pub(crate) fn from(bytes: &'a [u8], at: usize) -> Self {
        Cursor { bytes, at: at.min(bytes.len()) }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let taken = &self.bytes[self.at..end.ok_or(Error::Truncated { at: self.bytes.len() })?];
        self.at += count;
        Ok(taken)
    }

    fn array<const SIZE: usize>(&mut self) -> Result<[u8; SIZE]> {
        let taken = self.take(SIZE)?;
        Ok(taken.try_into().expect("as many bytes as were asked for"))
    }

    pub(crate) fn u1(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u2(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(crate) fn u4(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(crate) fn i2(&mut self) -> Result<i16> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    pub(crate) fn i4(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }
}

pub(crate) fn put_u2(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

pub(crate) fn put_u4(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// A count or position, which must fit two bytes.
pub(crate) fn short(value: usize, of: &'static str) -> Result<u16> {
    u16::try_from(value).map_err(|_| Error::Many { of })
}

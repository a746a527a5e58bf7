//! Numbers as planes: a column of their lowest bytes, one of their next bytes, and so on as far as the largest needs.

use super::bytes::{Cursor, put};
use super::column::{ColumnReader, ColumnWriter, Custom};
use super::frame::Damage;

/// Appends numbers: their count, how many bytes each has, and a column for each of these bytes.
pub(super) fn put_planes(
    columns: &mut ColumnWriter,
    out: &mut Vec<u8>,
    numbers: &[u32],
    plane: &mut Vec<u8>,
    customs: &mut [Custom; 4],
) {
    let widest = numbers.iter().fold(0, |all, &n| all | n);
    let width = (32 - widest.leading_zeros()).div_ceil(8);
    put(out, numbers.len() as u64);
    put(out, width.into());
    for (byte, custom) in (0..width).zip(customs) {
        plane.clear();
        plane.extend(numbers.iter().map(|&n| (n >> (8 * byte)) as u8));
        columns.put(out, plane, custom);
    }
}

/// The planes of a frame, put together some numbers at a time.
#[derive(Default)]
pub(super) struct Planes {
    planes: [Vec<u8>; 4],
    width: usize,
    /// Numbers put together so far.
    taken: usize,
    /// The last ones that were put together.
    pub(super) numbers: Vec<u32>,
}

impl Planes {
    /// Reads the planes of `count` numbers.
    pub(super) fn open(
        &mut self,
        columns: &mut ColumnReader,
        from: &mut Cursor<'_>,
        count: usize,
    ) -> Result<(), Damage> {
        if from.get()? != count as u64 {
            return Err(Damage("the predictions do not add up"));
        }
        self.width = from.get_below(5)? as usize;
        self.taken = 0;
        for plane in &mut self.planes[..self.width] {
            columns.get_exact(from, count, plane)?;
        }
        Ok(())
    }

    /// Puts the next numbers together. That there are as many was checked.
    pub(super) fn next(&mut self, count: usize) {
        let range = self.taken..self.taken + count;
        self.taken += count;
        self.numbers.clear();
        let numbers = &mut self.numbers;
        let part = |byte: usize| self.planes[byte].get(range.clone()).unwrap_or_default().iter().map(|&b| u32::from(b));
        match self.width {
            0 => {}
            1 => numbers.extend(part(0)),
            2 => numbers.extend(part(0).zip(part(1)).map(|(a, b)| a | b << 8)),
            3 => numbers.extend(part(0).zip(part(1)).zip(part(2)).map(|((a, b), c)| a | b << 8 | c << 16)),
            _ => {
                let halves = part(0).zip(part(1)).zip(part(2).zip(part(3)));
                numbers.extend(halves.map(|((a, b), (c, d))| a | b << 8 | c << 16 | d << 24));
            }
        }
        numbers.resize(count, 0);
    }
}

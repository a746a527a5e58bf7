//! Reads and writes zip archives, entry by entry.

mod entry;
mod read;
mod write;

pub(crate) use entry::Entry;
pub(crate) use read::Archive;
pub(crate) use write::Writer;

/// Signatures of the parts of archives.
mod signature {
    pub(super) const LOCAL: u32 = 0x0403_4b50;
    pub(super) const CENTRAL: u32 = 0x0201_4b50;
    pub(super) const END: u32 = 0x0605_4b50;
    pub(super) const END_64: u32 = 0x0606_4b50;
    pub(super) const LOCATOR_64: u32 = 0x0706_4b50;
}

/// Instead of a number that is too large: it is in an extra field.
const ELSEWHERE: u32 = u32::MAX;
/// The number of that extra field.
const EXTRA_64: u16 = 1;

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

/// Extra fields: number, content, and the whole field. What is malformed is a field of number 0 up to the end.
fn extras(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8], &[u8])> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let size = if bytes.len() >= 4 { 4 + usize::from(u16_at(bytes, 2)) } else { usize::MAX };
        if size > bytes.len() {
            return Some((0, &[][..], std::mem::take(&mut bytes)));
        }
        let (field, rest) = bytes.split_at(size);
        bytes = rest;
        Some((u16_at(field, 0), &field[4..], field))
    })
}

/// Extra fields without the one of large numbers.
fn without_64(bytes: &[u8]) -> Vec<u8> {
    extras(bytes).filter(|(number, ..)| *number != EXTRA_64).flat_map(|(.., whole)| whole).copied().collect()
}

//! The tight loops over flat times, where entries beyond the end are 0.

use crate::Time;

/// Compared at once, so that the comparison has no branch per entry and becomes vector instructions.
const CHUNK: usize = 16;

/// Every entry becomes the later of the two.
#[inline]
pub(crate) fn join(into: &mut Vec<Time>, other: &[Time]) {
    if into.len() < other.len() {
        into.resize(other.len(), 0);
    }
    for (a, &b) in into.iter_mut().zip(other) {
        *a = (*a).max(b);
    }
}

/// No entry of `a` is later than that of `b`.
#[inline]
pub(crate) fn le(a: &[Time], b: &[Time]) -> bool {
    let common = a.len().min(b.len());
    let (a, beyond) = a.split_at(common);
    let (a_chunks, a_rest) = a.as_chunks::<CHUNK>();
    let (b_chunks, b_rest) = b[..common].as_chunks::<CHUNK>();
    a_chunks.iter().zip(b_chunks).all(|(a, b)| !any_later(a, b))
        && !any_later(a_rest, b_rest)
        && beyond.iter().all(|&time| time == 0)
}

#[inline]
fn any_later(a: &[Time], b: &[Time]) -> bool {
    a.iter().zip(b).fold(false, |later, (a, b)| later | (a > b))
}

/// The times without the zeros at the end.
#[inline]
pub(crate) fn trim(times: &[Time]) -> &[Time] {
    let len = times.iter().rposition(|&time| time != 0).map_or(0, |last| last + 1);
    &times[..len]
}

//! What fails, made as short as it can be and still fail.

/// The shortest part of a list that is found by leaving out stretches, and that still fails.
pub(crate) fn shrunk<T: Clone>(all: &[T], fails: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut left = all.to_vec();
    let mut stretch = left.len().div_ceil(2);
    while stretch > 0 {
        let mut at = 0;
        let before = left.len();
        while at < left.len() {
            let mut part = left.clone();
            part.drain(at..(at + stretch).min(left.len()));
            if fails(&part) {
                left = part;
            } else {
                at += stretch;
            }
        }
        if stretch > 1 || left.len() == before {
            stretch /= 2;
        }
    }
    left
}

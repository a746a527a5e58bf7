//! Segments: stretches of a thread between its forks and joins, and which of them come before which in every run.
//!
//! They are kept as a graph, since a vector clock per segment would take memory quadratic in the number of threads;
//! the clocks are made at the end, as sets, for the segments that matter.

use event::{Id, ThreadId};
use std::rc::Rc;

const NONE: u32 = u32::MAX;

/// Bounds the memory of a trace of nothing but forks. There are at most as many more as there can be threads.
const MOST: usize = 1 << 24;

/// All segments so far.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    /// The segments right before each one, which all have lesser numbers.
    before: Vec<[u32; 2]>,
    /// The segment each thread is in.
    current: Vec<u32>,
    most: usize,
    /// Forks and joins beyond the bound: they order nothing, rather a warning too many.
    pub(super) unrecorded: u64,
}

impl Default for Segments {
    fn default() -> Segments {
        Segments { before: Vec::new(), current: Vec::new(), most: MOST, unrecorded: 0 }
    }
}

impl Segments {
    /// The segment a thread is in.
    #[inline]
    pub(crate) fn current(&mut self, thread: ThreadId) -> u32 {
        match self.current.get(thread.index()) {
            Some(&segment) if segment != NONE => segment,
            _ => self.enter(thread, [NONE, NONE]),
        }
    }

    fn enter(&mut self, thread: ThreadId, before: [u32; 2]) -> u32 {
        if thread.index() >= self.current.len() {
            self.current.resize(thread.index() + 1, NONE);
        }
        let segment = self.before.len() as u32;
        self.current[thread.index()] = segment;
        self.before.push(before);
        segment
    }

    /// Whether there is room for so many more.
    fn room(&mut self, many: usize) -> bool {
        let room = self.before.len() + many <= self.most;
        self.unrecorded += u64::from(!room);
        room
    }

    pub(crate) fn fork(&mut self, parent: ThreadId, child: ThreadId) {
        let forks = self.current(parent);
        // Both or neither: what the parent does from here on is not before the child.
        if self.room(2) {
            let own = self.current.get(child.index()).copied().unwrap_or(NONE);
            self.enter(child, [forks, own]);
            self.enter(parent, [forks, NONE]);
        }
    }

    pub(crate) fn join(&mut self, parent: ThreadId, child: ThreadId) {
        let (own, last) = (self.current(parent), self.current(child));
        if self.room(1) {
            self.enter(parent, [own, last]);
        }
    }

    /// The order of some segments, given in increasing order.
    pub(crate) fn order(&self, some: &[u32]) -> SegmentOrder {
        if some.is_empty() {
            return SegmentOrder { rows: Vec::new() };
        }
        let mut place = vec![NONE; self.before.len()];
        for (k, &segment) in (0..).zip(some) {
            place[segment as usize] = k;
        }
        let mut followers = vec![0u32; self.before.len()];
        self.before.iter().flatten().filter(|&&b| b != NONE).for_each(|&b| followers[b as usize] += 1);
        let empty: Rc<[u64]> = vec![0; some.len().div_ceil(64)].into();
        // What comes before each segment or is it, dropped when all that follow have taken it over.
        let mut known: Vec<Option<Rc<[u64]>>> = vec![None; self.before.len()];
        let mut rows = vec![Rc::clone(&empty); some.len()];
        for (segment, before) in self.before.iter().enumerate() {
            let mut row = Rc::clone(&empty);
            for &b in before.iter().filter(|&&b| b != NONE) {
                if let Some(other) = &known[b as usize] {
                    row = union(row, other, &empty);
                }
                followers[b as usize] -= 1;
                if followers[b as usize] == 0 {
                    known[b as usize] = None;
                }
            }
            let own = place[segment];
            if own != NONE {
                let mut bits = row.to_vec();
                bits[own as usize / 64] |= 1 << (own % 64);
                row = bits.into();
                rows[own as usize] = Rc::clone(&row);
            }
            if followers[segment] > 0 {
                known[segment] = Some(row);
            }
        }
        SegmentOrder { rows }
    }
}

/// The common case, that one of them says nothing new, copies nothing.
fn union(a: Rc<[u64]>, b: &Rc<[u64]>, empty: &Rc<[u64]>) -> Rc<[u64]> {
    if Rc::ptr_eq(&a, empty) || Rc::ptr_eq(&a, b) {
        return Rc::clone(b);
    }
    if Rc::ptr_eq(b, empty) {
        return a;
    }
    a.iter().zip(b.iter()).map(|(a, b)| a | b).collect()
}

/// Which of some segments come before which.
#[derive(Debug)]
pub(crate) struct SegmentOrder {
    rows: Vec<Rc<[u64]>>,
}

impl SegmentOrder {
    /// Whether neither comes before the other, by their places among the given segments.
    #[inline]
    pub(crate) fn concurrent(&self, a: u32, b: u32) -> bool {
        !self.before(a, b) && !self.before(b, a)
    }

    #[inline]
    fn before(&self, a: u32, b: u32) -> bool {
        self.rows[b as usize][a as usize / 64] >> (a % 64) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_and_joins_order_segments() {
        let (main, a, b) = (ThreadId(0), ThreadId(1), ThreadId(2));
        let mut segments = Segments::default();
        let first = segments.current(main);
        segments.fork(main, a);
        let (in_a, second) = (segments.current(a), segments.current(main));
        segments.join(main, a);
        let third = segments.current(main);
        segments.fork(main, b);
        let in_b = segments.current(b);
        let mut all = [first, in_a, second, third, in_b];
        all.sort_unstable();
        let order = segments.order(&all);
        let concurrent = |x: u32, y: u32| {
            let place = |s| all.iter().position(|&t| t == s).expect("given") as u32;
            order.concurrent(place(x), place(y))
        };
        assert!(concurrent(in_a, second));
        assert!(!concurrent(first, in_a) && !concurrent(in_a, third) && !concurrent(in_a, in_b));
        assert!(!concurrent(first, in_b) && !concurrent(second, in_b) && !concurrent(first, first));
    }
    #[test]
    fn without_room_forks_order_nothing() {
        let (main, child) = (ThreadId(0), ThreadId(1));
        let mut segments = Segments { most: 2, ..Segments::default() };
        segments.current(main);
        segments.fork(main, child);
        let some = [segments.current(main), segments.current(child)];
        assert!(segments.order(&some).concurrent(0, 1));
        assert_eq!(segments.unrecorded, 1);
    }
}

//! What is remembered of the accesses of a variable: enough to know, for any later access, whether *some* earlier conflicting
//! one is not ordered before it.
//!
//! Of each thread the last access of a kind is enough: whoever knows it knows the earlier ones of that thread. And an
//! access may be forgotten when another is remembered that comes after it in the order and conflicts with all that it
//! conflicts with: what is not ordered after the first is not ordered after the second either. So
//!
//! * a plain write (or `free`) makes all that it knows superfluous;
//! * a read makes the reads that it knows superfluous, and likewise among atomic loads, and among atomic writes.
//!
//! Most variables need one write and one read at a time, which are in [`Var`] itself. The others have a [`Wide`].

use super::clocks::{Clocks, Gathered, Given, RowId, Slot, Time};
use event::SiteId;

/// An access. Time 0: none.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Mark {
    pub(super) time: Time,
    pub(super) slot: Slot,
    pub(super) site: SiteId,
    /// The set of locks held.
    pub(super) locks: u32,
}

impl Mark {
    #[inline]
    pub(super) fn known_to(self, row: &[Time]) -> bool {
        row[self.slot as usize] >= self.time
    }

    #[inline]
    fn or_later(self, other: Mark) -> Mark {
        if other.time > self.time { other } else { self }
    }
}

/// A variable.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Var {
    /// The last plain write or `free`.
    pub(super) write: Mark,
    /// The only read that matters; none if there is a [`Wide`].
    pub(super) read: Mark,
    /// What the writer knew, as long as a read would see that write; else 0.
    pub(super) row: RowId,
    /// The number of its [`Wide`] plus 1; 0 if it has none.
    pub(super) wide: u32,
}

/// What most variables do not need: accesses that are not ordered among each other, and atomics.
#[derive(Default, Debug)]
pub(super) struct Wide {
    /// Plain writes and `free`s before the last that it does not come after.
    pub(super) writes: Marks,
    pub(super) reads: Reads,
    pub(super) atomic_reads: Marks,
    pub(super) atomic_writes: Marks,
    pub(super) head: Head,
}

impl Wide {
    /// As if the variable were new.
    pub(super) fn clear(&mut self, clocks: &mut Clocks) {
        self.writes.0.clear();
        self.reads.clear();
        self.atomic_reads.0.clear();
        self.atomic_writes.0.clear();
        self.head.forget(clocks);
    }
}

/// What an acquire load of the variable learns: the releases that head the sequence it reads from.
#[derive(Default, Debug)]
pub(super) struct Head {
    pub(super) last: Given,
    pub(super) others: Gathered,
}

/// Accesses of different threads, in no order.
#[derive(Default, Debug)]
pub(super) struct Marks(Vec<Mark>);

impl Marks {
    /// Adds an access in place of all that it knows.
    pub(super) fn put(&mut self, mark: Mark, row: &[Time]) {
        self.keep_unknown(row);
        self.0.push(mark);
    }

    pub(super) fn keep_unknown(&mut self, row: &[Time]) {
        self.0.retain(|mark| !mark.known_to(row));
    }

    /// The latest access that the row does not know, or the one given if that is later.
    #[inline]
    pub(super) fn latest_unknown(&self, row: &[Time], or: Mark) -> Mark {
        self.0.iter().filter(|mark| !mark.known_to(row)).fold(or, |a, &b| a.or_later(b))
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Reads by slot: many threads may read a variable that nobody writes, and each read must find its place at once.
#[derive(Default, Debug)]
pub(super) struct Reads {
    marks: Vec<Mark>,
    any: bool,
}

impl Reads {
    #[inline]
    pub(super) fn put(&mut self, mark: Mark) {
        let at = mark.slot as usize;
        if at >= self.marks.len() {
            self.marks.resize((at + 1).next_power_of_two(), Mark::default());
        }
        self.marks[at] = mark;
        self.any = true;
    }

    pub(super) fn keep_unknown(&mut self, row: &[Time]) {
        if self.any {
            let mut any = false;
            for (mark, &known) in self.marks.iter_mut().zip(row) {
                if mark.time <= known {
                    mark.time = 0;
                }
                any |= mark.time != 0;
            }
            self.any = any;
        }
    }

    #[inline]
    pub(super) fn latest_unknown(&self, row: &[Time], or: Mark) -> Mark {
        if !self.any {
            return or;
        }
        self.marks.iter().zip(row).filter(|(mark, known)| mark.time > **known).fold(or, |a, (&b, _)| a.or_later(b))
    }

    fn clear(&mut self) {
        if self.any {
            self.marks.fill(Mark::default());
            self.any = false;
        }
    }
}

impl Var {
    /// The latest plain write that the row does not know; the time is 0 if there is none.
    #[inline]
    pub(super) fn unknown_write(&self, row: &[Time], wide: Option<&Wide>) -> Mark {
        let last = if self.write.known_to(row) { Mark::default() } else { self.write };
        wide.map_or(last, |wide| wide.writes.latest_unknown(row, last))
    }
}

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
//! Most variables need one write and one read at a time, which are in [`Var`] itself. Of some there are several [`Reads`], and the
//! others have a [`Wide`].

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
    /// The reads that matter; several are in [`Reads`].
    pub(super) read: Mark,
    /// What the writer knew, as long as a read would see that write; else 0.
    pub(super) row: RowId,
    /// The number of its [`Wide`] plus 1; 0 if it has none.
    pub(super) wide: u32,
}

/// What most variables do not need: writes that are not ordered among each other, and atomics.
#[derive(Default, Debug)]
pub(super) struct Wide {
    /// Plain writes and `free`s before the last that it does not come after.
    pub(super) writes: Marks,
    pub(super) atomic_reads: Marks,
    pub(super) atomic_writes: Marks,
    pub(super) head: Head,
}

impl Wide {
    /// As if the variable were new.
    pub(super) fn clear(&mut self, clocks: &mut Clocks) {
        self.writes.0.clear();
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
}

/// Not a slot: the reads of a variable are in a row of [`Reads`], whose number stands for the site.
const SHARED: Slot = Slot::MAX;

/// Reads by slot, of the variables that have several that matter: many threads may read a variable that nobody writes, and each
/// read must find its place at once. They stand side by side, so that it touches no more memory than that place.
#[derive(Debug)]
pub(super) struct Reads {
    /// Marks of a row; a power of two, at least as many as slots are in use.
    stride: usize,
    marks: Vec<Mark>,
    free: Vec<u32>,
}

impl Default for Reads {
    fn default() -> Self {
        Reads { stride: 8, marks: Vec::new(), free: Vec::new() }
    }
}

impl Reads {
    /// About how many bytes it takes.
    pub(super) fn memory(&self) -> usize {
        self.marks.len() * size_of::<Mark>()
    }

    /// Adds a read to those of a variable; `known` is what its thread knows.
    #[inline]
    pub(super) fn put(&mut self, reads: &mut Mark, mark: Mark, known: &[Time]) {
        if reads.slot == SHARED {
            if mark.slot as usize >= self.stride {
                self.widen(known.len());
            }
            self.marks[reads.site.0 as usize * self.stride + mark.slot as usize] = mark;
        } else if reads.known_to(known) {
            *reads = mark;
        } else {
            self.share(reads, mark, known);
        }
    }

    #[cold]
    fn share(&mut self, reads: &mut Mark, mark: Mark, known: &[Time]) {
        self.widen(known.len());
        let row = self.free.pop().unwrap_or_else(|| {
            let row = self.marks.len() / self.stride;
            self.marks.resize(self.marks.len() + self.stride, Mark::default());
            u32::try_from(row).expect("at most one for each variable")
        });
        let at = row as usize * self.stride;
        self.marks[at + reads.slot as usize] = *reads;
        self.marks[at + mark.slot as usize] = mark;
        *reads = Mark { time: 0, slot: SHARED, site: SiteId(row), locks: 0 };
    }

    /// Makes room for so many slots, a power of two.
    #[cold]
    fn widen(&mut self, stride: usize) {
        if stride > self.stride {
            let old = std::mem::take(&mut self.marks);
            self.marks = vec![Mark::default(); old.len() / self.stride * stride];
            for (to, from) in self.marks.chunks_exact_mut(stride).zip(old.chunks_exact(self.stride)) {
                to[..from.len()].copy_from_slice(from);
            }
            self.stride = stride;
        }
    }

    fn row(&self, row: u32) -> &[Mark] {
        let at = row as usize * self.stride;
        &self.marks[at..at + self.stride]
    }

    /// The latest read that is not known, or the access given if that is later.
    #[inline]
    pub(super) fn latest_unknown(&self, reads: Mark, known: &[Time], or: Mark) -> Mark {
        if reads.slot != SHARED {
            return if reads.known_to(known) { or } else { or.or_later(reads) };
        }
        let unknown = self.row(reads.site.0).iter().zip(known).filter(|(mark, known)| mark.time > **known);
        unknown.fold(or, |a, (&b, _)| a.or_later(b))
    }

    /// Forgets the reads that are known.
    pub(super) fn keep_unknown(&mut self, reads: &mut Mark, known: &[Time]) {
        if reads.slot != SHARED {
            if reads.known_to(known) {
                *reads = Mark::default();
            }
            return;
        }
        let at = reads.site.0 as usize * self.stride;
        let mut any = 0;
        for (mark, &known) in self.marks[at..at + self.stride].iter_mut().zip(known) {
            if mark.time <= known {
                mark.time = 0;
            }
            any |= mark.time;
        }
        if any == 0 {
            self.free.push(reads.site.0);
            *reads = Mark::default();
        }
    }

    /// Forgets all reads of a variable.
    pub(super) fn clear(&mut self, reads: &mut Mark) {
        if reads.slot == SHARED {
            let at = reads.site.0 as usize * self.stride;
            self.marks[at..at + self.stride].fill(Mark::default());
            self.free.push(reads.site.0);
        }
        *reads = Mark::default();
    }
}

impl Var {
    /// Whether everything remembered of the accesses is known, and nothing but one read and one write is remembered.
    #[inline]
    pub(super) fn all_known(&self, known: &[Time]) -> bool {
        self.wide == 0 && self.write.known_to(known) && self.read.slot != SHARED && self.read.known_to(known)
    }

    /// The latest plain write that the row does not know; the time is 0 if there is none.
    #[inline]
    pub(super) fn unknown_write(&self, row: &[Time], wide: Option<&Wide>) -> Mark {
        let last = if self.write.known_to(row) { Mark::default() } else { self.write };
        wide.map_or(last, |wide| wide.writes.latest_unknown(row, last))
    }
}

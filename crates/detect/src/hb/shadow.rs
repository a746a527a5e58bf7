//! What is remembered of the accesses of a variable: enough to know, for any later access, whether *some* earlier
//! conflicting one is not ordered before it.
//!
//! Of each thread the last access of a kind is enough: a thread that knows it knows the earlier ones of that thread.
//! And an access may be forgotten when another is remembered that comes after it in the order and conflicts with all
//! that it conflicts with: what is not ordered after the first is not ordered after the second either. So
//!
//! * a plain write (or `free`) makes all that it knows superfluous;
//! * a read makes the reads that it knows superfluous, and likewise among atomic loads, and among atomic writes.
//!
//! Most variables need one write and one read at a time, which are in [`Var`] itself. Of some there are several
//! [`Reads`], and the others have a [`Wide`].

use super::clocks::{Clocks, Gathered, Given, KnownTimes, RowId, Slot, Time};
use super::who::{Packing, Who};
use event::SiteId;

/// An access. Time 0: none.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Mark {
    pub(super) time: Time,
    pub(super) who: Who,
    pub(super) site: SiteId,
}

impl Mark {
    /// What stands for the reads in a row of [`Reads`].
    fn shared(row: u32) -> Mark {
        Mark { time: Time::MAX, who: Who::NONE, site: SiteId(row) }
    }

    #[inline]
    fn is_shared(self) -> bool {
        self.who == Who::NONE
    }

    #[inline]
    pub(super) fn or_later(self, other: Mark) -> Mark {
        if other.time > self.time { other } else { self }
    }
}

/// A variable. Half a cache line: large programs have more variables than a cache holds.
#[derive(Clone, Copy, Default, Debug)]
#[repr(align(32))]
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
    /// What comes before the drop barriers of the variable since its last write.
    pub(super) drop_barriers: Gathered,
}

impl Wide {
    /// Looks at what an access will need; what it gives means nothing.
    #[inline]
    pub(super) fn fetch(&self) -> usize {
        self.drop_barriers.fetch() ^ self.writes.0.len() ^ self.atomic_writes.0.len()
    }

    /// As if the variable were new.
    pub(super) fn clear(&mut self, clocks: &mut Clocks) {
        self.writes.0.clear();
        self.atomic_reads.0.clear();
        self.atomic_writes.0.clear();
        self.head.forget(clocks);
        self.drop_barriers.clear();
    }

    pub(super) fn repack(&mut self, old: Packing, new: Packing) {
        for marks in [&mut self.writes, &mut self.atomic_reads, &mut self.atomic_writes] {
            marks.repack(old, new);
        }
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
    pub(super) fn put(&mut self, mark: Mark, row: KnownTimes<'_>) {
        self.keep_unknown(row);
        self.0.push(mark);
    }

    pub(super) fn keep_unknown(&mut self, row: KnownTimes<'_>) {
        self.0.retain(|mark| !row.has(*mark));
    }

    fn repack(&mut self, old: Packing, new: Packing) {
        self.0.iter_mut().for_each(|mark| old.repack(&mut mark.who, new));
    }

    /// Gives each of them.
    pub(super) fn each(&self, each: &mut impl FnMut(Mark)) {
        self.0.iter().copied().for_each(each);
    }

    /// The latest access that the row does not know, or the one given if that is later.
    #[inline]
    pub(super) fn latest_unknown(&self, row: KnownTimes<'_>, or: Mark) -> Mark {
        self.0.iter().filter(|&&mark| !row.has(mark)).fold(or, |a, &b| a.or_later(b))
    }
}

/// Reads by slot, of the variables that have several that matter: many threads may read a variable that no thread
/// writes, and each read must find its place at once. They stand side by side, so that it touches no more memory than
/// that place.
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

    /// Adds a read to several; `false` if there is but one, or no room.
    #[inline]
    pub(super) fn put_shared(&mut self, reads: Mark, mark: Mark, slot: Slot) -> bool {
        let room = reads.is_shared() && (slot as usize) < self.stride;
        if room {
            self.marks[reads.site.0 as usize * self.stride + slot as usize] = mark;
        }
        room
    }

    /// Adds a read to those of a variable; `known` is what its thread knows.
    #[inline]
    pub(super) fn put(&mut self, reads: &mut Mark, mark: Mark, known: KnownTimes<'_>) {
        if known.has(*reads) {
            *reads = mark;
        } else if reads.is_shared() {
            let slot = known.packing.slot(mark.who) as usize;
            if slot >= self.stride {
                self.widen(known.times.len());
            }
            self.marks[reads.site.0 as usize * self.stride + slot] = mark;
        } else {
            self.share(reads, mark, known);
        }
    }

    #[cold]
    fn share(&mut self, reads: &mut Mark, mark: Mark, known: KnownTimes<'_>) {
        self.widen(known.times.len());
        let row = self.free.pop().unwrap_or_else(|| {
            let row = self.marks.len() / self.stride;
            self.marks.resize(self.marks.len() + self.stride, Mark::default());
            u32::try_from(row).expect("at most one for each variable")
        });
        let at = row as usize * self.stride;
        for mark in [*reads, mark] {
            self.marks[at + known.packing.slot(mark.who) as usize] = mark;
        }
        *reads = Mark::shared(row);
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

    /// Gives each read.
    pub(super) fn each(&self, reads: Mark, mut each: impl FnMut(Mark)) {
        if reads.is_shared() {
            self.row(reads.site.0).iter().filter(|mark| mark.time != 0).copied().for_each(each);
        } else if reads.time != 0 {
            each(reads);
        }
    }

    /// The latest read that is not known, or the access given if that is later.
    #[inline]
    pub(super) fn latest_unknown(&self, reads: Mark, known: KnownTimes<'_>, or: Mark) -> Mark {
        if !reads.is_shared() {
            return if known.has(reads) { or } else { or.or_later(reads) };
        }
        let unknown = self.row(reads.site.0).iter().zip(known.times).filter(|(mark, known)| mark.time > **known);
        unknown.fold(or, |a, (&b, _)| a.or_later(b))
    }

    /// Forgets the reads that are known.
    pub(super) fn keep_unknown(&mut self, reads: &mut Mark, known: KnownTimes<'_>) {
        if !reads.is_shared() {
            if known.has(*reads) {
                *reads = Mark::default();
            }
            return;
        }
        let at = reads.site.0 as usize * self.stride;
        let mut any = 0;
        for (mark, &known) in self.marks[at..at + self.stride].iter_mut().zip(known.times) {
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
        if reads.is_shared() {
            let at = reads.site.0 as usize * self.stride;
            self.marks[at..at + self.stride].fill(Mark::default());
            self.free.push(reads.site.0);
        }
        *reads = Mark::default();
    }

    pub(super) fn repack(&mut self, old: Packing, new: Packing) {
        self.marks.iter_mut().for_each(|mark| old.repack(&mut mark.who, new));
    }
}

impl Var {
    /// The latest plain write that the row does not know; the time is 0 if there is none.
    #[inline]
    pub(super) fn unknown_write(&self, row: KnownTimes<'_>, wide: Option<&Wide>) -> Mark {
        let last = if row.has(self.write) { Mark::default() } else { self.write };
        wide.map_or(last, |wide| wide.writes.latest_unknown(row, last))
    }
}

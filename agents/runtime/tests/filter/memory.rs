//! Memory for a filter, and a sink for records, for tests.
#![allow(unsafe_code)]

use runtime::filter::{AtomicEntry, Cell, Filter, Limits, Shape, Sink};
use runtime::hand_off::Timing;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

/// A filter with its memory.
pub(crate) struct Owned {
    filter: Filter,
    memory: *mut u8,
    layout: Layout,
}

// SAFETY: only the filter touches the memory.
unsafe impl Sync for Owned {}

impl Owned {
    pub(crate) fn new(shape: Shape, limits: Limits) -> Owned {
        let layout = Layout::from_size_align(Filter::bytes(shape), 64).expect("a size");
        // SAFETY: the size is not 0; the memory stays until the filter is dropped.
        unsafe {
            let memory = alloc_zeroed(layout);
            assert!(!memory.is_null());
            Owned { filter: Filter::new(memory, shape, limits), memory, layout }
        }
    }
}

impl std::ops::Deref for Owned {
    type Target = Filter;
    fn deref(&self) -> &Filter {
        &self.filter
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: allocated so, and the filter is not used any more.
        unsafe { dealloc(self.memory, self.layout) };
    }
}

/// The records of a thread.
pub(crate) struct Records<'t> {
    pub(crate) clock: &'t AtomicU64,
    pub(crate) words: Vec<u64>,
    pub(crate) room: usize,
    /// Other threads run now and then, right before a time is taken.
    pub(crate) gives_way: bool,
    /// The last time.
    pub(crate) time: u64,
    /// How many times were not by the clock: of lock acquires, and others.
    pub(crate) handed: [usize; 2],
}

/// The step of the clock: handed-off times lie in between.
const TICK: u64 = 1 << 16;

impl<'t> Records<'t> {
    pub(crate) fn new(clock: &'t AtomicU64) -> Records<'t> {
        Records { clock, words: Vec::new(), room: 0, gives_way: false, time: 0, handed: [0; 2] }
    }
}

impl Sink for Records<'_> {
    fn begin(&self) {}
    fn written(&self) {}
    fn time(&mut self, timing: Timing) -> u64 {
        if self.gives_way && self.words.len().is_multiple_of(8) {
            std::thread::yield_now();
        }
        self.time = match timing {
            Timing::After(time) => {
                self.handed[usize::from(time == 0)] += 1;
                time.max(self.time) + 1
            }
            Timing::Now | Timing::Before => self.clock.fetch_add(TICK, SeqCst) + TICK,
        };
        self.time
    }
    fn reserve(&mut self, words: usize) {
        self.room = words;
    }
    fn put<const WORDS: usize>(&mut self, words: [u64; WORDS]) {
        assert!(words.len() <= self.room, "no room was made for {words:x?}");
        self.room -= words.len();
        self.words.extend(words);
    }
    fn yield_now(&self) {
        std::thread::yield_now();
    }
}

/// Cells: their first entries, and their second ones.
pub(crate) struct Cells([Vec<AtomicEntry>; 2]);

impl Cells {
    pub(crate) fn cell(&self, at: usize) -> Cell<'_> {
        Cell::new(&self.0[0][at], &self.0[1][at])
    }

    pub(crate) fn len(&self) -> usize {
        self.0[0].len()
    }

    /// The entries of eight of them.
    pub(crate) fn side_by_side(&self, words: Range<usize>) -> [&[AtomicEntry]; 2] {
        self.0.each_ref().map(|entries| &entries[words.clone()])
    }
}

/// Empty cells.
pub(crate) fn cells(count: usize) -> Cells {
    Cells([0; 2].map(|_| (0..count).map(|_| AtomicEntry::default()).collect()))
}

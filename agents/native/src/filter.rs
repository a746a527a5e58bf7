//! Every access arrives, until the filter is there.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

#[repr(C, align(16))]
pub struct Cell {
    a: AtomicU64,
    b: AtomicU64,
}

const WATCHED: u64 = 7;

impl Cell {
    pub fn watch(&self) {
        self.a.store(WATCHED, Relaxed);
    }
    pub fn is_watched(&self) -> bool {
        self.a.load(Relaxed) == WATCHED
    }
}

pub struct Recorder {}

impl Recorder {
    #[inline(always)]
    pub fn covered(&self, _cell: &Cell, _mask: u8, _write: bool) -> bool {
        false
    }
}

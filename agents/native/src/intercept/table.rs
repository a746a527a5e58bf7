//! A table from `pthread_t` to slots.

use core::cell::UnsafeCell;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use runtime::layout::SLOTS;

use crate::system;

/// Twice as many as there can be.
const ENTRIES: usize = SLOTS * 2;

/// Open addressing; what is removed leaves no gap.
pub(super) struct Table {
    locked: AtomicBool,
    entries: UnsafeCell<[(u64, u32); ENTRIES]>,
}

// SAFETY: the places are touched under the lock alone.
unsafe impl Sync for Table {}

impl Table {
    pub(super) const fn new() -> Table {
        Table { locked: AtomicBool::new(false), entries: UnsafeCell::new([(0, 0); ENTRIES]) }
    }

    fn with<R>(&self, f: impl FnOnce(&mut [(u64, u32); ENTRIES]) -> R) -> R {
        while self.locked.swap(true, Acquire) {
            system::give_way();
        }
        // SAFETY: the lock is ours.
        let result = f(unsafe { &mut *self.entries.get() });
        self.locked.store(false, Release);
        result
    }

    /// Sets a thread's slot; a value that is used again has a new one.
    pub(super) fn insert(&self, thread: u64, slot: u32) {
        self.with(|entries| {
            let at = find(entries, thread);
            entries[at] = (thread, slot);
        });
    }

    /// A thread's slot.
    pub(super) fn get(&self, thread: u64) -> Option<u32> {
        self.with(|entries| {
            let (key, slot) = entries[find(entries, thread)];
            (key == thread).then_some(slot)
        })
    }

    /// Removes a thread, if it still has the slot.
    pub(super) fn remove(&self, thread: u64, slot: u32) {
        self.with(|entries| {
            let mut gap = find(entries, thread);
            if entries[gap] != (thread, slot) {
                return;
            }
            let mut at = gap;
            loop {
                at = (at + 1) % ENTRIES;
                if entries[at].0 == 0 {
                    break;
                }
                // What has its home at or before the gap would not be found any more.
                let home = home(entries[at].0);
                if (at + ENTRIES - home) % ENTRIES >= (at + ENTRIES - gap) % ENTRIES {
                    entries[gap] = entries[at];
                    gap = at;
                }
            }
            entries[gap] = (0, 0);
        });
    }

    /// Empties the table, even if a thread that is gone has locked it.
    pub(super) fn clear(&self) {
        self.locked.store(false, Relaxed);
        self.with(|entries| {
            for entry in entries {
                *entry = (0, 0);
            }
        });
    }
}

fn home(thread: u64) -> usize {
    (thread.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % ENTRIES
}

/// Where a thread is, or belongs: there are always empty places, for no more threads than slots are inserted.
fn find(entries: &[(u64, u32); ENTRIES], thread: u64) -> usize {
    let mut at = home(thread);
    for _ in 0..ENTRIES {
        if entries[at].0 == thread || entries[at].0 == 0 {
            break;
        }
        at = (at + 1) % ENTRIES;
    }
    at
}

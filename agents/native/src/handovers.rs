//! Locks whose times are not handed over ([`runtime::handover`]), because it matters when exactly they are held.

use core::sync::atomic::Ordering::Acquire;

use crate::ring::slot_of;
use crate::{alone, session, shadow, system};

/// How often a thread is looked at that is writing something. It has nothing to wait for in between.
const LOOKS: u32 = 1 << 16;

/// Sees to it that the times of a lock are by the clock from now on, also those of who holds it. True: they were not before.
pub fn make_exact(lock: usize) -> bool {
    if !alone::has_barrier() {
        return false;
    }
    let Some(handover) = shadow::cell(lock).and_then(|_| shadow::handover(lock)) else { return false };
    if handover.is_exact() {
        return false;
    }
    while !handover.is_exact() {
        handover.set_exact();
        // Who has looked at it before this is seen to be writing afterwards, until it has changed it.
        alone::make_seen();
        wait_for_writers();
    }
    true
}

/// Waits until every thread that writes a record has done so.
fn wait_for_writers() {
    let Some(process) = session::process() else { return };
    let file = (process as *const _) as *mut u8;
    for slot in 0..process.slots.load(Acquire) {
        let writing = &slot_of(file, slot).writing;
        let before = writing.load(Acquire);
        for _ in 0..LOOKS {
            if before == 0 || writing.load(Acquire) != before {
                break;
            }
            system::give_way();
        }
    }
}

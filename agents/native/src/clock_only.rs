//! Makes the timestamps of a lock come from the clock, because it matters when exactly the lock is held
//! ([`runtime::hand_off`]).

use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use runtime::chunks;

use crate::{biased, ring, session, shadow, system};

/// How often a writing thread is looked at. It has nothing to wait for in between, but it may have been stopped.
const LOOKS: u32 = 1 << 16;

/// A thread is doing this. Others wait, but not for ever: it may be the thread that a signal handler has interrupted.
static MAKING: AtomicBool = AtomicBool::new(false);

/// In a forked child, no other thread is.
pub fn after_fork_child() {
    MAKING.store(false, Relaxed);
}

/// Makes the times of a lock come from the clock from now on, also those of its present holder. Returns true if they
/// may have been handed off until now.
pub fn make(lock: usize) -> bool {
    if !ring::may_hand() {
        return false;
    }
    let Some(hand_off) = shadow::hand_off_or_create(lock) else { return false };
    if hand_off.is_clock_only() && !MAKING.load(Acquire) {
        return false;
    }
    until(|| !MAKING.swap(true, Acquire));
    while !hand_off.is_clock_only() {
        hand_off.set_clock_only();
        // A thread that looked at the lock before this is seen to be writing afterwards, until it has changed it.
        biased::make_seen();
        wait_for_writers();
    }
    MAKING.store(false, Release);
    true
}

/// Waits until every thread that writes a record has done so.
fn wait_for_writers() {
    let Some(process) = session::process() else { return };
    for slot in 0..process.slots.load(Acquire) {
        let writing = &chunks::slot(session::file(), slot).writing;
        let before = writing.load(Acquire);
        until(|| before == 0 || writing.load(Acquire) != before);
    }
}

fn until(is_so: impl Fn() -> bool) {
    for _ in 0..LOOKS {
        if is_so() {
            return;
        }
        system::give_way();
    }
}

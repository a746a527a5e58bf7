//! Parts of memory that one thread has to itself: it changes their cells without locking them.
//!
//! A lock costs more than all the rest of an access that is kept. So each unit of memory belongs to the first thread that comes, which only says
//! ([`CriticalRegion`]) that it is at it. Another thread that comes takes the unit away: it makes the owner's processor see that
//! (`membarrier`), and waits until the owner is not at it. The second owner is the last: then the unit is common, and its cells are
//! locked. Without `membarrier`, all are.
//!
//! Of a thread that is parked ([`thread::parked`]), nothing need be made to see anything.
//!
//! Who takes a unit brings its cells up to date that sweeps of its owner have left ([`runtime::filter::Scan`]).

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU16, compiler_fence};

use runtime::filter::{Ownership, STRIP_BYTES, Scan, ScanMemory};
use runtime::layout::SLOTS;

use crate::scans::Own;
use crate::slots::life;
use crate::{shadow, system, thread};

/// A unit has 2 to the power of this many bytes.
pub const BIASED_REGION_BITS: u32 = 14;

/// Nobody's yet.
const NOBODY: u16 = 0;
/// Everybody's, for good.
const UNBIASED: u16 = u16::MAX;
/// Being taken away.
const BEING_REVOKED: u16 = u16::MAX - 1;
/// With the owner's slot + 1: it is the second owner.
const SECOND: u16 = 1 << 13;

const _: () = assert!(SLOTS < SECOND as usize);

static ENABLED: AtomicBool = AtomicBool::new(false);
/// One at a time takes units away.
static REVOKING: AtomicBool = AtomicBool::new(false);

/// Bias a unit is. Zero at first.
pub type Owner = AtomicU16;

/// At the start of the process, and in a forked child.
pub fn start() {
    REVOKING.store(false, Relaxed);
    ENABLED.store(system::register_barrier(), Relaxed);
}

/// Whether other threads can be made to see what this one has written.
pub fn has_barrier() -> bool {
    ENABLED.load(Relaxed)
}

/// Makes all threads of the process see what this one has written, before what they read next.
pub fn make_seen() {
    if !system::barrier() {
        // The program has forbidden itself the call since. A store takes far less to be seen.
        ENABLED.store(false, Relaxed);
        system::sleep(2);
    }
}

/// Whether its thread is changing cells, and its sweep. `machine` has a fast way that knows its fields.
#[derive(Default)]
#[repr(C)]
pub struct CriticalRegion {
    pub(crate) inside: AtomicBool,
    /// A unit was taken from the thread since it looked last. In a critical that finds it false, the unit of the thread's sweep is its own: it was when
    /// the sweep came there, and who takes one says so here before it waits for the end of the critical.
    pub(crate) revoked: AtomicBool,
    /// Its thread begins no critical: `thread::parking`.
    pub(crate) parked: AtomicBool,
    pub scan: Scan,
}

/// Bias a unit is, for a thread that has begun to change a cell of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bias {
    /// This thread's: no other comes to its cells.
    Own,
    /// Everybody's: its cells are to be locked.
    None,
    /// Another's, or nobody's: it must be taken first.
    Other,
}

impl CriticalRegion {
    /// Begins to change a cell of a unit. Followed by [`CriticalRegion::end`], and nothing that waits in between.
    #[inline(always)]
    pub fn enter_region(&self, owner: &Owner, slot: u32) -> Bias {
        self.enter_any();
        match owner.load(Relaxed) {
            now if u32::from(now & !SECOND) == slot + 1 => Bias::Own,
            UNBIASED => Bias::None,
            _ => Bias::Other,
        }
    }

    /// Begins to change cells, or the sweep, of what is looked for next.
    #[inline(always)]
    pub fn enter_any(&self) {
        self.inside.store(true, Relaxed);
        // The processor's order is seen to by who takes a unit away.
        compiler_fence(SeqCst);
    }

    /// [`CriticalRegion::enter_region`], after taking it if need be: whether this thread, of this slot, has the unit of an address to itself.
    #[inline]
    pub fn enter(&self, addr: usize, slot: u32) -> bool {
        let Some(leaf) = shadow::leaf(addr) else { return false };
        let owner = leaf.owner(addr);
        loop {
            match self.enter_region(owner, slot) {
                Bias::Own => {
                    if leaf.strip(addr).is_scanned() {
                        self.scan.write_back(&Own(slot), addr);
                    }
                    return true;
                }
                Bias::None => {
                    // What follows may wait for the lock of a cell.
                    self.leave();
                    return false;
                }
                Bias::Other => {
                    self.leave();
                    claim(addr, owner, slot);
                }
            }
        }
    }

    /// The cell is changed, if one was.
    #[inline(always)]
    pub fn leave(&self) {
        self.inside.store(false, Release);
    }

    /// Whether its thread is changing cells: a signal handler must not come in between.
    #[inline]
    pub fn is_inside(&self) -> bool {
        self.inside.load(Relaxed)
    }

    /// Whether the sweep is in memory that this thread has to itself. Asked after the thread has said how far it has come: then who takes
    /// the memory later knows that, too.
    #[inline(always)]
    pub fn is_undisturbed(&self) -> bool {
        compiler_fence(SeqCst);
        !self.revoked.load(Relaxed)
    }

    /// The same, when it was not sure: what was taken may be something else.
    pub fn still_owns_scan(&self, slot: u32) -> bool {
        // First this, in the processor's order, too: who takes the unit after the look says so again.
        self.revoked.swap(false, SeqCst);
        let base = self.scan.base();
        // There may be none any more.
        base != 0 && ownership(base, slot) == Ownership::Own
    }

    /// A handler of the program's was here: the sweep of who was interrupted is over, even if he is about to go on with it.
    pub fn interrupt(&self, slot: u32) {
        self.end_scan(slot);
        self.revoked.store(true, SeqCst);
    }

    /// Ends the sweep of the thread, which is changing nothing.
    pub fn end_scan(&self, slot: u32) {
        loop {
            self.enter_any();
            let is_over = self.scan.end(&Own(slot));
            self.leave();
            if is_over {
                return;
            }
            system::give_way();
        }
    }

    /// Waits until its thread is changing nothing, or has begun anew.
    fn wait_until_left(&self) {
        while self.inside.load(Acquire) {
            system::give_way();
        }
    }
}

/// Bias the unit of an address is, for the sweep of a thread of this slot.
#[inline]
pub fn ownership(addr: usize, slot: u32) -> Ownership {
    match shadow::owner(addr).map(|owner| owner.load(Acquire)) {
        Some(now) if u32::from(now & !SECOND) == slot + 1 => Ownership::Own,
        Some(BEING_REVOKED) => Ownership::Revoking,
        _ => Ownership::Foreign,
    }
}

/// Whether a unit is everybody's.
#[inline(always)]
pub fn is_unbiased(owner: &Owner) -> bool {
    owner.load(Relaxed) == UNBIASED
}

/// Makes the unit of an address common: its cells will be held while something else is done.
pub fn unbias(addr: usize) {
    let Some(owner) = shadow::owner(addr) else { return };
    while owner.load(Relaxed) != UNBIASED {
        revoke(addr, owner, UNBIASED);
    }
}

/// Takes a unit that is not this thread's, and not common.
#[cold]
#[inline(never)]
fn claim(addr: usize, owner: &Owner, slot: u32) {
    let mine = slot as u16 + 1;
    let now = owner.load(Relaxed);
    if now == NOBODY {
        let first = if ENABLED.load(Relaxed) { mine } else { UNBIASED };
        if owner.compare_exchange(NOBODY, first, AcqRel, Relaxed).is_ok() {
            shadow::prepare(addr);
        }
    } else {
        revoke(addr, owner, if now & SECOND == 0 { mine | SECOND } else { UNBIASED });
    }
}

/// Takes the unit of an address from its owner, if it has one. Nobody who has begun a critical, or has locked a cell, comes here: the
/// owner may be waiting for that.
fn revoke(addr: usize, owner: &Owner, new: u16) {
    while REVOKING.swap(true, Acquire) {
        system::give_way();
    }
    let old = owner.load(Relaxed);
    if old == NOBODY {
        let _ = owner.compare_exchange(NOBODY, new, AcqRel, Relaxed);
    } else if old != UNBIASED {
        owner.store(BEING_REVOKED, SeqCst);
        let slot = u32::from(old & !SECOND) - 1;
        let thread = thread::of_slot(slot);
        if let Some(thread) = thread {
            thread.critical.revoked.store(true, SeqCst);
        }
        if let Some(thread) = thread
            && thread.life.load(Acquire) & life::ENDED == 0
        {
            // After the unit was marked.
            let is_parked = thread.critical.parked.load(SeqCst);
            if !is_parked {
                make_seen();
            }
            thread.critical.wait_until_left();
        }
        if let Some(thread) = thread {
            let region = addr & !((1 << BIASED_REGION_BITS) - 1);
            for base in (region..region + (1 << BIASED_REGION_BITS)).step_by(STRIP_BYTES) {
                let own = Own(slot);
                own.strip(base).write_back(base, &thread.critical.scan, |word| own.cell(word));
            }
        }
        // It may have been another's second by now.
        let new = if old & SECOND == 0 { new } else { UNBIASED };
        owner.store(new, Release);
    }
    REVOKING.store(false, Release);
}

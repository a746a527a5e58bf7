//! Biased regions: a thread changes the shadow cells of memory that it owns without locking them.
//!
//! A lock costs more than the rest of a deferred access. So each region of memory belongs to the first thread that
//! comes, which only says that it is inside its [`CriticalRegion`]. Another thread that comes revokes the bias: it
//! makes the owner's processor see that (`membarrier`), and waits until the owner has left its critical region. The
//! second owner is the last: then the region is unbiased, and its cells are locked, or its blocks leased ([`leases`]).
//! Without `membarrier`, all regions are unbiased, and nothing is leased.
//!
//! A thread that is parked ([`thread::parked`]) needs no barrier.
//!
//! A revoker writes back the strips that scans of the owner have left ([`runtime::filter::Scan`]).
//! `docs/recording/shadow.md` shows the protocol side by side.

pub mod leases;

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU16, compiler_fence};

use runtime::filter::{Ownership, STRIP_BYTES, Scan, ScanMemory};
use runtime::layout::SLOTS;

use crate::failing::{self, Place, may_fail};
use crate::scans::Own;
use crate::slots::slot_state;
use crate::{shadow, system, thread};
use leases::Leases;

/// A biased region has 2 to the power of this many bytes.
pub const BIASED_REGION_BITS: u32 = 14;

/// No thread has come yet.
const UNCLAIMED: u16 = 0;
/// Of a region: unbiased for good, its blocks can be leased. Of a lease: ended for good, its cells are locked.
const UNBIASED: u16 = u16::MAX;
/// Being revoked.
const BEING_REVOKED: u16 = u16::MAX - 1;
/// Set beside the owner's slot + 1: it is the second owner.
const SECOND: u16 = 1 << 13;

const _: () = assert!(SLOTS < SECOND as usize);

static ENABLED: AtomicBool = AtomicBool::new(false);
/// One thread at a time revokes.
static REVOKING: AtomicBool = AtomicBool::new(false);

/// The owner of a region. Zero at first.
pub type Owner = AtomicU16;

/// Called at the start of the process, and in a forked child.
pub fn start() {
    REVOKING.store(false, Relaxed);
    ENABLED.store(system::register_barrier(), Relaxed);
}

/// Whether `membarrier` is available.
pub fn has_barrier() -> bool {
    ENABLED.load(Relaxed)
}

/// Makes all threads of the process see what this one has written, before what they read next.
pub fn make_seen() {
    if !system::barrier() {
        // The program has forbidden the call since. A store takes far less time to be seen.
        ENABLED.store(false, Relaxed);
        system::sleep(2);
    }
}

/// The critical region of a thread, and its scan. `machine::reads` knows the offsets of the fields.
#[derive(Default)]
#[repr(C)]
pub struct CriticalRegion {
    pub(crate) inside: AtomicBool,
    /// A region was revoked from the thread since it looked last. While this is false inside the critical region, the
    /// thread owns the region of its scan: it did when the scan came there, and a revoker sets this before it waits for
    /// the thread to leave.
    pub(crate) revoked: AtomicBool,
    /// Its thread enters no critical region: `thread::parking`.
    pub(crate) parked: AtomicBool,
    pub scan: Scan,
    pub(crate) leases: Leases,
}

/// The bias of a region, for a thread inside its critical region.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bias {
    /// Towards this thread: no other thread comes to its cells.
    Own,
    /// Towards no thread: its cells are to be locked.
    None,
    /// Towards another thread, or not yet decided: it must be claimed or revoked first.
    Other,
}

impl CriticalRegion {
    /// Enters the critical region, to change a cell of a biased region. The thread calls [`CriticalRegion::leave`]
    /// soon, and waits for nothing in between.
    #[inline(always)]
    pub fn enter_region(&self, owner: &Owner, slot: u32) -> Bias {
        self.enter_any();
        match owner.load(Relaxed) {
            now if u32::from(now & !SECOND) == slot + 1 => Bias::Own,
            UNBIASED => Bias::None,
            _ => Bias::Other,
        }
    }

    /// Enters the critical region, to change cells or the scan.
    #[inline(always)]
    pub fn enter_any(&self) {
        self.inside.store(true, Relaxed);
        // The revoker's `membarrier` takes care of the processor's order.
        compiler_fence(SeqCst);
    }

    /// Enters the critical region, after claiming or revoking the biased region of an address if need be. Returns
    /// whether this thread, of this slot, owns it; if not, the critical region is left again, and cells must be locked.
    #[inline]
    pub fn enter(&self, addr: usize, slot: u32) -> bool {
        self.enter_blocks(addr, 1, slot)
    }

    /// [`CriticalRegion::enter`] for this many blocks side by side, all of one strip.
    #[inline]
    pub fn enter_blocks(&self, addr: usize, count: usize, slot: u32) -> bool {
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
                    if let Some(is_leased) = self.enter_leased(addr, leaf.leases(addr, count), slot) {
                        return is_leased;
                    }
                }
                Bias::Other => {
                    self.leave();
                    claim(addr, owner, slot);
                }
            }
        }
    }

    /// Leaves the critical region.
    #[inline(always)]
    pub fn leave(&self) {
        self.inside.store(false, Release);
    }

    /// Whether its thread is inside: a signal handler must not run then.
    #[inline]
    pub fn is_inside(&self) -> bool {
        self.inside.load(Relaxed)
    }

    /// Whether no region was revoked since the last look, so that the scan is in memory of this thread. Asked after the
    /// thread has stored how far the scan has come: a later revoker then knows that, too.
    #[inline(always)]
    pub fn is_undisturbed(&self) -> bool {
        compiler_fence(SeqCst);
        !self.revoked.load(Relaxed)
    }

    /// Whether the thread still owns the memory of its scan, after [`CriticalRegion::is_undisturbed`] was false:
    /// another region may have been revoked.
    pub fn still_owns_scan(&self, slot: u32) -> bool {
        // This comes first, in the processor's order, too: a thread that revokes the region after the look sets it
        // again.
        self.revoked.swap(false, SeqCst);
        let base = self.scan.base();
        // The scan may have ended.
        base != 0 && ownership(base, slot) == Ownership::Own
    }

    /// A signal handler of the program was here: the scan of the interrupted code is over, even if it is about to go
    /// on.
    pub fn interrupt(&self, slot: u32) {
        self.end_scan(slot);
        self.revoked.store(true, SeqCst);
    }

    /// Ends the scan of the thread, which is outside of its critical region.
    pub fn end_scan(&self, slot: u32) {
        loop {
            self.enter_any();
            let is_over = self.scan.end(&Own(slot));
            self.leave();
            if is_over || failing::has_failed() {
                return;
            }
            failing::pause();
        }
    }

    /// Waits until its thread has left the critical region (and perhaps entered it again).
    fn wait_until_left(&self) {
        while self.inside.load(Acquire) {
            failing::pause();
        }
    }
}

/// Who owns the region of an address, for the scan of a thread of this slot.
#[inline]
pub fn ownership(addr: usize, slot: u32) -> Ownership {
    match shadow::owner(addr).map(|owner| owner.load(Acquire)) {
        Some(now) if u32::from(now & !SECOND) == slot + 1 => Ownership::Own,
        Some(BEING_REVOKED) => Ownership::Revoking,
        _ => Ownership::Foreign,
    }
}

/// Whether a region is unbiased.
#[inline(always)]
pub fn is_unbiased(owner: &Owner) -> bool {
    owner.load(Relaxed) == UNBIASED
}

/// Whether at most one thread has come to a region.
pub fn had_one_owner(owner: &Owner) -> bool {
    let now = owner.load(Relaxed);
    now != UNBIASED && now != BEING_REVOKED && now & SECOND == 0
}

/// Makes the region of an address unbiased, and ends the lease of its block for good: its cells will be locked while
/// something else is done.
pub fn unbias(addr: usize) {
    unbias_region(addr);
    if let Some(leaf) = shadow::leaf(addr) {
        leases::end(leaf.leases(addr, 1));
    }
}

/// Makes the region of an address unbiased.
pub fn unbias_region(addr: usize) {
    let Some(owner) = shadow::owner(addr) else { return };
    while owner.load(Relaxed) != UNBIASED {
        revoke(addr, owner, UNBIASED);
    }
}

/// Claims a region that is neither this thread's nor unbiased.
#[cold]
#[inline(never)]
fn claim(addr: usize, owner: &Owner, slot: u32) {
    let mine = slot as u16 + 1;
    let now = owner.load(Relaxed);
    if now == UNCLAIMED {
        let first = if ENABLED.load(Relaxed) { mine } else { UNBIASED };
        if owner.compare_exchange(UNCLAIMED, first, AcqRel, Relaxed).is_ok() {
            shadow::prepare(addr);
        }
    } else {
        revoke(addr, owner, if now & SECOND == 0 { mine | SECOND } else { UNBIASED });
    }
}

/// Revokes the bias of the region of an address, if it has an owner. The caller is outside of its own critical region,
/// and has locked no cell. Two threads that revoke each other's regions, and a thread that waits for a locked cell
/// while it is the owner here, would otherwise wait for ever.
fn revoke(addr: usize, owner: &Owner, new: u16) {
    while REVOKING.swap(true, Acquire) {
        failing::pause();
    }
    let old = owner.load(Relaxed);
    if old == UNCLAIMED {
        let _ = owner.compare_exchange(UNCLAIMED, new, AcqRel, Relaxed);
    } else if old != UNBIASED {
        owner.store(BEING_REVOKED, SeqCst);
        may_fail(Place::Revoke);
        let slot = u32::from(old & !SECOND) - 1;
        let thread = thread::of_slot(slot);
        if let Some(thread) = thread {
            thread.critical.revoked.store(true, SeqCst);
        }
        if let Some(thread) = thread
            && thread.slot_state.load(Acquire) & slot_state::ENDED == 0
        {
            // This load comes after the region was marked.
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
        // It may have got its second owner meanwhile.
        let new = if old & SECOND == 0 { new } else { UNBIASED };
        owner.store(new, Release);
    }
    REVOKING.store(false, Release);
}

//! Leases: in an unbiased region, a thread owns a block of 64 bytes until it next releases a lock or the like.
//!
//! Programs hand data over from thread to thread, and each thread accesses what it has got several times before it
//! hands it on. A lock of the cell for each access costs more than the rest. So a thread that comes to a block takes
//! its lease by one exchange, and changes its cells as those of a biased region from then on: inside its critical
//! region, without locks. Before it releases a lock, notifies or waits, it gives its leases back, by plain stores: the
//! next thread that comes finds the block free.
//!
//! A thread that comes to a block that another one has leased revokes the lease, as it would revoke a bias. Both use
//! the block at the same time, so it has no leases any more: its cells are locked from then on. Where that happens
//! often, the same is done for all blocks of the region.
//!
//! Correctness does not depend on giving back: a revoker waits until the holder has left its critical region.

use core::cell::Cell;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use super::{
    BEING_REVOKED, BIASED_REGION_BITS, Bias, CriticalRegion, ENABLED, Owner, REVOKING, UNBIASED, UNCLAIMED, make_seen,
};
use crate::shadow::Leaf;
use crate::slots::slot_state;
use crate::{failing, shadow, thread};
use runtime::filter::BLOCK_BYTES;

/// Leases of a thread at once. A further one takes the place of the oldest, which is given back.
const HELD: usize = 32;
/// Blocks of a region.
const BLOCKS: usize = (1 << BIASED_REGION_BITS) / BLOCK_BYTES;
/// After this many revocations in a region, all its blocks have leases no more.
const PATIENCE: u16 = 64;

/// The leases that a thread has to give back. Zeroed memory has none.
#[derive(Default)]
pub(crate) struct Leases {
    count: Cell<usize>,
    held: [Cell<Option<&'static Owner>>; HELD],
}

impl Leases {
    /// In a forked child, the shadow is empty.
    pub(crate) fn clear(&self) {
        self.count.set(0);
    }
}

impl CriticalRegion {
    /// Enters the critical region, to change cells of a block of an unbiased region.
    #[inline(always)]
    pub fn enter_block(&self, lease: &Owner, slot: u32) -> Bias {
        self.enter_any();
        match lease.load(Relaxed) {
            now if u32::from(now) == slot + 1 => Bias::Own,
            UNBIASED => Bias::None,
            _ => Bias::Other,
        }
    }

    /// Leases a block, if it is free. The thread is outside of its critical region.
    #[inline(always)]
    pub fn lease_if_free(&self, lease: &'static Owner, slot: u32) {
        if lease.load(Relaxed) == UNCLAIMED
            && ENABLED.load(Relaxed)
            && lease.compare_exchange(UNCLAIMED, slot as u16 + 1, AcqRel, Relaxed).is_ok()
        {
            let Leases { count, held } = &self.leases;
            let number = count.get();
            count.set(number.wrapping_add(1));
            let place = &held[number % HELD];
            if number >= HELD
                && let Some(oldest) = place.get()
            {
                self.enter_any();
                give_back(oldest, slot);
                self.leave();
            }
            place.set(Some(lease));
        }
    }

    /// For a thread inside its critical region: stays there, if it has all these leases. Otherwise leaves it. Then the
    /// cells are to be locked (`Some(false)`), or this is to be tried again.
    #[inline(always)]
    pub(super) fn enter_leased(&self, addr: usize, leases: &'static [Owner], slot: u32) -> Option<bool> {
        if let [lease] = leases {
            match lease.load(Relaxed) {
                now if u32::from(now) == slot + 1 => return Some(true),
                UNBIASED => {
                    // What follows may wait for the lock of a cell.
                    self.leave();
                    return Some(false);
                }
                _ => {}
            }
        }
        self.enter_all_leased(addr, leases, slot)
    }

    #[inline(never)]
    fn enter_all_leased(&self, addr: usize, leases: &'static [Owner], slot: u32) -> Option<bool> {
        if leases.iter().all(|lease| u32::from(lease.load(Relaxed)) == slot + 1) {
            return Some(true);
        }
        self.leave();
        if leases.iter().any(|lease| lease.load(Relaxed) == UNBIASED) || !ENABLED.load(Relaxed) {
            end(leases);
            return Some(false);
        }
        for lease in leases {
            self.lease_if_free(lease, slot);
            if u32::from(lease.load(Relaxed)) != slot + 1 {
                contended(addr, lease);
            }
        }
        None
    }

    /// Gives all leases back: others may come to the blocks next.
    #[inline(always)]
    pub fn give_back(&self, slot: u32) {
        if self.leases.count.get() != 0 {
            self.give_all_back(slot);
        }
    }

    #[inline(never)]
    fn give_all_back(&self, slot: u32) {
        let Leases { count, held } = &self.leases;
        self.enter_any();
        for lease in held.iter().take(count.get()) {
            if let Some(lease) = lease.get() {
                give_back(lease, slot);
            }
        }
        self.leave();
        count.set(0);
    }
}

/// Gives a lease back, inside the critical region. A revoker that has marked it meanwhile finds it free.
#[inline(always)]
fn give_back(lease: &Owner, slot: u32) {
    if u32::from(lease.load(Relaxed)) == slot + 1 {
        lease.store(UNCLAIMED, Release);
    }
}

/// Another thread has leased a block to which this one has come.
#[cold]
#[inline(never)]
fn contended(addr: usize, lease: &'static Owner) {
    end(core::slice::from_ref(lease));
    if let Some(leaf) = shadow::leaf(addr) {
        let revoked = leaf.revoked(addr);
        let count = revoked.load(Relaxed).saturating_add(1);
        revoked.store(count, Relaxed);
        if count == PATIENCE {
            end(leaf.leases(addr & !((1 << BIASED_REGION_BITS) - 1), BLOCKS));
        }
    }
}

/// How many blocks from an address on are either locked all or leased all, if their region is unbiased.
#[inline]
pub fn alike(leaf: Leaf, addr: usize, count: usize) -> usize {
    if count <= 1 || !super::is_unbiased(leaf.owner(addr)) {
        return count;
    }
    let leases = leaf.leases(addr, count);
    let is_first = super::is_unbiased(leaf.lease(addr));
    leases.iter().take_while(|lease| super::is_unbiased(lease) == is_first).count()
}

/// Ends the leases of blocks of one region for good. The caller is as for [`super::revoke`].
pub(super) fn end(leases: &[Owner]) {
    for part in leases.chunks(BLOCKS) {
        while part.iter().any(|lease| lease.load(Relaxed) != UNBIASED) {
            revoke(part);
        }
    }
}

/// Tries to end these leases. A holder may give one back before it sees the mark; then another thread may hold it, and
/// the caller tries again.
fn revoke(leases: &[Owner]) {
    while REVOKING.swap(true, Acquire) {
        failing::pause();
    }
    let mut holders = [UNCLAIMED; BLOCKS];
    for (lease, holder) in leases.iter().zip(&mut holders) {
        let now = lease.load(Relaxed);
        let new = if now == UNCLAIMED { UNBIASED } else { BEING_REVOKED };
        if now != UNBIASED && now != BEING_REVOKED && lease.compare_exchange(now, new, SeqCst, Relaxed).is_ok() {
            *holder = now;
        }
    }
    let threads = || {
        let of = |holder: &u16| thread::of_slot(u32::from(*holder).checked_sub(1)?);
        holders.iter().filter_map(of).filter(|thread| thread.slot_state.load(Acquire) & slot_state::ENDED == 0)
    };
    // These loads come after the leases were marked.
    if threads().any(|thread| !thread.critical.parked.load(SeqCst)) {
        make_seen();
    }
    threads().for_each(|thread| thread.critical.wait_until_left());
    for lease in leases {
        let _ = lease.compare_exchange(BEING_REVOKED, UNBIASED, Release, Relaxed);
    }
    REVOKING.store(false, Release);
}

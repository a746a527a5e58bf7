//! The shadow: a cell for each word of the program's memory, found through a table of two levels. There is no fixed
//! layout: the program's memory may be anywhere.
//!
//! ```text
//! leaf table -> leaf of 16 MB: | first entries | second entries | owners | strips | hand-offs | leases | revoked |
//! ```
//!
//! Read summaries are looked at far more often than anything else: `read_summaries` has them.

use core::ptr::{self, NonNull};
use core::slice;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU16};

use runtime::filter::{ADDRESS_BITS, AtomicEntry, BLOCK_BYTES, Cell, STRIP_BYTES, Strip};
use runtime::hand_off::HandOff;

use crate::biased::{self, BIASED_REGION_BITS, Owner};
use crate::system;

/// Bits of addresses of user space.
const USER_BITS: u32 = ADDRESS_BITS;
/// A leaf holds the cells of 2 to the power of this many bytes.
pub const LEAF_BITS: u32 = 24;
const LEAVES: usize = 1 << (USER_BITS - LEAF_BITS);
const TABLE_BYTES: usize = LEAVES * size_of::<usize>();
const LEAF_CELLS: usize = 1 << (LEAF_BITS - 3);
/// Bytes of the first entries of a leaf, or of the second ones.
const ENTRIES_BYTES: usize = LEAF_CELLS * size_of::<AtomicEntry>();
const OWNERS_AT: usize = 2 * ENTRIES_BYTES;
const OWNERS: usize = 1 << (LEAF_BITS - BIASED_REGION_BITS);
/// Strips of a leaf, behind the owners.
const STRIPS: usize = (1 << LEAF_BITS) / STRIP_BYTES;
const STRIPS_AT: usize = OWNERS_AT + OWNERS * size_of::<Owner>();
/// Hand-offs of locks, behind the strips: two locks are never within this many bytes.
const LOCK_BYTES: usize = 32;
const _: () = assert!(size_of::<libc::pthread_mutex_t>() >= LOCK_BYTES);
const HAND_OFFS: usize = (1 << LEAF_BITS) / LOCK_BYTES;
const HAND_OFFS_AT: usize = STRIPS_AT + STRIPS * size_of::<Strip>();
/// Leases of blocks, behind the hand-offs.
const LEASES: usize = (1 << LEAF_BITS) / BLOCK_BYTES;
const LEASES_AT: usize = HAND_OFFS_AT + HAND_OFFS * size_of::<HandOff>();
/// For each biased region, how many leases were revoked; behind the leases.
const REVOKED_AT: usize = LEASES_AT + LEASES * size_of::<Owner>();
const MAPPED_BYTES: usize = REVOKED_AT + OWNERS * size_of::<AtomicU16>();
/// An entry is this many times as large as its word.
const SCALE: usize = size_of::<AtomicEntry>() / 8;
const PAGE: usize = 4096;
/// Words whose first entries fill a page.
const PAGE_WORDS: usize = PAGE / size_of::<AtomicEntry>();

static LEAF_TABLE: AtomicPtr<AtomicPtr<AtomicEntry>> = AtomicPtr::new(ptr::null_mut());

/// Makes the table. Returns false if there is no address space for it.
pub fn start() -> bool {
    let Some(table) = system::map(TABLE_BYTES) else { return false };
    LEAF_TABLE.store(table.cast(), Release);
    true
}

/// The part of the shadow for 16 MB of addresses.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Leaf(NonNull<AtomicEntry>);

/// The leaf of an address, if there is one yet.
#[inline(always)]
pub fn leaf(addr: usize) -> Option<Leaf> {
    let table = LEAF_TABLE.load(Relaxed);
    // SAFETY: the index is masked; only watched threads come here, after `start`.
    NonNull::new(unsafe { (*table.add(addr >> LEAF_BITS & (LEAVES - 1))).load(Acquire) }).map(Leaf)
}

/// The leaf of an address that is known to have one.
#[inline(always)]
pub unsafe fn leaf_unchecked(addr: usize) -> Leaf {
    // SAFETY: the caller knows.
    unsafe { leaf(addr).unwrap_unchecked() }
}

impl Leaf {
    /// The cell of one of its addresses.
    #[inline(always)]
    pub fn cell(self, addr: usize) -> Cell<'static> {
        let first = self.first_entry(addr);
        // SAFETY: masked to the leaf.
        unsafe { Cell::new(&*first, &*first.byte_add(ENTRIES_BYTES)) }
    }

    /// The first and the second entries of the cells of this many blocks side by side, or as many as are in the strip.
    #[inline(always)]
    pub fn blocks(self, addr: usize, count: usize) -> [&'static [AtomicEntry]; 2] {
        let first = self.first_entry(addr & !(BLOCK_BYTES - 1));
        let cells = count.min((STRIP_BYTES - addr % STRIP_BYTES).div_ceil(BLOCK_BYTES)) * BLOCK_BYTES / 8;
        // SAFETY: masked to the leaf, which has whole strips.
        unsafe { [first, first.byte_add(ENTRIES_BYTES)].map(|entries| slice::from_raw_parts(entries, cells)) }
    }

    /// The first entry of a cell. It is not zero if anything is known.
    #[inline(always)]
    fn first_entry(self, addr: usize) -> *mut AtomicEntry {
        // In bytes, to save a shift.
        self.0.as_ptr().wrapping_byte_add((addr * SCALE) & (ENTRIES_BYTES - size_of::<AtomicEntry>()))
    }

    /// The owner of the biased region of one of its addresses.
    #[inline(always)]
    pub fn owner(self, addr: usize) -> &'static Owner {
        // SAFETY: behind the cells of the leaf, masked to their number.
        unsafe { self.0.byte_add(OWNERS_AT).cast::<Owner>().add(addr >> BIASED_REGION_BITS & (OWNERS - 1)).as_ref() }
    }

    /// The lease of the block of one of its addresses.
    #[inline(always)]
    pub fn lease(self, addr: usize) -> &'static Owner {
        // SAFETY: behind the hand-offs of the leaf, masked to their number.
        unsafe { self.0.byte_add(LEASES_AT).cast::<Owner>().add((addr / BLOCK_BYTES) & (LEASES - 1)).as_ref() }
    }

    /// The leases of this many blocks side by side, or as many as are in the biased region.
    #[inline(always)]
    pub fn leases(self, addr: usize, count: usize) -> &'static [Owner] {
        const REGION: usize = 1 << BIASED_REGION_BITS;
        let count = count.min((REGION - addr % REGION).div_ceil(BLOCK_BYTES));
        // SAFETY: a leaf has whole regions.
        unsafe { slice::from_raw_parts(self.lease(addr), count) }
    }

    /// How many leases of the region of one of its addresses were revoked.
    pub fn revoked(self, addr: usize) -> &'static AtomicU16 {
        // SAFETY: behind the leases of the leaf, masked to the number of regions.
        unsafe {
            let first = self.0.byte_add(REVOKED_AT).cast::<AtomicU16>();
            first.add(addr >> BIASED_REGION_BITS & (OWNERS - 1)).as_ref()
        }
    }

    /// The strip of one of its addresses.
    #[inline(always)]
    pub fn strip(self, addr: usize) -> &'static Strip {
        // SAFETY: behind the owners of the leaf, masked to their number.
        unsafe { self.0.byte_add(STRIPS_AT).cast::<Strip>().add((addr / STRIP_BYTES) & (STRIPS - 1)).as_ref() }
    }
}

/// The hand-off of the lock at an address, if its part of the shadow is there.
#[inline(always)]
pub fn hand_off(lock: usize) -> Option<&'static HandOff> {
    let Leaf(leaf) = leaf(lock)?;
    // SAFETY: behind the strips of the leaf, masked to their number.
    Some(unsafe { leaf.byte_add(HAND_OFFS_AT).cast::<HandOff>().add((lock / LOCK_BYTES) & (HAND_OFFS - 1)).as_ref() })
}

/// The hand-off of the lock at an address. Its part of the shadow is made, unless there is no memory for it.
pub fn hand_off_or_create(lock: usize) -> Option<&'static HandOff> {
    cell(lock).and_then(|_| hand_off(lock))
}

/// Forgets the locks of a range.
pub fn forget_locks(addr: usize, size: usize) {
    /// Memory whose hand-offs fill a page.
    const SPAN: usize = PAGE / size_of::<HandOff>() * LOCK_BYTES;
    const MANY: usize = 16;
    let Some(end) = addr.checked_add(size).filter(|&end| end >> USER_BITS == 0) else { return };
    let mut at = addr & !(LOCK_BYTES - 1);
    while at < end {
        let stop = end.min((at | ((1 << LEAF_BITS) - 1)) + 1);
        let Some(hand_off) = hand_off(at) else {
            at = stop;
            continue;
        };
        let whole = (stop - at) & !(SPAN - 1);
        if at.is_multiple_of(SPAN) && whole >= MANY * SPAN {
            // SAFETY: whole pages of one leaf.
            unsafe { system::discard((&raw const *hand_off).cast_mut().cast(), whole / SPAN * PAGE) };
            at += whole;
            continue;
        }
        hand_off.forget();
        at += LOCK_BYTES;
    }
}

/// The owner of the biased region of an address, if its part of the shadow is there.
#[inline(always)]
pub fn owner(addr: usize) -> Option<&'static Owner> {
    leaf(addr).map(|leaf| leaf.owner(addr))
}

/// The cell of an address, if its part of the shadow is there.
#[inline(always)]
pub fn find(addr: usize) -> Option<Cell<'static>> {
    leaf(addr).map(|leaf| leaf.cell(addr))
}

/// The cell of an address; `None` only for want of memory, or for an address that no program can have.
#[inline]
pub fn cell(addr: usize) -> Option<Cell<'static>> {
    if let Some(cell) = find(addr) { Some(cell) } else { make(addr) }
}

#[cold]
fn make(addr: usize) -> Option<Cell<'static>> {
    if addr >> USER_BITS != 0 {
        return None;
    }
    let new = system::map(MAPPED_BYTES)?;
    // SAFETY: the mapping is ours; the index is in range.
    unsafe {
        system::wipe_on_fork(new, MAPPED_BYTES);
        let entry = &*LEAF_TABLE.load(Relaxed).add(addr >> LEAF_BITS);
        if entry.compare_exchange(ptr::null_mut(), new.cast(), AcqRel, Acquire).is_err() {
            system::unmap(new, MAPPED_BYTES);
        }
    }
    find(addr)
}

/// Gets memory for the cells of a biased region when the first thread comes. Page by page, each read before it is
/// changed, it would cost two faults, the second of which stops all other threads for a moment. If memory is being
/// filled upwards, all of the region is used soon.
pub fn prepare(addr: usize) {
    const SPAN: usize = PAGE_WORDS * 8;
    const REGION: usize = 1 << BIASED_REGION_BITS;
    let Some(leaf) = leaf(addr) else { return };
    let bytes = if is_filled((addr & !(REGION - 1)).wrapping_sub(REGION)) { REGION } else { SPAN };
    let first = leaf.first_entry(addr & !(bytes - 1)).cast::<u8>();
    // SAFETY: whole pages of one leaf.
    unsafe {
        system::populate(first, bytes * SCALE);
        system::populate(first.byte_add(ENTRIES_BYTES), bytes * SCALE);
    }
}

/// Whether much of a region has been accessed, judged by the ends of its parts. Other threads may be changing it.
fn is_filled(region: usize) -> bool {
    const PARTS: usize = 8;
    const ENOUGH: usize = 3;
    if owner(region).is_none_or(|owner| owner.load(Relaxed) == 0) {
        return false;
    }
    let ends = (1..=PARTS).map(|part| region + (part << BIASED_REGION_BITS) / PARTS - 8);
    ends.filter(|&end| find(end).is_some_and(|cell| !cell.is_empty())).take(ENOUGH).count() == ENOUGH
}

/// Calls `f` with each word and its cell in a range that may have been touched since its shadow was made. Of ranges of
/// many pages, the kernel is asked first, so that shadow that was never used stays unused.
pub fn each_touched(addr: usize, size: usize, mut f: impl FnMut(usize, Cell<'static>)) {
    const ASK: usize = 16;
    let Some(end) = addr.checked_add(size).filter(|&end| end >> USER_BITS == 0) else { return };
    let mut at = addr & !7;
    while at < end {
        let stop = end.min((at | ((1 << LEAF_BITS) - 1)) + 1);
        let Some(leaf) = leaf(at) else {
            at = stop;
            continue;
        };
        if stop - at < ASK * PAGE_WORDS * 8 {
            while at < stop {
                f(at, leaf.cell(at));
                at += 8;
            }
            continue;
        }
        // As many pages as the answer has room for.
        let mut resident = [0u8; 1024];
        let first = leaf.first_entry(at) as usize & !(PAGE - 1);
        let begin = at & !(PAGE_WORDS * 8 - 1);
        let pages = (stop - begin).div_ceil(PAGE_WORDS * 8).min(resident.len());
        let known = system::resident(first, pages * PAGE, &mut resident);
        for (page, &resident) in resident[..pages].iter().enumerate() {
            let page_end = stop.min(begin + (page + 1) * PAGE_WORDS * 8);
            if known && resident & 1 == 0 {
                at = page_end;
            }
            while at < page_end {
                f(at, leaf.cell(at));
                at += 8;
            }
        }
    }
}

/// Gives the memory of cells back that fill whole pages: they are empty from then on. Their nodes must have been
/// returned.
pub fn discard(addr: usize, size: usize) {
    const SPAN: usize = PAGE_WORDS * 8;
    let end = (addr + size) & !(SPAN - 1);
    let mut at = addr.next_multiple_of(SPAN);
    while at < end {
        let stop = end.min((at | ((1 << LEAF_BITS) - 1)) + 1);
        if let Some(leaf) = leaf(at) {
            let first = leaf.first_entry(at).cast::<u8>();
            // SAFETY: whole pages of one leaf.
            unsafe {
                system::discard(first, (stop - at) * SCALE);
                system::discard(first.byte_add(ENTRIES_BYTES), (stop - at) * SCALE);
            }
        }
        at = stop;
    }
}

/// In a forked child, all cells are empty.
pub fn after_fork_child() {
    each_leaf(|_, Leaf(leaf)| {
        // SAFETY: leaves are mappings of this size.
        unsafe { system::discard(leaf.as_ptr().cast(), MAPPED_BYTES) };
    });
}

/// Calls `f` with each contended word and its cell. Threads that run may make others contended meanwhile.
pub fn each_contended(mut f: impl FnMut(usize, Cell<'static>)) {
    const REGION: usize = 1 << BIASED_REGION_BITS;
    each_leaf(|base, leaf| {
        for region in (base..base + (1 << LEAF_BITS)).step_by(REGION) {
            // Where only one thread has come, nothing is contended.
            if biased::had_one_owner(leaf.owner(region)) {
                continue;
            }
            for word in (region..region + REGION).step_by(8) {
                let cell = leaf.cell(word);
                if cell.is_contended() {
                    f(word, cell);
                }
            }
        }
    });
}

/// Calls `f` with each leaf, and the first address of its memory.
fn each_leaf(mut f: impl FnMut(usize, Leaf)) {
    let table = LEAF_TABLE.load(Relaxed);
    const ENTRIES: usize = PAGE / size_of::<usize>();
    const PAGES: usize = 1024;
    // Most of the table was never touched: look at its resident pages only.
    for part in (0..LEAVES / ENTRIES).step_by(PAGES) {
        let mut resident = [0; PAGES];
        // SAFETY: within the table, whose length is a multiple of this many pages.
        let first = unsafe { table.add(part * ENTRIES) };
        let known = system::resident(first as usize, PAGES * PAGE, &mut resident);
        for (page, &resident) in resident.iter().enumerate() {
            if known && resident & 1 == 0 {
                continue;
            }
            for i in 0..ENTRIES {
                let number = page * ENTRIES + i;
                // SAFETY: within the part of the table.
                let leaf = unsafe { (*first.add(number)).load(Acquire) };
                if let Some(leaf) = NonNull::new(leaf) {
                    f((part * ENTRIES + number) << LEAF_BITS, Leaf(leaf));
                }
            }
        }
    }
}

//! Parts of memory that one thread has to itself: it changes their cells without locking them.
//!
//! A lock costs more than all the rest of an access that is kept. So each unit of memory belongs to the first thread that comes, which only says
//! ([`Turn`]) that it is at it. Another thread that comes takes the unit away: it makes the owner's processor see that
//! (`membarrier`), and waits until the owner is not at it. The second owner is the last: then the unit is common, and its cells are
//! locked. Without `membarrier`, all are.
//!
//! Of a thread that is parked ([`thread::parked`]), nothing need be made to see anything.
//!
//! Who takes a unit brings its cells up to date that sweeps of its owner have left ([`runtime::filter::Sweep`]).

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU16, compiler_fence};

use runtime::filter::{Ground, ROW_BYTES, Sweep, Whose as Swept};
use runtime::layout::SLOTS;

use crate::slots::life;
use crate::sweeps::Own;
use crate::{shadow, system, thread};

/// A unit has 2 to the power of this many bytes.
pub const UNIT_BITS: u32 = 14;

/// Nobody's yet.
const NOBODY: u16 = 0;
/// Everybody's, for good.
const COMMON: u16 = u16::MAX;
/// Being taken away.
const IN_BETWEEN: u16 = u16::MAX - 1;
/// With the owner's slot + 1: it is the second owner.
const SECOND: u16 = 1 << 13;

const _: () = assert!(SLOTS < SECOND as usize);

static ENABLED: AtomicBool = AtomicBool::new(false);
/// One at a time takes units away.
static TAKING: AtomicBool = AtomicBool::new(false);

/// Whose a unit is. Zero at first.
pub type Owner = AtomicU16;

/// At the start of the process, and in a forked child.
pub fn start() {
    TAKING.store(false, Relaxed);
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
pub struct Turn {
    pub(crate) begun: AtomicBool,
    /// A unit was taken from the thread since it looked last. In a turn that finds it false, the unit of the thread's sweep is its own: it was when
    /// the sweep came there, and who takes one says so here before it waits for the end of the turn.
    pub(crate) lost: AtomicBool,
    /// Its thread begins no turn: `thread::parking`.
    pub(crate) parked: AtomicBool,
    pub sweep: Sweep,
}

/// Whose a unit is, for a thread that has begun to change a cell of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// This thread's: no other comes to its cells.
    Mine,
    /// Everybody's: its cells are to be locked.
    Common,
    /// Another's, or nobody's: it must be taken first.
    Others,
}

impl Turn {
    /// Begins to change a cell of a unit. Followed by [`Turn::end`], and nothing that waits in between.
    #[inline(always)]
    pub fn try_begin(&self, owner: &Owner, slot: u32) -> Whose {
        self.begin_at_all();
        match owner.load(Relaxed) {
            now if u32::from(now & !SECOND) == slot + 1 => Whose::Mine,
            COMMON => Whose::Common,
            _ => Whose::Others,
        }
    }

    /// Begins to change cells, or the sweep, of what is looked for next.
    #[inline(always)]
    pub fn begin_at_all(&self) {
        self.begun.store(true, Relaxed);
        // The processor's order is seen to by who takes a unit away.
        compiler_fence(SeqCst);
    }

    /// [`Turn::try_begin`], after taking it if need be: whether this thread, of this slot, has the unit of an address to itself.
    #[inline]
    pub fn begin(&self, addr: usize, slot: u32) -> bool {
        let Some(leaf) = shadow::leaf(addr) else { return false };
        let owner = leaf.owner(addr);
        loop {
            match self.try_begin(owner, slot) {
                Whose::Mine => {
                    if leaf.row(addr).is_swept() {
                        self.sweep.dissolve(&Own(slot), addr);
                    }
                    return true;
                }
                Whose::Common => {
                    // What follows may wait for the lock of a cell.
                    self.end();
                    return false;
                }
                Whose::Others => {
                    self.end();
                    take(addr, owner, slot);
                }
            }
        }
    }

    /// The cell is changed, if one was.
    #[inline(always)]
    pub fn end(&self) {
        self.begun.store(false, Release);
    }

    /// Whether its thread is changing cells: a signal handler must not come in between.
    #[inline]
    pub fn is_begun(&self) -> bool {
        self.begun.load(Relaxed)
    }

    /// Whether the sweep is in memory that this thread has to itself. Asked after the thread has said how far it has come: then who takes
    /// the memory later knows that, too.
    #[inline(always)]
    pub fn is_sure(&self) -> bool {
        compiler_fence(SeqCst);
        !self.lost.load(Relaxed)
    }

    /// The same, when it was not sure: what was taken may be something else.
    pub fn still_sweeps(&self, slot: u32) -> bool {
        // First this, in the processor's order, too: who takes the unit after the look says so again.
        self.lost.swap(false, SeqCst);
        let base = self.sweep.base();
        // There may be none any more.
        base != 0 && whose(base, slot) == Swept::Mine
    }

    /// A handler of the program's was here: the sweep of who was interrupted is over, even if he is about to go on with it.
    pub fn interrupt(&self, slot: u32) {
        self.end_sweep(slot);
        self.lost.store(true, SeqCst);
    }

    /// Ends the sweep of the thread, which is changing nothing.
    pub fn end_sweep(&self, slot: u32) {
        loop {
            self.begin_at_all();
            let is_over = self.sweep.end(&Own(slot));
            self.end();
            if is_over {
                return;
            }
            system::give_way();
        }
    }

    /// Waits until its thread is changing nothing, or has begun anew.
    fn wait(&self) {
        while self.begun.load(Acquire) {
            system::give_way();
        }
    }
}

/// Whose the unit of an address is, for the sweep of a thread of this slot.
#[inline]
pub fn whose(addr: usize, slot: u32) -> Swept {
    match shadow::owner(addr).map(|owner| owner.load(Acquire)) {
        Some(now) if u32::from(now & !SECOND) == slot + 1 => Swept::Mine,
        Some(IN_BETWEEN) => Swept::InBetween,
        _ => Swept::Others,
    }
}

/// Whether a unit is everybody's.
#[inline(always)]
pub fn is_common(owner: &Owner) -> bool {
    owner.load(Relaxed) == COMMON
}

/// Makes the unit of an address common: its cells will be held while something else is done.
pub fn share(addr: usize) {
    let Some(owner) = shadow::owner(addr) else { return };
    while owner.load(Relaxed) != COMMON {
        take_away(addr, owner, COMMON);
    }
}

/// Takes a unit that is not this thread's, and not common.
#[cold]
#[inline(never)]
fn take(addr: usize, owner: &Owner, slot: u32) {
    let mine = slot as u16 + 1;
    let now = owner.load(Relaxed);
    if now == NOBODY {
        let first = if ENABLED.load(Relaxed) { mine } else { COMMON };
        if owner.compare_exchange(NOBODY, first, AcqRel, Relaxed).is_ok() {
            shadow::prepare(addr);
        }
    } else {
        take_away(addr, owner, if now & SECOND == 0 { mine | SECOND } else { COMMON });
    }
}

/// Takes the unit of an address from its owner, if it has one. Nobody who has begun a turn, or has locked a cell, comes here: the
/// owner may be waiting for that.
fn take_away(addr: usize, owner: &Owner, new: u16) {
    while TAKING.swap(true, Acquire) {
        system::give_way();
    }
    let old = owner.load(Relaxed);
    if old == NOBODY {
        let _ = owner.compare_exchange(NOBODY, new, AcqRel, Relaxed);
    } else if old != COMMON {
        owner.store(IN_BETWEEN, SeqCst);
        let slot = u32::from(old & !SECOND) - 1;
        let thread = thread::of_slot(slot);
        if let Some(thread) = thread {
            thread.turn.lost.store(true, SeqCst);
        }
        if let Some(thread) = thread
            && thread.life.load(Acquire) & life::ENDED == 0
        {
            // After the unit was marked.
            let is_parked = thread.turn.parked.load(SeqCst);
            if !is_parked {
                make_seen();
            }
            thread.turn.wait();
        }
        if let Some(thread) = thread {
            let unit = addr & !((1 << UNIT_BITS) - 1);
            for base in (unit..unit + (1 << UNIT_BITS)).step_by(ROW_BYTES) {
                let own = Own(slot);
                own.row(base).dissolve(base, &thread.turn.sweep, |granule| own.cell(granule));
            }
        }
        // It may have been another's second by now.
        let new = if old & SECOND == 0 { new } else { COMMON };
        owner.store(new, Release);
    }
    TAKING.store(false, Release);
}

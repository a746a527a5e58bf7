//! The hooks of plain accesses, which the compiler calls before every load and store. Hooks of reads begin in
//! `machine::reads`.
//!
//! The way of an access, each step tried only if the one before did not decide (`R` is [`runtime::filter::Recorder`]):
//!
//! ```text
//!  step                           here               filter, or elsewhere       decides if
//!  1 summary (8-byte reads)       is_in_summary      R::has_noted               read in this segment
//!  2 scan (reads)                 scans::advance     Scan::goes_on              the next element of a scan
//!  3 covered                      check_cell         R::is_covered              the cell says the same
//!    biased region, this thread's:
//!  4 scanned strip                access_biased      R::access_scanned          a scan goes on, or covered
//!  5 repetition                   access_biased      R::repeat_biased           as at an earlier point
//!  6 first access                 claim_word         R::first_touch             an empty cell
//!    taking over                                     R::take_over               all is before this thread
//!    unbiased region, leased block:
//!  4 repetition                   access_leased      R::repeat_biased           as at an earlier point
//!  5 taking over, first access    claim_leased       as above, and among readers: R::repeat_among_readers
//!    unbiased region, locked block:
//!  4 renewal                      read_locked        R::renew_read              the home entry gives way
//!                                 write_unbiased     R::renew_write
//!  5 repetition                   access_unbiased    R::repeat_locked           as at an earlier point
//!    everything else, in slow_path (revokes the bias of another thread if need be):
//!  7 deferred or recorded         record_uncovered   R::record_access           always
//!    ranges, memcpy, more than a word, in access_range:
//!  8 uniform blocks, one block    record_words       R::record_uniform_blocks, R::record_block
//! ```
//!
//! Steps 1 and 3 change nothing; step 2 stores how far the scan has come. Steps 4 to 6 need a known call context, but
//! for `access_unbiased`, which makes one, and goes on with step 7 if there is nothing to repeat. They take no lock,
//! except `renew_write` and `repeat_locked`, which lock the cell; `claim_leased` takes the lease of the block. Whatever
//! makes a context or comes to step 7 may block and write records.

mod hooks;
mod leased;

use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::compiler_fence;

use runtime::filter::{Cell, STRIP_BYTES, Strip};

use crate::biased::{self, Bias, Owner};
use crate::machine::{self, Tls};
use crate::memory::filter;
use crate::scans::{self, LOG2};
use crate::shadow::Leaf;
use crate::thread::Thread;
use crate::{gates, read_summaries, shadow, stacks, thread};
use leased::access_leased;

/// An access of `SIZE` bytes. Most are covered: a few instructions, and nothing is changed, so a signal handler may
/// come at any time. All else is in other functions, so that this one needs nothing of the stack.
#[inline(always)]
pub(crate) unsafe fn hook<const SIZE: usize, const READ: bool, const WRITE: bool>(addr: usize, pc: usize) {
    let thread = machine::accesses();
    if thread.is_null() {
        return slow_path::<SIZE, READ, WRITE>(addr, pc);
    }
    // SAFETY: this thread's own state.
    unsafe {
        // Of large tables that are read again and again, summaries are in the cache when cells are not.
        if READ && !WRITE && SIZE == 8 && is_in_summary(addr, thread) {
            return;
        }
        if READ && !WRITE && SIZE <= 8 && (*thread).critical.scan.is_next(addr, LOG2[SIZE]) {
            return scans::advance::<SIZE>(addr, pc, thread);
        }
        check_cell::<SIZE, READ, WRITE>(addr, pc, thread);
    }
}

/// Whether a read of a word is covered by its read summary. `machine::reads` does the same in assembly.
#[inline(always)]
unsafe fn is_in_summary(addr: usize, thread: *mut Thread) -> bool {
    // SAFETY: this thread's own state.
    unsafe {
        let Thread { recorder, summaries: own, .. } = &*thread;
        recorder.may_have_read(addr as u64) && recorder.has_noted(read_summaries::among(*own, addr), addr as u64)
    }
}

/// A read that belongs to no scan, and of which read summaries say nothing.
pub(crate) unsafe extern "C" fn read_by_cell<const SIZE: usize>(addr: usize, pc: usize, thread: *mut Thread) {
    // SAFETY: this thread's own state.
    unsafe { check_cell::<SIZE, true, false>(addr, pc, thread) };
}

/// Looks at the cell of an access, and chooses the path by the region's bias.
#[inline(always)]
unsafe fn check_cell<const SIZE: usize, const READ: bool, const WRITE: bool>(
    addr: usize,
    pc: usize,
    thread: *mut Thread,
) {
    let mask = ((1u32 << (SIZE & 15)) - 1) << (addr & 7);
    if (SIZE == 16 || mask <= 0xff)
        && let Some(leaf) = shadow::leaf(addr)
    {
        let cell = leaf.cell(addr);
        // SAFETY: this thread's own state.
        let recorder = unsafe { &(*thread).recorder };
        let is_covered = |cell, mask| {
            (!READ || recorder.is_covered(cell, mask, false)) && (!WRITE || recorder.is_covered(cell, mask, true))
        };
        if SIZE == 16 {
            // Two cells, side by side in one leaf.
            if addr & 15 == 0
                && is_covered(cell, 0xff)
                && shadow::find(addr + 8).is_some_and(|second| is_covered(second, 0xff))
            {
                return;
            }
        } else if READ && !WRITE {
            return if biased::is_unbiased(leaf.owner(addr)) {
                read_unbiased::<SIZE>(addr, pc, thread, leaf)
            } else if !recorder.is_covered_by_first(cell, mask as u8) {
                read_biased::<SIZE>(addr, pc, thread, leaf)
            };
        } else if is_covered(cell, mask as u8) {
            return;
        } else if WRITE && !READ {
            return if biased::is_unbiased(leaf.owner(addr)) {
                write_unbiased::<SIZE>(addr, pc, thread, leaf)
            } else {
                write_biased::<SIZE>(addr, pc, thread, leaf)
            };
        }
    }
    slow_path::<SIZE, READ, WRITE>(addr, pc);
}

/// A read in a biased region that is not covered by the first entry.
#[inline(never)]
extern "C" fn read_biased<const SIZE: usize>(addr: usize, pc: usize, thread: *mut Thread, leaf: Leaf) {
    let cell = leaf.cell(addr);
    // SAFETY: this thread's own state; its fast path is open.
    unsafe {
        if !(*thread).recorder.is_covered(cell, mask::<SIZE>(addr), false) {
            access_biased::<SIZE, true, false>(
                addr,
                pc,
                thread,
                cell,
                (leaf.owner(addr), leaf.strip(addr)),
                mask::<SIZE>(addr),
            );
        }
    }
}

/// A write in a biased region that is not covered.
#[inline(never)]
extern "C" fn write_biased<const SIZE: usize>(addr: usize, pc: usize, thread: *mut Thread, leaf: Leaf) {
    let (cell, mask) = (leaf.cell(addr), mask::<SIZE>(addr));
    // SAFETY: as in `read_biased`.
    unsafe { access_biased::<SIZE, false, true>(addr, pc, thread, cell, (leaf.owner(addr), leaf.strip(addr)), mask) };
}

/// The bytes of an access within a word.
#[inline(always)]
const fn mask<const SIZE: usize>(addr: usize) -> u8 {
    (((1u32 << SIZE) - 1) << (addr & 7)) as u8
}

/// An access in a biased region that is not covered. Most often the region is this thread's and the call context is
/// known, so this goes without the ceremony of other hooks. All calls are at its ends, so that it needs little of the
/// stack.
#[inline(always)]
unsafe fn access_biased<const SIZE: usize, const READ: bool, const WRITE: bool>(
    addr: usize,
    pc: usize,
    thread: *mut Thread,
    cell: Cell,
    (owner, strip): (&Owner, &Strip),
    mask: u8,
) {
    let tls = machine::tls();
    // SAFETY: this thread's own state; its fast path is open.
    unsafe {
        if (*tls).busy {
            return;
        }
        let Some(context) = (*thread).contexts.known_here(tls, pc) else {
            return slow_path::<SIZE, READ, WRITE>(addr, pc);
        };
        (*tls).busy = true;
        compiler_fence(SeqCst);
        (*thread).recorder.finish_scan(&(*thread).critical.scan);
        if SIZE == 8 && READ {
            read_summaries::note_read(addr, &mut (*thread).recorder);
        }
        let is_mine = (*thread).critical.enter_region(owner, (*thread).slot) == Bias::Own;
        let done = is_mine
            && (strip.is_scanned() && scans::access_scanned::<SIZE, WRITE>(addr, pc, thread, strip, context) || {
                let before = (*thread).recorder.now();
                let done = (*thread).recorder.repeat_biased(cell, mask, WRITE, context)
                    || !strip.is_scanned() && claim_word::<WRITE>(addr, thread, cell, mask, context);
                if READ
                    && done
                    && (addr as u32 & (STRIP_BYTES as u32 - 1) == 0 || (*thread).critical.scan.may_follow(addr))
                {
                    scans::note_scan_step::<SIZE>(addr, pc, thread, (cell, strip), context, before);
                }
                done
            });
        (*thread).critical.leave();
        compiler_fence(SeqCst);
        (*tls).busy = false;
        compiler_fence(SeqCst);
        if !done {
            return slow_path::<SIZE, READ, WRITE>(addr, pc);
        }
        if (*tls).deferred {
            crate::intercept::deliver();
        }
    }
}

/// The first access of a word, or of one that was another thread's, inside the critical region. Returns true if it is
/// done.
#[inline(always)]
unsafe fn claim_word<const WRITE: bool>(addr: usize, thread: *mut Thread, cell: Cell, mask: u8, context: u32) -> bool {
    // SAFETY: this thread's own state.
    let Thread { recorder, frames, .. } = unsafe { &mut *thread };
    let done = recorder.first_touch(filter(), cell, mask, WRITE, context)
        || recorder.take_over(filter(), cell, mask, WRITE, context);
    if done {
        if WRITE {
            read_summaries::forget(addr);
        }
        if !frames.on_stack(addr) {
            stacks::touched(addr);
        }
    }
    done
}

/// Runs `f` with signals deferred. If it returns true, deferred signals are delivered; else the slower path does that.
#[inline(always)]
unsafe fn with_signals_deferred(tls: *mut Tls, f: impl FnOnce() -> bool) -> bool {
    // SAFETY: this thread's own storage.
    unsafe {
        (*tls).busy = true;
        compiler_fence(SeqCst);
        let done = f();
        compiler_fence(SeqCst);
        (*tls).busy = false;
        compiler_fence(SeqCst);
        if done && (*tls).deferred {
            crate::intercept::deliver();
        }
        done
    }
}

/// A read in an unbiased region.
#[inline(always)]
fn read_unbiased<const SIZE: usize>(addr: usize, pc: usize, thread: *mut Thread, leaf: Leaf) {
    // SAFETY: as in `access_biased`.
    if unsafe { (*thread).recorder.is_covered_by_first(leaf.cell(addr), mask::<SIZE>(addr)) } {
        return;
    }
    if biased::is_unbiased(leaf.lease(addr)) {
        read_locked::<SIZE>(addr, pc, thread, leaf);
    } else {
        access_leased::<SIZE, false>(addr, pc, thread, leaf);
    }
}

/// A read in a locked block, most often by a thread that has read the same before.
#[inline(never)]
extern "C" fn read_locked<const SIZE: usize>(addr: usize, pc: usize, thread: *mut Thread, leaf: Leaf) {
    let (tls, cell, mask) = (machine::tls(), leaf.cell(addr), mask::<SIZE>(addr));
    // SAFETY: as in `access_biased`.
    unsafe {
        let Thread { recorder, contexts, critical, .. } = &mut *thread;
        let home = recorder.home_entry(cell);
        if recorder.is_covered_by_home(home, mask) {
            return;
        }
        let has_more_to_do = (*tls).busy || critical.scan.is_on() || SIZE == 8 && recorder.notes_reads();
        if !has_more_to_do
            && recorder.may_renew_read(home, cell, mask)
            && let Some(context) = contexts.known_here(tls, pc)
            && with_signals_deferred(tls, || recorder.renew_read::<false>(home, cell, mask, context))
        {
            return;
        }
    }
    access_unbiased::<SIZE, false>(addr, pc, thread, cell);
}

/// A write in an unbiased region that is not covered.
#[inline(always)]
fn write_unbiased<const SIZE: usize>(addr: usize, pc: usize, thread: *mut Thread, leaf: Leaf) {
    let (tls, cell) = (machine::tls(), leaf.cell(addr));
    if !biased::is_unbiased(leaf.lease(addr)) {
        return access_leased::<SIZE, true>(addr, pc, thread, leaf);
    }
    // SAFETY: as in `access_biased`.
    unsafe {
        let Thread { recorder, contexts, critical, .. } = &mut *thread;
        let has_more_to_do = (*tls).busy || critical.scan.is_on();
        if !has_more_to_do
            && let Some(context) = contexts.known_here(tls, pc)
            && with_signals_deferred(tls, || recorder.renew_write(cell, mask::<SIZE>(addr), context))
        {
            return;
        }
    }
    access_unbiased::<SIZE, true>(addr, pc, thread, cell);
}

/// The general path of a read or a write.
#[inline(always)]
fn slow_path_of<const SIZE: usize, const WRITE: bool>(addr: usize, pc: usize) {
    if WRITE {
        slow_path::<SIZE, false, true>(addr, pc);
    } else {
        slow_path::<SIZE, true, false>(addr, pc);
    }
}

/// Any other access in an unbiased region.
#[inline(never)]
extern "C" fn access_unbiased<const SIZE: usize, const WRITE: bool>(
    addr: usize,
    pc: usize,
    thread: *mut Thread,
    cell: Cell,
) {
    let mask = mask::<SIZE>(addr);
    // SAFETY: as in `access_biased`.
    unsafe {
        // A reader may not be in its home entry.
        let is_covered = !WRITE && !(*thread).recorder.is_second() && (*thread).recorder.is_covered(cell, mask, false);
        if is_covered || (*machine::tls()).busy {
            return;
        }
        thread::enter_quickly(pc, |thread| {
            let context = thread.context();
            if SIZE == 8 && !WRITE {
                read_summaries::note_read(addr, &mut thread.recorder);
            }
            if !thread.recorder.repeat_locked(cell, mask, WRITE, context) {
                thread.record_uncovered_at::<true>(addr & !7, cell, mask, WRITE, context);
            }
        });
    }
}

/// The general path of an access that is not covered.
#[cold]
#[inline(never)]
pub(crate) extern "C" fn slow_path<const SIZE: usize, const READ: bool, const WRITE: bool>(addr: usize, pc: usize) {
    if thread::is_quiet() {
        return;
    }
    // Most are within a word, of a thread that has nothing else to do.
    if (addr & 7) + SIZE <= 8 && !machine::accesses().is_null() {
        thread::enter_quickly(pc, |thread| {
            let mask = mask::<SIZE>(addr);
            if READ {
                thread.record_word(addr & !7, mask, false);
            }
            if WRITE {
                thread.record_word(addr & !7, mask, true);
            }
        });
    } else {
        access_range(addr, SIZE, READ, WRITE, pc);
    }
}

/// An access of any size.
pub fn access_range(addr: usize, size: usize, read: bool, write: bool, pc: usize) {
    if gates::is_on() {
        gates::access(addr, size, read, write, pc);
    }
    thread::enter(pc, |thread| {
        if !thread.wants_accesses() {
            return;
        }
        if read {
            thread.record_range(addr, size, false);
        }
        if write {
            thread.record_range(addr, size, true);
        }
    });
}

//! Accesses of leased blocks ([`crate::biased::leases`]): data that threads hand over. All that is not covered there
//! comes here, so the common case goes straight through one function, and all else is in functions of their own.

use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::compiler_fence;

use runtime::filter::Cell;

use super::{mask, slow_path_of};
use crate::biased::Bias;
use crate::machine;
use crate::memory::filter;
use crate::shadow::Leaf;
use crate::thread::Thread;
use crate::{read_summaries, stacks};

/// An access in an unbiased region that is not covered, in a block that has leases. Most often this thread has the
/// lease, and has made the same access before. All calls are at its ends, so that it needs little of the stack.
#[inline(never)]
pub(super) extern "C" fn access_leased<const SIZE: usize, const WRITE: bool>(
    addr: usize,
    pc: usize,
    thread: *mut Thread,
    leaf: Leaf,
) {
    let (tls, mask, cell) = (machine::tls(), mask::<SIZE>(addr), leaf.cell(addr));
    // SAFETY: this thread's own state; its fast path is open.
    unsafe {
        let Thread { recorder, critical, slot, contexts, .. } = &mut *thread;
        if !WRITE && recorder.is_second() && recorder.is_covered(cell, mask, false) {
            return;
        }
        let has_more_to_do = (*tls).busy || critical.scan.is_on() || SIZE == 8 && !WRITE && recorder.notes_reads();
        if has_more_to_do {
            return prepare_leased::<SIZE, WRITE>(addr, pc, thread, leaf);
        }
        let Some(context) = contexts.known_at_once(tls, pc) else {
            return prepare_leased::<SIZE, WRITE>(addr, pc, thread, leaf);
        };
        (*tls).busy = true;
        compiler_fence(SeqCst);
        if critical.enter_block(leaf.lease(addr), *slot) != Bias::Own
            || !recorder.repeat_biased(cell, mask, WRITE, context)
        {
            return claim_leased::<SIZE, WRITE>(addr, pc, thread, leaf, context);
        }
        critical.leave();
        compiler_fence(SeqCst);
        (*tls).busy = false;
        compiler_fence(SeqCst);
        if (*tls).deferred {
            crate::intercept::deliver();
        }
    }
}

/// [`access_leased`] where something else comes first: a scan ends, the read is noted, or the call context is looked
/// for.
#[inline(never)]
extern "C" fn prepare_leased<const SIZE: usize, const WRITE: bool>(
    addr: usize,
    pc: usize,
    thread: *mut Thread,
    leaf: Leaf,
) {
    let tls = machine::tls();
    // SAFETY: as in `access_leased`.
    unsafe {
        if (*tls).busy {
            return;
        }
        let Some(context) = (*thread).contexts.known_here(tls, pc) else {
            return slow_path_of::<SIZE, WRITE>(addr, pc);
        };
        (*tls).busy = true;
        compiler_fence(SeqCst);
        let Thread { recorder, critical, .. } = &mut *thread;
        recorder.finish_scan(&critical.scan);
        if SIZE == 8 && !WRITE && recorder.notes_reads() {
            read_summaries::note_read(addr, recorder);
        }
        critical.enter_any();
        claim_leased::<SIZE, WRITE>(addr, pc, thread, leaf, context);
    }
}

/// What is left of [`access_leased`], in the critical region: leases the block, if it is free, and repeats the access
/// or takes the word over.
#[inline(never)]
extern "C" fn claim_leased<const SIZE: usize, const WRITE: bool>(
    addr: usize,
    pc: usize,
    thread: *mut Thread,
    leaf: Leaf,
    context: u32,
) {
    let tls = machine::tls();
    // SAFETY: as in `access_leased`.
    unsafe {
        let done = claim_in_block::<WRITE>(addr, thread, leaf, mask::<SIZE>(addr), context);
        (*thread).critical.leave();
        compiler_fence(SeqCst);
        (*tls).busy = false;
        compiler_fence(SeqCst);
        if !done {
            return slow_path_of::<SIZE, WRITE>(addr, pc);
        }
        if (*tls).deferred {
            crate::intercept::deliver();
        }
    }
}

/// [`claim_leased`] inside the critical region. Returns true if it is done.
#[inline(always)]
unsafe fn claim_in_block<const WRITE: bool>(
    addr: usize,
    thread: *mut Thread,
    leaf: Leaf,
    mask: u8,
    context: u32,
) -> bool {
    let (cell, lease) = (leaf.cell(addr), leaf.lease(addr));
    // SAFETY: this thread's own state.
    unsafe {
        let Thread { recorder, critical, slot, .. } = &mut *thread;
        if critical.enter_block(lease, *slot) != Bias::Own {
            critical.leave();
            critical.lease_if_free(lease, *slot);
            if critical.enter_block(lease, *slot) != Bias::Own {
                return false;
            }
        }
        // A reader may not be in its home entry.
        recorder.repeat_biased(cell, mask, WRITE, context)
            || !WRITE && (recorder.is_covered(cell, mask, false) || recorder.repeat_among_readers(cell, mask, context))
            || claim_handed::<WRITE>(addr, thread, cell, mask, context)
    }
}

/// [`claim_word`](super::claim_word) for a leased block, where most words were another thread's.
#[inline(always)]
unsafe fn claim_handed<const WRITE: bool>(
    addr: usize,
    thread: *mut Thread,
    cell: Cell,
    mask: u8,
    context: u32,
) -> bool {
    // SAFETY: this thread's own state.
    let Thread { recorder, frames, .. } = unsafe { &mut *thread };
    let done = recorder.take_over(filter(), cell, mask, WRITE, context)
        || recorder.first_touch(filter(), cell, mask, WRITE, context);
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

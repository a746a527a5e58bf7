//! Hooks of sequential scans: loops that read memory of their own thread, element after element.

use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::compiler_fence;

use runtime::filter::{Cell, Ownership, STRIP_BYTES, ScanMemory, ScanStep, Strip};

use crate::thread::Thread;
use crate::{access, biased, frames, machine, shadow};

/// The shadow, as the thread of a slot sees it.
pub struct Own(pub u32);

impl ScanMemory for Own {
    #[inline]
    fn cell(&self, word: usize) -> Cell<'_> {
        // SAFETY: strips that are scanned have cells.
        unsafe { shadow::leaf_unchecked(word) }.cell(word)
    }

    #[inline]
    fn strip(&self, addr: usize) -> &Strip {
        // SAFETY: callers pass addresses whose region has a leaf.
        unsafe { shadow::leaf_unchecked(addr) }.strip(addr)
    }

    #[inline]
    fn ownership(&self, addr: usize) -> Ownership {
        biased::ownership(addr, self.0)
    }
}

/// Log2 of each size.
pub const LOG2: [usize; 9] = [0, 0, 1, 0, 2, 0, 0, 0, 3];

/// A read that is most likely the next one of a scan: only stores how far the scan has come. `machine::reads` does the
/// same in assembly.
#[inline(never)]
pub unsafe extern "C" fn advance<const SIZE: usize>(addr: usize, pc: usize, thread: *mut Thread) {
    // SAFETY: this thread's own state; its fast path is open.
    unsafe {
        let critical = &(*thread).critical;
        if !critical.scan.goes_on_at(pc, frames::parent(machine::tls())) {
            return leave_scan::<SIZE>(addr, pc, thread);
        }
        critical.scan.goes_on(addr, LOG2[SIZE]);
        if !critical.is_undisturbed() {
            return recheck::<SIZE>(addr, pc, thread);
        }
        if (addr + SIZE) as u32 & (STRIP_BYTES as u32 - 1) == 0 {
            end_strip(thread);
        }
    }
}

/// The scan has come to the end of a strip.
#[inline(never)]
pub unsafe extern "C" fn end_strip(thread: *mut Thread) {
    // SAFETY: this thread's own state, inside its critical region: no signal handler comes in between.
    unsafe {
        let Thread { critical, recorder, slot, .. } = &mut *thread;
        loop {
            critical.enter_any();
            if critical.is_undisturbed() {
                recorder.end_strip(&Own(*slot), &critical.scan);
                break;
            }
            critical.leave();
            if !critical.still_owns_scan(*slot) {
                // The revoker knows how far the scan has come.
                critical.enter_any();
                recorder.finish_scan(&critical.scan);
                break;
            }
        }
        critical.leave();
        compiler_fence(SeqCst);
        if (*machine::tls()).deferred {
            crate::intercept::deliver();
        }
    }
}

/// The scan has stored that it is beyond this address, but a region was revoked from the thread, or a signal handler
/// ran. If the step does not count, the read takes the ordinary path: it is covered if the revoker has seen the step.
#[cold]
#[inline(never)]
pub unsafe extern "C" fn recheck<const SIZE: usize>(addr: usize, pc: usize, thread: *mut Thread) {
    // SAFETY: this thread's own state.
    unsafe {
        let Thread { critical, slot, .. } = &*thread;
        let scan = &critical.scan;
        if critical.still_owns_scan(*slot) && scan.is_on() {
            if (addr + SIZE) as u32 & (STRIP_BYTES as u32 - 1) == 0 {
                end_strip(thread);
            }
            return;
        }
        if !scan.is_on() {
            // The signal handler has ended the scan.
            scan.clear();
        }
        leave_scan::<SIZE>(addr, pc, thread);
    }
}

/// The read does not continue the scan, and takes the ordinary path.
#[cold]
#[inline(never)]
pub unsafe extern "C" fn leave_scan<const SIZE: usize>(addr: usize, pc: usize, thread: *mut Thread) {
    // SAFETY: this thread's own state.
    unsafe {
        finish(thread);
        access::read_by_cell::<SIZE>(addr, pc, thread);
    }
}

/// Finishes the scan.
pub unsafe fn finish(thread: *mut Thread) {
    let tls = machine::tls();
    // SAFETY: this thread's own state; a signal handler does not come while it is busy.
    unsafe {
        if (*tls).busy {
            return;
        }
        (*tls).busy = true;
        compiler_fence(SeqCst);
        let Thread { critical, recorder, .. } = &mut *thread;
        recorder.finish_scan(&critical.scan);
        compiler_fence(SeqCst);
        (*tls).busy = false;
        compiler_fence(SeqCst);
        if (*tls).deferred {
            crate::intercept::deliver();
        }
    }
}

/// An access of a scanned strip that is not covered. Returns true if it is done.
#[cold]
#[inline(never)]
pub unsafe fn access_scanned<const SIZE: usize, const WRITE: bool>(
    addr: usize,
    pc: usize,
    thread: *mut Thread,
    strip: &Strip,
    context: u32,
) -> bool {
    // SAFETY: this thread's own state, inside its critical region; it owns the region of the address.
    unsafe {
        let Thread { critical, recorder, slot, .. } = &mut *thread;
        let parent = frames::parent(machine::tls());
        let step = ScanStep { addr, log2: LOG2[SIZE], write: WRITE, context, pc, parent };
        recorder.access_scanned(&Own(*slot), &critical.scan, strip, &step)
    }
}

/// Follows a read that was done where a scan may begin or go on, cell by cell.
#[inline(never)]
pub unsafe fn note_scan_step<const SIZE: usize>(
    addr: usize,
    pc: usize,
    thread: *mut Thread,
    (cell, strip): (Cell, &Strip),
    context: u32,
    before: u64,
) {
    // SAFETY: as in `access_scanned`.
    unsafe {
        let Thread { critical, recorder, slot, .. } = &*thread;
        let parent = frames::parent(machine::tls());
        let step = ScanStep { addr, log2: LOG2[SIZE], write: false, context, pc, parent };
        recorder.note_scan_step(&Own(*slot), &critical.scan, strip, cell, &step, before);
    }
}

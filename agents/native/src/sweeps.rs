//! Reads of a loop that goes through memory of its thread's own, element after element.

use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::compiler_fence;

use runtime::filter::{Cell, Ground, ROW_BYTES, Row, Step, Whose};

use crate::thread::Thread;
use crate::{access, alone, frames, machine, shadow};

/// Memory, as the thread of a slot has it.
pub struct Own(pub u32);

impl Ground for Own {
    #[inline]
    fn cell(&self, granule: usize) -> Cell<'_> {
        // SAFETY: rows that are swept have cells.
        unsafe { shadow::leaf_unchecked(granule) }.cell(granule)
    }

    #[inline]
    fn row(&self, addr: usize) -> &Row {
        // SAFETY: only addresses are asked for whose unit is known.
        unsafe { shadow::leaf_unchecked(addr) }.row(addr)
    }

    #[inline]
    fn whose(&self, addr: usize) -> Whose {
        alone::whose(addr, self.0)
    }
}

/// Sizes as powers of two.
pub const LOG2: [usize; 9] = [0, 0, 1, 0, 2, 0, 0, 0, 3];

/// A read that is most likely the next one of a sweep: nothing is to be done but to count it. `machine::reads` does the same.
#[inline(never)]
pub unsafe extern "C" fn next<const SIZE: usize>(addr: usize, pc: usize, thread: *mut Thread) {
    let tls = machine::tls();
    // SAFETY: this thread's own state; its fast way is open. A signal handler does not come while the turn is begun.
    unsafe {
        let turn = &(*thread).turn;
        if turn.sweep.goes_on_at(pc, frames::parent(tls)) && !(*tls).busy {
            if turn.begin_sweeping() && (*thread).recorder.sweeps(&turn.sweep, addr, LOG2[SIZE]) {
                // At its end, so that nothing is to be saved before.
                if (addr + SIZE) as u32 & (ROW_BYTES as u32 - 1) == 0 {
                    return ends_row(thread);
                }
                turn.end();
                compiler_fence(SeqCst);
                if (*tls).deferred {
                    crate::intercept::deliver();
                }
                return;
            }
            turn.end();
        }
        no_more::<SIZE>(addr, pc, thread);
    }
}

/// The sweep has come to the end of a row, before this address.
#[inline(never)]
pub unsafe extern "C" fn ends_row(thread: *mut Thread) {
    // SAFETY: this thread's own state, in its turn.
    unsafe {
        let Thread { turn, recorder, slot, .. } = &*thread;
        recorder.ends_row(&Own(*slot), &turn.sweep);
        turn.end();
        compiler_fence(SeqCst);
        if (*machine::tls()).deferred {
            crate::intercept::deliver();
        }
    }
}

/// It was not: it goes the way of others.
#[cold]
#[inline(never)]
pub unsafe extern "C" fn no_more<const SIZE: usize>(addr: usize, pc: usize, thread: *mut Thread) {
    // SAFETY: this thread's own state.
    unsafe {
        let tls = machine::tls();
        if (*tls).busy {
            return;
        }
        if (*thread).turn.still_sweeps((*thread).slot) {
            return next::<SIZE>(addr, pc, thread);
        }
        (*thread).turn.sweep.stop();
        access::reads_cell::<SIZE>(addr, pc, thread);
        // One may have come in the turn that was for nothing.
        if (*tls).deferred {
            crate::intercept::deliver();
        }
    }
}

/// An access of a row that was swept, that is not covered. True: it is done.
#[cold]
#[inline(never)]
pub unsafe fn comes_to<const SIZE: usize, const WRITE: bool>(
    addr: usize,
    pc: usize,
    thread: *mut Thread,
    row: &Row,
    place: u32,
) -> bool {
    // SAFETY: this thread's own state, in its turn; the address has a unit, which is this thread's.
    unsafe {
        let Thread { turn, recorder, slot, .. } = &mut *thread;
        let parent = frames::parent(machine::tls());
        let step = Step { addr, log2: LOG2[SIZE], write: WRITE, place, pc, parent };
        recorder.comes_to(&Own(*slot), &turn.sweep, row, &step)
    }
}

/// A read was done where a sweep may begin or go on, cell by cell.
#[inline(never)]
pub unsafe fn has_followed<const SIZE: usize>(
    addr: usize,
    pc: usize,
    thread: *mut Thread,
    (cell, row): (Cell, &Row),
    place: u32,
    before: u64,
) {
    // SAFETY: as in `comes_to`.
    unsafe {
        let Thread { turn, recorder, slot, .. } = &*thread;
        let parent = frames::parent(machine::tls());
        let step = Step { addr, log2: LOG2[SIZE], write: false, place, pc, parent };
        recorder.has_followed(&Own(*slot), &turn.sweep, row, cell, &step, before);
    }
}

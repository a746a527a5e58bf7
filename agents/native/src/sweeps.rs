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

/// A read that is most likely the next one of a sweep: nothing is to be done but to say that it has come so far. `machine::reads` does the same.
#[inline(never)]
pub unsafe extern "C" fn next<const SIZE: usize>(addr: usize, pc: usize, thread: *mut Thread) {
    // SAFETY: this thread's own state; its fast way is open.
    unsafe {
        let turn = &(*thread).turn;
        if !turn.sweep.goes_on_at(pc, frames::parent(machine::tls())) {
            return no_more::<SIZE>(addr, pc, thread);
        }
        turn.sweep.goes_on(addr, LOG2[SIZE]);
        if !turn.is_sure() {
            return unsure::<SIZE>(addr, pc, thread);
        }
        if (addr + SIZE) as u32 & (ROW_BYTES as u32 - 1) == 0 {
            ends_row(thread);
        }
    }
}

/// The sweep has come to the end of a row.
#[inline(never)]
pub unsafe extern "C" fn ends_row(thread: *mut Thread) {
    // SAFETY: this thread's own state, in its turn: no signal handler comes in between.
    unsafe {
        let Thread { turn, recorder, slot, .. } = &mut *thread;
        loop {
            turn.begin_at_all();
            if turn.is_sure() {
                recorder.ends_row(&Own(*slot), &turn.sweep);
                break;
            }
            turn.end();
            if !turn.still_sweeps(*slot) {
                // Who has taken it knows how far the sweep has come.
                turn.begin_at_all();
                recorder.settle_sweep(&turn.sweep);
                break;
            }
        }
        turn.end();
        compiler_fence(SeqCst);
        if (*machine::tls()).deferred {
            crate::intercept::deliver();
        }
    }
}

/// The sweep has said that it has come beyond this address; but memory was taken from the thread, or a signal handler was here. If it does not count, the
/// read goes the way of others: it is covered if who has taken the memory knows of it.
#[cold]
#[inline(never)]
pub unsafe extern "C" fn unsure<const SIZE: usize>(addr: usize, pc: usize, thread: *mut Thread) {
    // SAFETY: this thread's own state.
    unsafe {
        let Thread { turn, slot, .. } = &*thread;
        let sweep = &turn.sweep;
        if turn.still_sweeps(*slot) && sweep.is_on() {
            if (addr + SIZE) as u32 & (ROW_BYTES as u32 - 1) == 0 {
                ends_row(thread);
            }
            return;
        }
        if !sweep.is_on() {
            // The handler has ended it.
            sweep.clear();
        }
        no_more::<SIZE>(addr, pc, thread);
    }
}

/// It was not: it goes the way of others.
#[cold]
#[inline(never)]
pub unsafe extern "C" fn no_more<const SIZE: usize>(addr: usize, pc: usize, thread: *mut Thread) {
    // SAFETY: this thread's own state.
    unsafe {
        settle(thread);
        access::reads_cell::<SIZE>(addr, pc, thread);
    }
}

/// The sweep does not go on.
pub unsafe fn settle(thread: *mut Thread) {
    let tls = machine::tls();
    // SAFETY: this thread's own state; a signal handler does not come while it is busy.
    unsafe {
        if (*tls).busy {
            return;
        }
        (*tls).busy = true;
        compiler_fence(SeqCst);
        let Thread { turn, recorder, .. } = &mut *thread;
        recorder.settle_sweep(&turn.sweep);
        compiler_fence(SeqCst);
        (*tls).busy = false;
        compiler_fence(SeqCst);
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

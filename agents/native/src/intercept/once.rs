//! Interceptors of `pthread_once`, `call_once`, and the guards of C++'s local statics.

use core::ffi::c_int;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU8, AtomicU32};

use runtime::filter::Atomic;
use runtime::record::{Class, Kind, atomic_aux};

use super::entry::scratch;
use super::{Pointer, is_quiet, real, record, sync};
use crate::machine::{shim1, shim2};
use crate::system;

shim1! {
    __cxa_guard_acquire => guard_acquire;
    __cxa_guard_release => guard_release;
    __cxa_guard_abort => guard_abort;
}
shim2! {
    pthread_once => once;
    __pthread_once => once;
}

/// A call of `pthread_once` under way in this thread.
#[repr(C)]
pub(super) struct Once {
    routine: unsafe extern "C" fn(),
    control: Pointer,
    pc: usize,
    ran: bool,
}

/// Runs the program's routine, and remembers that this thread did. The release is recorded before another thread can
/// see that it is done.
unsafe extern "C" fn run() {
    let once = (*scratch()).once;
    let Once { routine, control, pc, .. } = *once;
    (*once).ran = true;
    routine();
    sync(pc, Kind::Post, Class::Once, control);
}

pub(super) unsafe extern "C" fn once(control: Pointer, routine: unsafe extern "C" fn(), pc: usize) -> c_int {
    if is_quiet() {
        return real::pthread_once(control, routine);
    }
    let mut once = Once { routine, control, pc, ran: false };
    let outer = (*scratch()).once;
    // An exception of the routine leaves this pointer behind. It is never followed: the next call sets its own first.
    (*scratch()).once = &mut once;
    let result = real::pthread_once(control, run);
    (*scratch()).once = outer;
    if !(&raw const once.ran).read_volatile() {
        sync(pc, Kind::Await, Class::Once, control);
    }
    result
}

/// The states of a guard, as libstdc++ has them: the compiler's code looks at the first byte.
mod guard {
    pub(super) const DONE: u32 = 1;
    pub(super) const PENDING: u32 = 1 << 8;
    pub(super) const WAITING: u32 = 1 << 16;
}

/// As `atomic_aux` numbers it.
const RELEASE: u8 = 3;

// A whole implementation: the C++ library may have been loaded privately, and not be found behind us.
unsafe extern "C" fn guard_acquire(guard: Pointer, pc: usize) -> c_int {
    let word = &*guard.cast::<AtomicU32>();
    let mut state = word.load(Acquire);
    loop {
        if state & 0xff != 0 {
            sync(pc, Kind::Await, Class::Guard, guard);
            return 0;
        }
        let next = if state == 0 { guard::PENDING } else { guard::PENDING | guard::WAITING };
        match word.compare_exchange(state, next, AcqRel, Acquire) {
            Ok(0) => return 1,
            Ok(_) => {
                system::futex_wait(word, next, 500);
                state = word.load(Acquire);
            }
            Err(now) => state = now,
        }
    }
}

unsafe fn leave(guard: Pointer, state: u32) {
    let word = &*guard.cast::<AtomicU32>();
    if word.swap(state, AcqRel) & guard::WAITING != 0 {
        system::futex_wake(word);
    }
}

unsafe extern "C" fn guard_release(guard: Pointer, pc: usize) {
    record(pc, |thread| {
        thread.sync(Kind::Post, Class::Guard, guard as usize);
        // Most threads never call this: the compiler's code loads the first byte atomically.
        thread.atomic(guard as usize, 1, || {
            (*guard.cast::<AtomicU8>()).store(guard::DONE as u8, Release);
            let (kind, aux, value) = (Kind::AtomicStore, atomic_aux(RELEASE, 0), u64::from(guard::DONE));
            Atomic { kind, aux, value, is_unchanging: false, result: () }
        });
    });
    leave(guard, guard::DONE);
}

unsafe extern "C" fn guard_abort(guard: Pointer, _pc: usize) {
    debug_assert_eq!((*guard.cast::<AtomicU32>()).load(Relaxed) & 0xff, 0);
    leave(guard, 0);
}

//! Interceptors of exit and functions that run at exit.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::ptr;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Release};

use runtime::record::{Class, Kind};

use super::{Pointer, dynamic, is_quiet, real, sync};
use crate::machine::{shim0, shim1, shim3};
use crate::{session, system, thread, waiting};

shim0! {
    abort => fail;
}
shim1! {
    exit => end;
    _exit => end_at_once;
    _Exit => end_at_once;
    quick_exit => end_quickly;
    atexit => at_exit_without_argument;
}
shim3! {
    __cxa_atexit => at_exit;
}

unsafe extern "C" fn end(status: c_int, pc: usize) -> ! {
    waiting::wait_for_young_threads();
    sync(pc, Kind::Post, Class::AtExit, ptr::null_mut());
    real::exit(status)
}

unsafe extern "C" fn end_at_once(status: c_int, _pc: usize) -> ! {
    session::finish();
    real::_exit(status)
}

unsafe extern "C" fn end_quickly(status: c_int, _pc: usize) -> ! {
    // The functions of `at_quick_exit` come after this, and are still recorded.
    session::finish();
    real::quick_exit(status)
}

unsafe extern "C" fn fail(_pc: usize) -> ! {
    thread::report();
    real::abort()
}

/// A function that the program wants to be called at its end.
#[derive(Clone, Copy)]
struct Call {
    function: unsafe extern "C" fn(Pointer),
    argument: Pointer,
    /// The next free one.
    next: *mut Call,
}

/// Calls not used. More are made from memory of our own.
struct Calls {
    locked: AtomicBool,
    free: UnsafeCell<*mut Call>,
}

// SAFETY: the list is touched under the lock alone.
unsafe impl Sync for Calls {}

static CALLS: Calls = Calls { locked: AtomicBool::new(false), free: UnsafeCell::new(ptr::null_mut()) };
const BLOCK: usize = 1 << 16;

impl Calls {
    fn with<R>(&self, f: impl FnOnce(&mut *mut Call) -> R) -> R {
        while self.locked.swap(true, Acquire) {
            system::give_way();
        }
        // SAFETY: the lock is ours.
        let result = f(unsafe { &mut *self.free.get() });
        self.locked.store(false, Release);
        result
    }

    fn take(&self) -> Option<*mut Call> {
        self.with(|free| {
            if free.is_null() {
                let block = system::map(BLOCK)?.cast::<Call>();
                for i in 0..BLOCK / size_of::<Call>() {
                    self.put(free, block.wrapping_add(i));
                }
            }
            let call = *free;
            // SAFETY: a call of ours.
            *free = unsafe { (*call).next };
            Some(call)
        })
    }

    fn put(&self, free: &mut *mut Call, call: *mut Call) {
        // SAFETY: a call of ours that is not in use.
        unsafe { (*call).next = *free };
        *free = call;
    }
}

/// In a forked child, no other thread holds the lock.
pub(super) fn forget_all() {
    CALLS.locked.store(false, Release);
}

unsafe extern "C" fn run(call: Pointer) {
    let call = call.cast::<Call>();
    let (function, argument) = ((*call).function, (*call).argument);
    if !dynamic::is_closing() {
        // `main` has returned. Later, what threads use may have been destroyed.
        waiting::wait_for_young_threads();
    }
    CALLS.with(|free| CALLS.put(free, call));
    sync(function as usize + 1, Kind::Await, Class::AtExit, ptr::null_mut());
    function(argument);
}

/// `atexit` and the destructors of C++'s statics come here.
unsafe extern "C" fn at_exit(
    function: unsafe extern "C" fn(Pointer),
    argument: Pointer,
    module: Pointer,
    pc: usize,
) -> c_int {
    if is_quiet() {
        return real::__cxa_atexit(function, argument, module);
    }
    sync(pc, Kind::Post, Class::AtExit, ptr::null_mut());
    let Some(call) = CALLS.take() else { return real::__cxa_atexit(function, argument, module) };
    (*call).function = function;
    (*call).argument = argument;
    real::__cxa_atexit(run, call.cast(), module)
}

/// A program linked to libtsan looks for this among what is shared. The C library has it only in its static part.
unsafe extern "C" fn at_exit_without_argument(function: unsafe extern "C" fn(Pointer), pc: usize) -> c_int {
    at_exit(function, ptr::null_mut(), ptr::null_mut(), pc)
}

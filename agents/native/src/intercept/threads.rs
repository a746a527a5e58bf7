//! Interceptors of functions that create threads and wait for them.

use core::ffi::c_int;
use core::mem;
use core::ptr;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Release};

use libc::{pthread_t, timespec};
use runtime::record::TextFor;

use super::entry::scratch;
use super::table::Table;
use super::{Pointer, is_quiet, length, real, record};
use crate::machine::{shim1, shim2, shim3, shim4, syscall};
use crate::{system, thread};

shim1! {
    pthread_detach => detach;
}
shim2! {
    pthread_join => join;
    pthread_tryjoin_np => try_join;
    pthread_setname_np => set_name;
}
shim3! {
    pthread_timedjoin_np => timed_join;
}
shim4! {
    pthread_create => create;
    pthread_clockjoin_np => clock_join;
}

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attr: Pointer, state: *mut c_int) -> c_int;
}

/// The slots of threads that can be joined.
static THREADS: Table = Table::new();

/// No thread but the caller is left.
pub(super) fn forget_all() {
    THREADS.clear();
}

/// What a new thread must know. It lives in its parent's frame until the child has taken it.
struct Start {
    routine: usize,
    argument: Pointer,
    slot: Option<u32>,
    joinable: bool,
    /// The signals that its parent blocks.
    mask: u64,
    taken: AtomicU32,
}

/// Every signal but the C library's own: while one is blocked, a change of user in another thread cannot go on.
const ALMOST_ALL: u64 = !(0b11 << 31);

/// Sets which signals are blocked; returns those that were.
fn block(mask: u64) -> u64 {
    let mut old = 0_u64;
    let arguments =
        [libc::SIG_SETMASK as usize, &raw const mask as usize, &raw mut old as usize, size_of::<u64>(), 0, 0];
    // SAFETY: the kernel reads and writes the two words.
    unsafe { syscall(libc::SYS_rt_sigprocmask, arguments) };
    old
}

/// Makes the new thread known; returns what it shall run.
unsafe fn begin(start: Pointer) -> (usize, Pointer) {
    let start = start.cast::<Start>();
    let (routine, argument, mask) = ((*start).routine, (*start).argument, (*start).mask);
    thread::start_thread((*start).slot);
    if let Some(slot) = (*start).slot
        && (*start).joinable
    {
        THREADS.insert(libc::pthread_self(), slot);
    }
    (*start).taken.store(1, Release);
    // The parent's frame may be gone by now. Then no thread waits at this address, or one that waits for something else
    // checks again.
    system::futex_wake(&(*start).taken);
    let own = block(mask);
    // The kernel never blocks two of them. Anything else was asked for by the thread's attributes.
    const NEVER: u64 = 1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1);
    if own | NEVER != ALMOST_ALL | NEVER {
        block(own);
    }
    (routine, argument)
}

unsafe extern "C" fn run(start: Pointer) -> Pointer {
    let (routine, argument) = begin(start);
    let routine: unsafe extern "C" fn(Pointer) -> Pointer = mem::transmute(routine);
    routine(argument)
}

unsafe extern "C" fn run_c11(start: Pointer) -> c_int {
    let (routine, argument) = begin(start);
    let routine: unsafe extern "C" fn(Pointer) -> c_int = mem::transmute(routine);
    routine(argument)
}

/// Creates a thread by `real`, with its slot.
unsafe fn creating(
    routine: usize,
    argument: Pointer,
    joinable: bool,
    pc: usize,
    real: impl FnOnce(Pointer) -> c_int,
) -> c_int {
    let slot = record(pc, |thread| thread.new_slot()).flatten();
    // A handler in the child must not come before the child is known.
    let mask = block(ALMOST_ALL);
    let start = Start { routine, argument, slot, joinable, mask, taken: AtomicU32::new(0) };
    (*scratch()).creating = true;
    let result = real((&raw const start).cast_mut().cast());
    (*scratch()).creating = false;
    while result == 0 && start.taken.load(Acquire) == 0 {
        system::futex_wait(&start.taken, 0, 100);
    }
    block(mask);
    if result != 0 {
        if let Some(slot) = slot {
            record(pc, |thread| thread.abandon_slot(slot));
        }
        return result;
    }
    if let Some(slot) = slot
        && !joinable
    {
        record(pc, |thread| thread.detached(slot));
    }
    result
}

unsafe extern "C" fn create(
    thread: *mut pthread_t,
    attr: Pointer,
    routine: unsafe extern "C" fn(Pointer) -> Pointer,
    argument: Pointer,
    pc: usize,
) -> c_int {
    if is_quiet() {
        return real::pthread_create(thread, attr, routine, argument);
    }
    let mut state = libc::PTHREAD_CREATE_JOINABLE;
    if !attr.is_null() {
        pthread_attr_getdetachstate(attr, &mut state);
    }
    let joinable = state == libc::PTHREAD_CREATE_JOINABLE;
    creating(routine as usize, argument, joinable, pc, |start| real::pthread_create(thread, attr, run, start))
}

pub(super) unsafe extern "C" fn create_c11(
    thread: *mut pthread_t,
    routine: unsafe extern "C" fn(Pointer) -> c_int,
    argument: Pointer,
    pc: usize,
) -> c_int {
    if is_quiet() {
        return real::thrd_create(thread, routine, argument);
    }
    creating(routine as usize, argument, true, pc, |start| real::thrd_create(thread, run_c11, start))
}

/// Joins by `real`, which waits for as long as it takes: that is announced.
pub(super) unsafe fn waiting_for(thread: pthread_t, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    if !is_quiet()
        && let Some(slot) = THREADS.get(thread)
    {
        record(pc, |thread| thread.joins(slot));
    }
    joining(thread, pc, real)
}

/// Joins by `real`, which may give up.
pub(super) unsafe fn joining(thread: pthread_t, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    // Before: afterwards the value may already be another thread's.
    let slot = if is_quiet() { None } else { THREADS.get(thread) };
    let result = thread::parked(real);
    if let Some(slot) = slot
        && result == 0
    {
        THREADS.remove(thread, slot);
        record(pc, |thread| thread.joined(slot));
    }
    result
}

/// Detaches by `real`.
pub(super) unsafe fn detaching(thread: pthread_t, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    let slot = if is_quiet() { None } else { THREADS.get(thread) };
    let result = real();
    if let Some(slot) = slot
        && result == 0
    {
        THREADS.remove(thread, slot);
        record(pc, |thread| thread.detached(slot));
    }
    result
}

unsafe extern "C" fn join(thread: pthread_t, value: Pointer, pc: usize) -> c_int {
    waiting_for(thread, pc, || real::pthread_join(thread, value))
}

unsafe extern "C" fn try_join(thread: pthread_t, value: Pointer, pc: usize) -> c_int {
    joining(thread, pc, || real::pthread_tryjoin_np(thread, value))
}

unsafe extern "C" fn timed_join(thread: pthread_t, value: Pointer, time: *const timespec, pc: usize) -> c_int {
    joining(thread, pc, || real::pthread_timedjoin_np(thread, value, time))
}

unsafe extern "C" fn clock_join(
    thread: pthread_t,
    value: Pointer,
    clock: c_int,
    time: *const timespec,
    pc: usize,
) -> c_int {
    joining(thread, pc, || real::pthread_clockjoin_np(thread, value, clock, time))
}

unsafe extern "C" fn detach(thread: pthread_t, pc: usize) -> c_int {
    detaching(thread, pc, || real::pthread_detach(thread))
}

unsafe extern "C" fn set_name(thread: pthread_t, name: *const u8, pc: usize) -> c_int {
    let result = real::pthread_setname_np(thread, name);
    if result == 0 && thread == libc::pthread_self() {
        named(name, pc);
    }
    result
}

/// Records the name of this thread.
pub(super) unsafe fn named(name: *const u8, pc: usize) {
    if !name.is_null() {
        let name = ptr::slice_from_raw_parts(name, length(name));
        record(pc, |thread| thread.text(TextFor::ThreadName, &*name, None));
    }
}

//! What stands before the C library's functions: each does what the real one does, and records what it means.
//!
//! Every body here is called by a program in the place of a C function, and relies on what that function's callers must
//! promise; so no body says again why its pointers may be followed. Real functions that may block or call the program
//! back are called outside of [`record`]: the thread is not inside a hook then, and may be cancelled or unwound.

#![allow(unsafe_op_in_unsafe_fn)]

mod annotations;
mod arguments;
mod barrier;
mod c11;
pub(crate) mod cancellation;
mod condition;
mod descriptors;
mod dynamic;
mod entry;
mod exec;
mod fibers;
mod files;
mod forking;
mod format;
mod futex;
mod header;
mod lists;
mod longjmp;
mod memory;
mod mutex;
mod no_annotations;
mod once;
mod operators;
mod poll;
mod process;
mod real;
mod resident;
mod rwlock;
mod scan;
mod semaphore;
mod signals;
mod sort;
mod spin;
mod strings;
mod table;
mod text;
mod threads;
mod timers;
mod transfer;
mod virtual_machine;

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use libc::{c_int, c_void};
use runtime::gates::operation;
use runtime::record::{Class, Kind, TextFor};

pub(crate) use dynamic::module_begins;
pub(crate) use signals::deliver;

use crate::events::{Hand, Sync};
use crate::gates::Arrival;
use crate::thread::{self, Thread};
use crate::{clock_only, failing, gates, session, shadow};

/// Any pointer of the program's.
type Pointer = *mut c_void;

/// Runs `f` with the thread's state, if the process is watched and the thread is not inside a hook.
#[inline]
fn record<R>(pc: usize, f: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    if !session::is_on() || is_waiting() {
        return None;
    }
    thread::enter(pc, |thread| {
        dynamic::renew();
        f(thread)
    })
}

/// Whether the thread is inside a wait on a condition, and no handler of the program's runs: what comes now is the
/// unwinder of a cancelled thread, before it has the mutex again.
#[inline]
fn is_waiting() -> bool {
    // SAFETY: the thread's own storage.
    unsafe { (*entry::scratch()).waiting && (*entry::scratch()).handlers == 0 }
}

/// Whether [`record`] would do nothing.
#[inline]
fn is_quiet() -> bool {
    !session::is_on() || thread::is_quiet() || is_waiting()
}

/// Records a synchronisation.
#[inline]
fn sync(pc: usize, kind: Kind, class: Class, object: Pointer) {
    sync_by(pc, Sync { kind, class, object: object as usize, hand: Hand::None });
}

/// Records that a mutex was acquired.
#[inline]
fn taken(pc: usize, kind: Kind, mutex: Pointer) {
    sync_by(pc, Sync { kind, class: Class::Mutex, object: mutex as usize, hand: Hand::Acquired });
}

/// Records that a mutex will be released.
#[inline]
fn given(pc: usize, mutex: Pointer) {
    sync_by(pc, Sync { kind: Kind::Release, class: Class::Mutex, object: mutex as usize, hand: Hand::Released });
}

/// Records that a condition will be notified.
#[inline]
fn notified(pc: usize, kind: Kind, condition: Pointer) {
    sync_by(pc, Sync { kind, class: Class::Condition, object: condition as usize, hand: Hand::Notified });
}

#[inline(never)]
fn sync_by(pc: usize, sync: Sync) {
    if is_waiting() || dynamic::is_stale() || !thread::sync_at_once(pc, sync) {
        sync_slowly(pc, sync);
    }
}

#[cold]
#[inline(never)]
fn sync_slowly(pc: usize, sync: Sync) {
    let is_ignored = record(pc, |thread| {
        let is_ignored = thread.may_ignore() && thread.ignores(sync.kind, sync.object);
        if is_ignored {
            thread.reopen_later();
        } else {
            thread.sync_by(sync);
        }
        is_ignored
    });
    note_lock(sync.kind, sync.object as Pointer);
    if is_ignored == Some(true) && sync.hand != Hand::None {
        // The next holder takes no time from this one.
        clock_only::make(sync.object);
    }
}

/// Notes for the gates which locks a thread holds.
#[inline]
fn note_lock(kind: Kind, lock: Pointer) {
    if gates::is_on() {
        match kind {
            Kind::Acquire | Kind::ReadAcquire | Kind::TryAcquire => gates::holds(lock as usize, 1),
            Kind::Release | Kind::ReadRelease => gates::holds(lock as usize, -1),
            _ => {}
        }
    }
}

/// A thread is about to do something else than an access: where there are gates, it may wait there.
#[inline]
fn about_to(operation: u32, object: Pointer, pc: usize) {
    if gates::is_on() {
        gates::arrive(Arrival { operation, object: object as usize, size: 0, pc });
    }
}

/// A function of the C library is about to access memory for a thread.
#[inline]
fn about_to_access(address: *const c_void, bytes: usize, write: bool, pc: usize) {
    if gates::is_on() && !is_quiet() {
        gates::access(address as usize, bytes, !write, write, pc);
    }
}

/// A thread is about to ask for a lock.
#[inline]
fn about_to_lock(lock: Pointer, pc: usize) {
    about_to(operation::LOCK, lock, pc);
}

/// Forgets the hand-off of a lock: the next one at this address knows nothing of it.
fn forget_lock(object: Pointer) {
    // Otherwise there is no shadow.
    if session::is_running()
        && let Some(hand_off) = shadow::hand_off(object as usize)
    {
        hand_off.forget();
    }
}

/// Records that an object was initialised, with its initial count or kind.
fn init(pc: usize, class: Class, object: Pointer, word: u64) {
    forget_lock(object);
    record(pc, |thread| thread.sync_with(Kind::Init, class, object as usize, word));
}

/// Records that an object was used against its rules.
#[cold]
fn misuse(pc: usize, class: Class, object: Pointer, what: &str) {
    record(pc, |thread| {
        thread.text(TextFor::Misuse, what.as_bytes(), None);
        thread.sync(Kind::Misuse, class, object as usize);
    });
}

/// The operating system's number of this thread, as the C library keeps it in the locks that the thread holds.
#[inline]
fn thread_id() -> Option<u32> {
    thread::own_id()
}

/// The threads that forked this process, and those that forked the ones before: the first thread here holds their
/// locks, under their numbers. If there are more, the last ones.
static FORKED: [AtomicU32; 8] = [const { AtomicU32::new(0) }; 8];

/// In a forked child, remembers the thread of its parent that it continues.
fn inherit(parent: Option<u32>) {
    let entry = FORKED.iter().find(|forked| forked.load(Relaxed) == 0).unwrap_or(&FORKED[FORKED.len() - 1]);
    entry.store(parent.unwrap_or(0), Relaxed);
}

/// Whether a lock of this thread was acquired before the process was forked.
#[cold]
fn is_inherited(owner: u32) -> bool {
    owner != 0 && FORKED.iter().any(|forked| forked.load(Relaxed) == owner)
}

/// Records an access of memory by a function of the C library.
#[inline]
fn access(pc: usize, address: *const c_void, bytes: usize, write: bool) {
    if bytes != 0 && has_hooks() {
        about_to_access(address, bytes, write, pc);
        record(pc, |thread| thread.record_range(address as usize, bytes, write));
    }
}

/// Whether accesses of functions of the C library are worth recording: not if the program's own are not seen, or
/// ignored.
#[inline]
fn has_hooks() -> bool {
    session::is_on() && session::is_hooked() && !thread::is_ignoring()
}

/// The length of a text, without the interceptor of `strlen`.
unsafe fn length(text: *const u8) -> usize {
    let mut bytes = 0;
    // Read as volatile: a plain loop would be made a call of `strlen`.
    while text.add(bytes).read_volatile() != 0 {
        bytes += 1;
    }
    bytes
}

/// Where the C library keeps this thread's error number.
unsafe fn error() -> &'static mut c_int {
    &mut *libc::__errno_location()
}

/// In a forked child, called by its only thread: makes it a process of its own for the agent.
pub(crate) fn notice_fork() {
    if session::is_forked() || session::is_running() && !session::is_own_process() {
        inherit(thread_id());
        after_fork_child();
    }
}

/// In a forked child, no other thread will ever release anything.
fn after_fork_child() {
    threads::forget_all();
    process::forget_all();
    signals::forget_all();
    clock_only::after_fork_child();
    failing::attempt(session::after_fork_child);
}

//! A thread of the program: its state, and how hooks and interceptors reach it. `events` has what it records.

use core::ptr;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicU64, compiler_fence};

use runtime::filter::Recorder;
use runtime::layout::flags;
use runtime::record::Kind;

use crate::biased::CriticalRegion;
use crate::contexts::Contexts;
use crate::events::Sync;
use crate::failing::attempt;
use crate::frames::Frames;
use crate::machine::{Tls, tls};
use crate::ring::Ring;
use crate::watch::Pending;
use crate::{gates, session, slots, watch};

mod lifecycle;
mod parking;

pub use lifecycle::{after_fork_child, attach_first, end_thread, report, start_thread};
use lifecycle::{attach, let_go};
pub use parking::parked;

/// The phases of a thread, in [`Tls::phase`].
mod phase {
    /// No hook has run yet.
    pub const NEW: u32 = 0;
    /// It has a slot.
    pub const WATCHED: u32 = 1;
    /// It has ended, or has no slot, or the process is not watched.
    pub const OVER: u32 = 2;
    /// It has a slot, and waits: [`parking`](super::parking).
    pub const PARKED: u32 = 3;
}

/// A thread's state, in zeroed memory of its slot. It stays there when the thread is gone. The fields that
/// `machine::reads` uses come first: its instructions are shorter then.
#[repr(C, align(64))]
pub struct Thread {
    /// Where the read summaries of its kind are ([`crate::read_summaries::of_kind`]).
    pub(crate) summaries: usize,
    /// Whether it is changing cells, and its scan.
    pub(crate) critical: CriticalRegion,
    pub(crate) recorder: Recorder,
    pub(crate) slot: u32,
    /// The state of the slot; see [`slots::slot_state`].
    pub(crate) slot_state: AtomicU32,
    /// The operating system's number of its thread, 0 before it begins.
    pub(crate) id: AtomicU32,
    /// When its thread began, in milliseconds.
    pub(crate) born: AtomicU64,
    /// The caller's address of the hook that runs.
    pub(crate) pc: usize,
    pub(crate) ring: Ring,
    pub(crate) contexts: Contexts,
    /// Watched writes whose values are not fetched yet.
    pub(crate) pending: Pending,
    /// How often the program asked to ignore accesses.
    ignoring: u32,
    /// How often it asked to ignore synchronisation.
    ignoring_sync: u32,
    /// Locks that were acquired while it was ignored: their releases are, too.
    ignored_locks: [usize; IGNORED],
    /// Rounds of key destructors so far.
    pub(crate) rounds: u32,
    pub(crate) frames: Frames,
}

/// Locks whose acquisition is ignored, at once; further ones are recorded.
const IGNORED: usize = 8;

/// Runs `f` with this thread's state; `None` if the agent is off, or this thread is inside a hook (in a signal
/// handler).
#[inline]
pub fn enter<R>(pc: usize, f: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    let tls = tls();
    // SAFETY: the thread's own storage; `busy` keeps hooks of signal handlers away from its state.
    unsafe {
        if (*tls).busy || (*tls).thread.is_null() && !attach(tls) {
            return None;
        }
        if !session::is_running() && !goes_on(tls) {
            return None;
        }
        hold(tls);
        (*tls).busy = true;
        // The fast path reads what is about to change.
        let accesses = (*tls).accesses;
        (*tls).accesses = ptr::null_mut();
        compiler_fence(SeqCst);
        let thread = (*tls).thread;
        let result = attempt(|| {
            let thread = &mut *thread;
            thread.recorder.finish_scan(&thread.critical.scan);
            thread.pc = pc;
            let was_pending = thread.pending.is_some();
            if was_pending {
                thread.fetch_pending();
            }
            (*tls).reopen = was_pending;
            f(thread)
        });
        compiler_fence(SeqCst);
        if result.is_none() {
            // The agent has failed, and all paths of the hooks are closed.
        } else if (*tls).reopen || (*thread).pending.is_some() {
            (*thread).open(tls);
        } else {
            (*tls).accesses = accesses;
        }
        leave(tls);
        result
    }
}

/// Whether a hook may go on that finds the session not running: only in a child that was forked unseen, which begins
/// to be watched here.
#[cold]
#[inline(never)]
unsafe fn goes_on(tls: *mut Tls) -> bool {
    // SAFETY: the thread's own storage.
    unsafe {
        if session::is_forked() {
            (*tls).busy = true;
            crate::intercept::notice_fork();
            leave(tls);
        }
        if !session::is_running() {
            let_go(tls);
        }
        !(*tls).thread.is_null()
    }
}

/// Closes all paths of the hooks of this thread: the agent has failed.
pub fn abandon() {
    // SAFETY: the thread's own storage.
    unsafe { let_go(tls()) };
}

/// Called before a hook of a thread that may be cancelled anywhere.
#[inline]
unsafe fn hold(tls: *mut Tls) {
    // SAFETY: the thread's own storage.
    unsafe {
        if (*tls).asynchronous {
            crate::intercept::cancellation::hold();
        }
    }
}

/// Ends a hook, and delivers the signals that came meanwhile.
#[inline]
unsafe fn leave(tls: *mut Tls) {
    // SAFETY: the thread's own storage.
    unsafe {
        compiler_fence(SeqCst);
        (*tls).busy = false;
        compiler_fence(SeqCst);
        if (*tls).deferred {
            crate::intercept::deliver();
        }
    }
}

/// Runs `f` as if inside a hook: what it does is not recorded.
pub fn quietly<R>(f: impl FnOnce() -> R) -> R {
    let tls = tls();
    // SAFETY: the thread's own storage.
    unsafe {
        if (*tls).busy {
            return f();
        }
        be_quiet();
        let result = f();
        go_on();
        result
    }
}

/// Behaves as if inside a hook from here on, until [`go_on`].
pub fn be_quiet() {
    let tls = tls();
    // SAFETY: the thread's own storage.
    unsafe {
        hold(tls);
        (*tls).busy = true;
        (*tls).accesses = ptr::null_mut();
        compiler_fence(SeqCst);
    }
}

/// Ends what [`be_quiet`] began, perhaps in another process.
pub fn go_on() {
    let tls = tls();
    // SAFETY: the thread's own storage.
    unsafe {
        if let Some(thread) = (*tls).thread.as_mut() {
            thread.open(tls);
        }
        leave(tls);
    }
}

/// [`enter`] for an access of a thread whose fast path is open, outside of any hook: there is nothing else to do.
#[inline(always)]
pub fn enter_quickly(pc: usize, f: impl FnOnce(&mut Thread)) {
    let tls = tls();
    // SAFETY: as in `enter`; `accesses` is the thread's state.
    unsafe {
        if !session::is_running() {
            goes_on(tls);
            // A signal may have come on the way here.
            return leave(tls);
        }
        let accesses = (*tls).accesses;
        (*tls).busy = true;
        (*tls).accesses = ptr::null_mut();
        compiler_fence(SeqCst);
        let done = attempt(|| {
            let thread = &mut *accesses;
            thread.recorder.finish_scan(&thread.critical.scan);
            thread.pc = pc;
            f(thread);
        });
        compiler_fence(SeqCst);
        if done.is_none() {
            // The agent has failed, and all paths of the hooks are closed.
        } else if (*accesses).pending.is_some() {
            (*accesses).open(tls);
        } else {
            (*tls).accesses = accesses;
        }
        leave(tls);
    }
}

/// Records a synchronisation of a thread whose fast path is open, outside of any hook, if that is all there is to do.
#[inline(always)]
pub fn sync_at_once(pc: usize, sync: Sync) -> bool {
    let tls = tls();
    // SAFETY: as in `enter`; `accesses` is the thread's state, if nothing waits for the next hook.
    unsafe {
        if (*tls).accesses.is_null() || (*tls).busy || !session::is_running() {
            return false;
        }
        (*tls).busy = true;
        compiler_fence(SeqCst);
        let thread = &mut *(*tls).accesses;
        thread.recorder.finish_scan(&thread.critical.scan);
        let done = thread.sync_at_once(tls, pc, sync);
        leave(tls);
        done
    }
}

/// Runs `f` with the state of a thread that is inside a hook, for what a signal handler may do to it.
pub fn in_handler(f: impl FnOnce(&mut Thread)) {
    let tls = tls();
    // SAFETY: the hook below stands still, and nothing it holds on to is touched by what callers do: they move the top
    // of the call stack, and move it back before the handler returns.
    unsafe {
        if (*tls).busy
            && let Some(thread) = (*tls).thread.as_mut()
        {
            f(thread);
        }
    }
}

/// Whether hooks of this thread do nothing now: interceptors can call the real function directly.
#[inline]
pub fn is_quiet() -> bool {
    // SAFETY: the thread's own storage.
    unsafe { (*tls()).busy || (*tls()).phase == phase::OVER }
}

/// Whether this thread is inside a hook: a signal handler has interrupted it.
pub fn is_inside_hook() -> bool {
    // SAFETY: the thread's own storage.
    unsafe { (*tls()).busy }
}

/// The operating system's number of this thread, if it is watched.
#[inline]
pub fn own_id() -> Option<u32> {
    // SAFETY: the thread's own storage and state.
    unsafe { parking::awake(tls()).as_ref().map(|thread| thread.ring.shared().tid.load(Relaxed)) }
}

/// The slot of this thread, if it is watched.
pub fn own_slot() -> Option<u32> {
    // SAFETY: the thread's own storage and state.
    unsafe { parking::awake(tls()).as_ref().map(|thread| thread.slot) }
}

/// Whether a thread that is watched ignores its accesses.
pub fn is_ignoring() -> bool {
    // SAFETY: the thread's own storage and state.
    unsafe { parking::awake(tls()).as_ref().is_some_and(|thread| !thread.wants_accesses()) }
}

/// The program wants accesses of this thread ignored (1), or no longer (-1).
pub fn ignore(by: i32) {
    enter(0, |thread| {
        thread.ignoring = thread.ignoring.saturating_add_signed(by);
        // SAFETY: the thread's own storage.
        unsafe { (*tls()).reopen = true };
    });
}

/// The program wants synchronisation of this thread ignored (1), or no longer (-1).
pub fn ignore_sync(by: i32) {
    enter(0, |thread| {
        thread.ignoring_sync = thread.ignoring_sync.saturating_add_signed(by);
        // SAFETY: the thread's own storage.
        unsafe { (*tls()).reopen = true };
    });
}

/// Decides again whether the fast paths of this thread are open.
pub fn reopen() {
    // SAFETY: the thread's own storage.
    enter(0, |_| unsafe { (*tls()).reopen = true });
}

/// The state of a slot's thread, for what other threads may read.
pub fn of_slot(slot: u32) -> Option<&'static Thread> {
    // SAFETY: a slot's memory stays once it is there. Only its atomics and what does not change are looked at.
    unsafe { slots::get(slot).as_ref() }
}

impl Thread {
    /// Whether its accesses are to be recorded.
    #[inline]
    pub fn wants_accesses(&self) -> bool {
        self.ignoring == 0 && session::flags() & flags::NO_ACCESSES == 0
    }

    /// At the end of this hook, decides again whether the fast paths are open.
    pub fn reopen_later(&mut self) {
        // SAFETY: the thread's own storage.
        unsafe { (*tls()).reopen = true };
    }

    /// Whether the program wants accesses ignored.
    pub fn is_ignoring(&self) -> bool {
        self.ignoring > 0
    }

    /// Whether the program wants synchronisation ignored.
    pub fn is_ignoring_sync(&self) -> bool {
        self.ignoring_sync > 0
    }

    /// Whether a synchronisation is to be ignored. An order that the program does not want is left out; what keeps
    /// count (semaphores, conditions) is recorded all the same, and so is a release whose acquisition was.
    pub fn ignores(&mut self, kind: Kind, object: usize) -> bool {
        match kind {
            Kind::Acquire | Kind::ReadAcquire | Kind::TryAcquire if self.ignoring_sync > 0 => {
                let free = self.ignored_locks.iter_mut().find(|lock| **lock == 0);
                free.map(|lock| *lock = object).is_some()
            }
            Kind::Release | Kind::ReadRelease => {
                let ignored = self.ignored_locks.iter_mut().rfind(|lock| **lock == object && object != 0);
                ignored.map(|lock| *lock = 0).is_some()
            }
            Kind::Post | Kind::Await | Kind::Request | Kind::TryFail => self.ignoring_sync > 0,
            _ => false,
        }
    }

    /// Whether [`Thread::ignores`] must be asked.
    pub fn may_ignore(&self) -> bool {
        self.ignoring_sync > 0 || self.ignored_locks.iter().any(|&lock| lock != 0)
    }

    /// Opens the fast paths of the hooks, or closes them if the next hook has something to do.
    fn open(&mut self, tls: *mut Tls) {
        // SAFETY: the caller's own thread.
        let closed = self.pending.is_some() || self.may_ignore() || unsafe { (*tls).asynchronous } || gates::is_on();
        let accesses = if closed || !self.wants_accesses() { ptr::null_mut() } else { ptr::from_mut(self) };
        self.frames.closed = closed || watch::has_regions();
        self.frames.open(tls);
        // SAFETY: the caller's own thread.
        unsafe { (*tls).accesses = accesses };
    }
}

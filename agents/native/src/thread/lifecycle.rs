//! How a thread begins and ends: it is bound to its slot, begins, ends, and goes on in a forked child.

use super::{IGNORED, Thread, enter, hold, leave, parking, phase};
use core::ptr;
use core::sync::atomic::Ordering::{AcqRel, Relaxed, Release, SeqCst};
use core::sync::atomic::compiler_fence;

use runtime::chunks;
use runtime::filter::Recorder;
use runtime::layout::flags;
use runtime::record::Kind;

use crate::failing::{Place, attempt, may_fail};
use crate::machine::{Tls, tls};
use crate::memory::filter;
use crate::slots::slot_state;
use crate::{ending, read_summaries, session, slots, stacks, system};

/// Binds this thread to its slot: the first thing in the function that a new thread runs. `None`: it is not watched.
pub fn start_thread(slot: Option<u32>) {
    let tls = tls();
    let thread = slot.map_or(ptr::null_mut(), slots::get);
    // SAFETY: the thread's own storage.
    unsafe {
        // A signal handler ran first, and attached the thread as one that was not announced.
        if !(*tls).thread.is_null() {
            end_thread();
        }
        if thread.is_null() || !session::is_running() {
            (*tls).phase = phase::OVER;
        } else {
            bind(tls, thread, false);
        }
    }
}

/// Attaches the first thread at the start of the program.
pub fn attach_first() {
    let tls = tls();
    // SAFETY: the thread's own storage.
    unsafe {
        if (*tls).thread.is_null() {
            attach(tls);
        }
    }
}

/// Gives a slot to a thread that was not announced, and unparks a parked one. Returns false if it is not watched.
#[cold]
#[inline(never)]
pub(super) unsafe fn attach(tls: *mut Tls) -> bool {
    // SAFETY: the thread's own storage.
    unsafe {
        if (*tls).phase != phase::NEW || (*tls).busy {
            return !parking::awake(tls).is_null();
        }
        hold(tls);
        (*tls).busy = true;
        let slot = match attempt(session::start) {
            Some(session::Started::Now) => attempt(|| slots::allocate(|_| false)).flatten(),
            Some(session::Started::Off) | None => None,
            // Another thread is starting the session: the next hook will find it done.
            Some(session::Started::Soon) => {
                leave(tls);
                return false;
            }
        };
        let thread = slot.map_or(ptr::null_mut(), slots::get);
        if thread.is_null() {
            (*tls).phase = phase::OVER;
        } else {
            (*thread).slot_state.fetch_or(slot_state::RELEASED, AcqRel);
            bind(tls, thread, slot == Some(0));
        }
        leave(tls);
        !(*tls).thread.is_null()
    }
}

unsafe fn bind(tls: *mut Tls, thread: *mut Thread, is_first: bool) {
    // SAFETY: the slot's memory belongs to this thread from here on; no other thread writes what it owns.
    unsafe {
        (*tls).busy = true;
        (*tls).phase = phase::WATCHED;
        // Signal handlers may call functions from here on.
        (*thread).frames.connect(tls);
        (*tls).thread = thread;
        let begun = attempt(|| {
            let thread = &mut *thread;
            thread.ring.open(session::file(), thread.slot);
            thread.rounds = 0;
            thread.ignoring = 0;
            thread.ignoring_sync = 0;
            thread.ignored_locks = [0; IGNORED];
            thread.pc = 0;
            thread.begin(is_first);
        });
        if begun.is_some() {
            ending::arm(thread);
            (*thread).open(tls);
        }
        leave(tls);
    }
}

impl Thread {
    /// Writes the thread's beginning, and forgets what was known of its stack.
    fn begin(&mut self, is_first: bool) {
        may_fail(Place::Begin);
        let id = system::thread_id();
        self.born.store(system::milliseconds(), Relaxed);
        self.id.store(id, Relaxed);
        self.ring.shared().tid.store(id, Release);
        self.record_from_here();
        let stack = stacks::bounds(is_first);
        self.frames.stack = stack;
        stacks::add(stack.0, stack.1);
        if !is_first {
            self.empty(stack.0, stack.1 - stack.0);
        }
        self.started(id);
    }

    /// Begins recording in its slot.
    fn record_from_here(&mut self) {
        self.recorder = Recorder::begin(filter(), self.slot, records_all());
        self.summaries = read_summaries::of_kind(self.recorder.is_second());
    }

    /// Writes a `ThreadStart`: the top of the stack, its size in pages, the thread's id.
    fn started(&mut self, id: u32) {
        let (low, high) = self.frames.stack;
        let word = ((high - low) as u64 >> 12) << 32 | u64::from(id);
        self.timed(Kind::ThreadStart, 0, high as u64, Some(word));
    }
}

fn records_all() -> bool {
    session::flags() & flags::RECORD_ALL != 0
}

/// Closes all paths of the hooks.
pub(super) unsafe fn let_go(tls: *mut Tls) {
    // SAFETY: the thread's own storage.
    unsafe {
        // In this order, for signal handlers that come in between.
        (*tls).phase = phase::OVER;
        (*tls).accesses = ptr::null_mut();
        (*tls).thread = ptr::null_mut();
        (*tls).end = ptr::null_mut();
        compiler_fence(SeqCst);
        (*tls).top = ptr::null_mut();
        (*tls).base = ptr::null_mut();
    }
}

/// Ends the thread: it is not watched from here on.
pub fn end_thread() {
    let tls = tls();
    crate::intercept::cancellation::end();
    // SAFETY: the thread's own storage and state.
    unsafe {
        let thread = parking::awake(tls);
        if thread.is_null() {
            (*tls).phase = phase::OVER;
            return;
        }
        (*tls).busy = true;
        attempt(|| {
            let thread = &mut *thread;
            may_fail(Place::End);
            if session::is_running() {
                thread.fetch_pending();
                thread.critical.end_scan(thread.slot);
                thread.critical.give_back(thread.slot);
                thread.pc = 0;
                thread.timed(Kind::ThreadEnd, 0, 0, None);
                thread.recorder.end(filter());
                session::report_dropped();
                thread.ring.leave();
                thread.ring.shared().tid.store(0, Release);
            }
            let_go(tls);
            thread.contexts.trim();
            thread.frames.forget();
            slots::mark(thread.slot, slot_state::ENDED);
        });
        leave(tls);
    }
}

/// Reports what this thread still holds back, before the process ends.
pub fn report() {
    enter(0, |thread| {
        thread.ring.report();
        thread.recorder.report_dropped(filter());
    });
}

/// In a forked child, this thread is the first, with a slot of its own there.
pub fn after_fork_child() {
    let tls = tls();
    // SAFETY: the only thread of the process; the others' states are of no use to anybody.
    unsafe {
        let thread = parking::awake(tls);
        slots::after_fork_child(thread);
        if !session::is_running() {
            let_go(tls);
            return;
        }
        if let Some(thread) = thread.as_mut() {
            let busy = (*tls).busy;
            (*tls).busy = true;
            thread.pending.clear();
            thread.critical.scan.clear();
            thread.critical.leases.clear();
            thread.ring.restart();
            thread.contexts.restart();
            thread.ring.open(session::file(), 0);
            for frame in thread.frames.calls(tls) {
                frame.context = 0;
            }
            let id = system::thread_id();
            chunks::slot(session::file(), 0).tid.store(id, Release);
            thread.id.store(id, Relaxed);
            thread.pc = 0;
            thread.record_from_here();
            thread.started(id);
            thread.open(tls);
            if !busy {
                leave(tls);
            }
        }
    }
}

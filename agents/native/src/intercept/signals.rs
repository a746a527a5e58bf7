//! Interceptors of signals: what precedes sending one, or setting its handler, happens before the handler.

use core::ffi::c_int;
use core::mem;
use core::ptr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use core::sync::atomic::{AtomicBool, AtomicUsize};

use libc::{SIG_DFL, SIG_ERR, SIG_IGN, siginfo_t, sigset_t, timespec};
use runtime::record::{Class, Kind};

use super::entry::scratch;
use super::{Pointer, cancellation, is_quiet, real, record};
use crate::machine::{shim1, shim2, shim3, syscall, tls};
use crate::{scans, system};

shim1! {
    raise => send_self;
}
shim2! {
    signal => set;
    bsd_signal => set;
    sysv_signal => set_once;
    __sysv_signal => set_once;
    kill => send;
    killpg => send_group;
    pthread_kill => send_thread;
    sigwait => wait;
    sigwaitinfo => wait_info;
}
shim3! {
    sigaction => set_action;
    __sigaction => set_action;
    sigqueue => queue;
    pthread_sigqueue => queue_thread;
    tgkill => send_task;
    sigtimedwait => wait_timed;
}

type Handler = unsafe extern "C" fn(c_int, Pointer, Pointer);

const SIGNALS: usize = 65;
/// The program's own handlers, where [`handle`] stands in their place.
static HANDLERS: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(0) }; SIGNALS];
/// Handlers that are called once. The kernel does not know that: it would forget them before it is known whether they
/// can run now.
static ONE_SHOT: [AtomicBool; SIGNALS] = [const { AtomicBool::new(false) }; SIGNALS];
/// Handlers that get more than the signal's number from the kernel; the others get garbage beside it.
static WITH_INFO: [AtomicBool; SIGNALS] = [const { AtomicBool::new(false) }; SIGNALS];

/// Whether a signal is sent by a thread. Signals of the thread's own faults are no synchronisation, and some programs
/// rely on them.
fn is_sent(signal: c_int) -> bool {
    !matches!(signal, libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE | libc::SIGTRAP | libc::SIGSYS)
        && (1..SIGNALS as c_int).contains(&signal)
}

fn synchronise(pc: usize, kind: Kind, signal: c_int) {
    if is_sent(signal) {
        record(pc, |thread| thread.sync(kind, Class::Signal, signal as usize));
    }
}

/// A signal is about to be sent, now or by a timer.
pub(super) fn posted(pc: usize, signal: c_int) {
    synchronise(pc, Kind::Post, signal);
}

unsafe extern "C" fn handle(signal: c_int, info: Pointer, context: Pointer) {
    let handler = HANDLERS.get(signal as usize).map_or(0, |handler| handler.load(Acquire));
    if handler == 0 || is_inside() && defer(signal, info.cast(), context.cast()) {
        return;
    }
    if ONE_SHOT[signal as usize].swap(false, AcqRel) {
        let mut default: libc::sigaction = mem::zeroed();
        default.sa_sigaction = SIG_DFL;
        real::sigaction(signal, &default, ptr::null_mut());
    }
    let before = (*scratch()).handlers;
    (*scratch()).handlers = before + 1;
    synchronise(handler + 1, Kind::Await, signal);
    let handler: Handler = mem::transmute(handler);
    handler(signal, info, context);
    (*scratch()).handlers = before;
    // The interrupted hook may stand between its look at the scan and its step, and the handler may have scanned.
    let thread = (*tls()).thread;
    if !thread.is_null() {
        scans::finish(thread);
        (*thread).critical.interrupt((*thread).slot);
    }
    // A signal may have come meanwhile, and no hook may check for long.
    if (*tls()).deferred && !is_inside() {
        deliver();
    }
}

/// Whether this thread is inside a hook.
unsafe fn is_inside() -> bool {
    (*tls()).busy || (*tls()).thread.as_ref().is_some_and(|thread| thread.critical.is_inside())
}

/// Signals that came inside a hook. A handler must not run there: what it does would not be recorded, and if it jumps
/// away, what the hook has locked stays locked.
#[repr(C)]
pub(super) struct Deferred {
    count: usize,
    infos: [siginfo_t; DEFERRED],
    /// Signals for which there was no place: they are pending, and blocked until the hook is over.
    held: u64,
}

const DEFERRED: usize = 4;

/// Defers a signal. Returns false if that is not wanted.
unsafe fn defer(signal: c_int, info: *const siginfo_t, context: *mut libc::ucontext_t) -> bool {
    let deferred = &mut (*scratch()).deferred;
    /// Below, signals do not queue.
    const QUEUED: c_int = 32;
    if signal < QUEUED && deferred.infos.iter().take(deferred.count).any(|other| other.si_signo == signal) {
        return true;
    }
    let mut known: siginfo_t = if WITH_INFO[signal as usize].load(Acquire) { *info } else { mem::zeroed() };
    known.si_signo = signal;
    (*tls()).deferred = true;
    let Some(free) = deferred.infos.get_mut(deferred.count) else {
        let bit = 1u64 << (signal - 1);
        deferred.held |= bit;
        // Now, and when this handler has returned.
        mask(libc::SIG_BLOCK, bit);
        libc::sigaddset(&raw mut (*context).uc_sigmask, signal);
        send_again(&known, signal);
        return true;
    };
    *free = known;
    deferred.count += 1;
    true
}

/// Changes which signals of this thread are blocked. Returns those that were.
unsafe fn mask(how: c_int, signals: u64) -> u64 {
    let mut before = 0u64;
    let (new, old) = ((&raw const signals) as usize, (&raw mut before) as usize);
    syscall(libc::SYS_rt_sigprocmask, [how as usize, new, old, size_of::<u64>(), 0, 0]);
    before
}

/// Sends this thread a signal that it got before, as it was.
unsafe fn send_again(info: &siginfo_t, signal: c_int) {
    let (process, thread) = (system::process_id() as usize, system::thread_id() as usize);
    let arguments = [process, thread, signal as usize, ptr::from_ref(info) as usize, 0, 0];
    syscall(libc::SYS_rt_tgsigqueueinfo, arguments);
}

/// Sends the signals of [`defer`] again, as they were.
#[cold]
pub(crate) extern "C" fn deliver() {
    // SAFETY: the thread's own storage. It is not inside a hook, so no handler defers while this runs.
    unsafe {
        let asynchronous = (*tls()).asynchronous;
        (*tls()).deferred = asynchronous;
        if (*scratch()).deferred.count > 0 || (*scratch()).deferred.held != 0 {
            deliver_signals();
        }
        if asynchronous {
            cancellation::let_go();
        }
    }
}

/// Delivers the signals that were deferred.
unsafe fn deliver_signals() {
    // SAFETY: as there.
    unsafe {
        let deferred = &mut (*scratch()).deferred;
        let infos = deferred.infos;
        let count = mem::take(&mut deferred.count);
        let held = mem::take(&mut deferred.held);
        // All at once: the first handler may jump away.
        let blocked = mask(libc::SIG_SETMASK, !0);
        for info in infos.iter().take(count) {
            send_again(info, info.si_signo);
        }
        mask(libc::SIG_SETMASK, blocked & !held);
    }
}

/// In a forked child, drops the parent's deferred signals.
pub(super) fn forget_all() {
    // SAFETY: the thread's own storage.
    unsafe {
        (*tls()).deferred = (*tls()).asynchronous;
        let deferred = &mut (*scratch()).deferred;
        deferred.count = 0;
        let held = mem::take(&mut deferred.held);
        if held != 0 {
            mask(libc::SIG_UNBLOCK, held);
        }
    }
}

/// Puts [`handle`] before a handler of the program, if it is one. Returns what the kernel shall call, and what
/// [`handle`] had called.
fn stand_before(signal: c_int, handler: usize, pc: usize) -> (usize, usize) {
    let before = HANDLERS[signal as usize].load(Acquire);
    if handler == SIG_DFL || handler == SIG_IGN || handler == SIG_ERR || is_quiet() {
        return (handler, before);
    }
    posted(pc, signal);
    HANDLERS[signal as usize].store(handler, Release);
    (handle as *const () as usize, before)
}

/// The handler that the program sees, for what the kernel calls.
fn seen(kernel: usize, before: usize) -> usize {
    if kernel == handle as *const () as usize { before } else { kernel }
}

unsafe extern "C" fn set_action(
    signal: c_int,
    act: *const libc::sigaction,
    old: *mut libc::sigaction,
    pc: usize,
) -> c_int {
    if !is_sent(signal) {
        return real::sigaction(signal, act, old);
    }
    let mut before = HANDLERS[signal as usize].load(Acquire);
    let mut was_once = ONE_SHOT[signal as usize].load(Acquire);
    let result = if act.is_null() {
        real::sigaction(signal, act, old)
    } else {
        let mut new = act.read();
        (new.sa_sigaction, before) = stand_before(signal, new.sa_sigaction, pc);
        let once = new.sa_flags & libc::SA_RESETHAND != 0 && new.sa_sigaction == handle as *const () as usize;
        if once {
            new.sa_flags &= !libc::SA_RESETHAND;
        }
        was_once = ONE_SHOT[signal as usize].swap(once, AcqRel);
        let had_info = WITH_INFO[signal as usize].swap(new.sa_flags & libc::SA_SIGINFO != 0, AcqRel);
        let result = real::sigaction(signal, &new, old);
        if result != 0 {
            HANDLERS[signal as usize].store(before, Release);
            ONE_SHOT[signal as usize].store(was_once, Release);
            WITH_INFO[signal as usize].store(had_info, Release);
        }
        result
    };
    if result == 0 && !old.is_null() {
        if was_once && (*old).sa_sigaction == handle as *const () as usize {
            (*old).sa_flags |= libc::SA_RESETHAND;
        }
        (*old).sa_sigaction = seen((*old).sa_sigaction, before);
    }
    result
}

unsafe fn setting(signal: c_int, handler: usize, pc: usize, real: unsafe fn(c_int, usize) -> usize) -> usize {
    if !is_sent(signal) {
        return real(signal, handler);
    }
    let (kernel, before) = stand_before(signal, handler, pc);
    ONE_SHOT[signal as usize].store(false, Release);
    WITH_INFO[signal as usize].store(false, Release);
    let old = real(signal, kernel);
    if old == SIG_ERR {
        HANDLERS[signal as usize].store(before, Release);
    }
    seen(old, before)
}

unsafe extern "C" fn set(signal: c_int, handler: usize, pc: usize) -> usize {
    setting(signal, handler, pc, real::signal)
}

unsafe extern "C" fn set_once(signal: c_int, handler: usize, pc: usize) -> usize {
    if !is_sent(signal) || handler == SIG_ERR {
        return real::__sysv_signal(signal, handler);
    }
    let (mut new, mut old): (libc::sigaction, libc::sigaction) = (mem::zeroed(), mem::zeroed());
    new.sa_sigaction = handler;
    new.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER;
    if set_action(signal, &new, &mut old, pc) == 0 { old.sa_sigaction } else { SIG_ERR }
}

unsafe extern "C" fn send_self(signal: c_int, pc: usize) -> c_int {
    posted(pc, signal);
    real::raise(signal)
}

unsafe extern "C" fn send(process: c_int, signal: c_int, pc: usize) -> c_int {
    posted(pc, signal);
    real::kill(process, signal)
}

unsafe extern "C" fn send_group(group: c_int, signal: c_int, pc: usize) -> c_int {
    posted(pc, signal);
    real::killpg(group, signal)
}

unsafe extern "C" fn send_task(process: c_int, thread: c_int, signal: c_int, pc: usize) -> c_int {
    posted(pc, signal);
    real::tgkill(process, thread, signal)
}

unsafe extern "C" fn send_thread(thread: libc::pthread_t, signal: c_int, pc: usize) -> c_int {
    posted(pc, signal);
    real::pthread_kill(thread, signal)
}

unsafe extern "C" fn queue(process: c_int, signal: c_int, value: Pointer, pc: usize) -> c_int {
    posted(pc, signal);
    real::sigqueue(process, signal, value)
}

unsafe extern "C" fn queue_thread(thread: libc::pthread_t, signal: c_int, value: Pointer, pc: usize) -> c_int {
    posted(pc, signal);
    real::pthread_sigqueue(thread, signal, value)
}

unsafe extern "C" fn wait(set: *const sigset_t, signal: *mut c_int, pc: usize) -> c_int {
    let result = real::sigwait(set, signal);
    if result == 0 {
        synchronise(pc, Kind::Await, *signal);
    }
    result
}

unsafe extern "C" fn wait_info(set: *const sigset_t, info: Pointer, pc: usize) -> c_int {
    let signal = real::sigwaitinfo(set, info);
    synchronise(pc, Kind::Await, signal);
    signal
}

unsafe extern "C" fn wait_timed(set: *const sigset_t, info: Pointer, time: *const timespec, pc: usize) -> c_int {
    let signal = real::sigtimedwait(set, info, time);
    synchronise(pc, Kind::Await, signal);
    signal
}

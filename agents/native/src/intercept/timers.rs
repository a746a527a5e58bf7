//! Interceptors of timers that send signals: what precedes setting one happens before the handler.

use core::ffi::{c_int, c_uint};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire};

use libc::{SIGALRM, sigevent};

use super::Pointer;
use super::signals::posted;
use crate::machine::{shim1, shim2, shim3, shim4};

mod real {
    use core::ffi::{c_int, c_uint};
    use core::mem;

    use super::super::Pointer;
    use super::super::real::{Real, functions};

    functions! {
        alarm(seconds: c_uint) -> c_uint;
        ualarm(first: c_uint, interval: c_uint) -> c_uint;
        setitimer(which: c_int, new: Pointer, old: Pointer) -> c_int;
        timer_create(clock: c_int, event: Pointer, timer: Pointer) -> c_int, c"GLIBC_2.3.3";
        timer_settime(timer: Pointer, flags: c_int, new: Pointer, old: Pointer) -> c_int, c"GLIBC_2.3.3";
    }
}

shim1! {
    alarm => alarm_body;
}
shim2! {
    ualarm => ualarm_body;
}
shim3! {
    setitimer => set_interval;
    timer_create => create;
}
shim4! {
    timer_settime => set_time;
}

/// The signals that timers of `timer_create` send, as bits. Which of them a timer sends, is not kept.
static SIGNALS: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn alarm_body(seconds: c_uint, pc: usize) -> c_uint {
    posted(pc, SIGALRM);
    real::alarm(seconds)
}

unsafe extern "C" fn ualarm_body(first: c_uint, interval: c_uint, pc: usize) -> c_uint {
    posted(pc, SIGALRM);
    real::ualarm(first, interval)
}

unsafe extern "C" fn set_interval(which: c_int, new: Pointer, old: Pointer, pc: usize) -> c_int {
    match which {
        libc::ITIMER_REAL => posted(pc, SIGALRM),
        libc::ITIMER_VIRTUAL => posted(pc, libc::SIGVTALRM),
        libc::ITIMER_PROF => posted(pc, libc::SIGPROF),
        _ => {}
    }
    real::setitimer(which, new, old)
}

unsafe extern "C" fn create(clock: c_int, event: Pointer, timer: Pointer, _pc: usize) -> c_int {
    let signal = match event.cast::<sigevent>().as_ref() {
        None => SIGALRM,
        Some(event) if matches!(event.sigev_notify, libc::SIGEV_SIGNAL | libc::SIGEV_THREAD_ID) => event.sigev_signo,
        Some(_) => 0,
    };
    let result = real::timer_create(clock, event, timer);
    if result == 0 && (1..=64).contains(&signal) {
        SIGNALS.fetch_or(1 << (signal - 1), AcqRel);
    }
    result
}

unsafe extern "C" fn set_time(timer: Pointer, flags: c_int, new: Pointer, old: Pointer, pc: usize) -> c_int {
    let mut left = SIGNALS.load(Acquire);
    while left != 0 {
        posted(pc, left.trailing_zeros() as c_int + 1);
        left &= left - 1;
    }
    real::timer_settime(timer, flags, new, old)
}

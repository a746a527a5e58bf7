//! The interceptor of `syscall()`: futexes, and ends of the process that the C library does not see.

use core::ffi::c_long;

use runtime::record::{Class, Kind};

use core::mem;

use super::entry::{calls, seven};
use super::forking::split_by_call;
use super::real::Real;
use super::{Pointer, sync};
use crate::session;

seven! {
    foretrace_call => call;
}
calls! {
    syscall(libc::SYS_clone, libc::SYS_clone3, libc::SYS_vfork) => straight, foretrace_call
}

#[used]
#[unsafe(link_section = "foretrace_real")]
static SYSCALL: Real = Real::new("syscall\0", None);

unsafe extern "C" fn straight() -> Pointer {
    SYSCALL.get()
}

#[allow(clippy::too_many_arguments)]
unsafe fn real(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long {
    type Syscall = unsafe extern "C" fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long;
    mem::transmute::<Pointer, Syscall>(SYSCALL.get())(number, a, b, c, d, e, f)
}

const COMMAND: usize = 0x7f;
const WAIT: usize = 0;
const WAKE: usize = 1;
const REQUEUE: usize = 3;
const CMP_REQUEUE: usize = 4;
const WAKE_OP: usize = 5;
const WAIT_BITSET: usize = 9;
const WAKE_BITSET: usize = 10;

#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn call(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    pc: usize,
) -> c_long {
    match number {
        libc::SYS_futex => {
            if matches!(b & COMMAND, WAKE | WAKE_BITSET | REQUEUE | CMP_REQUEUE | WAKE_OP) {
                sync(pc, Kind::Post, Class::Futex, a as Pointer);
                // These wake waiters of a second word, or move them there.
                if b & COMMAND != WAKE && b & COMMAND != WAKE_BITSET {
                    sync(pc, Kind::Post, Class::Futex, e as Pointer);
                }
            }
            let result = real(number, a, b, c, d, e, f);
            // If the value had changed already, no thread woke this one.
            if result == 0 && matches!(b & COMMAND, WAIT | WAIT_BITSET) {
                sync(pc, Kind::Await, Class::Futex, a as Pointer);
            }
            return result;
        }
        libc::SYS_exit_group => session::finish(),
        libc::SYS_fork => {
            return split_by_call(|| real(number, a, b, c, d, e, f));
        }
        _ => {}
    }
    real(number, a, b, c, d, e, f)
}

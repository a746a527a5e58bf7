//! The interceptor of `syscall()`: futexes, and ends of the process that the C library does not see.

use core::ffi::c_long;

use runtime::record::{Class, Kind};

use super::entry::seven;
use super::process::splitting;
use super::{Pointer, real, sync};
use crate::session;

seven! {
    syscall => call;
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
            let result = real::syscall(number, a, b, c, d, e, f);
            // If the value had changed already, no thread woke this one.
            if result == 0 && matches!(b & COMMAND, WAIT | WAIT_BITSET) {
                sync(pc, Kind::Await, Class::Futex, a as Pointer);
            }
            return result;
        }
        libc::SYS_exit_group => session::finish(),
        libc::SYS_fork => {
            return splitting(|| real::syscall(number, a, b, c, d, e, f));
        }
        _ => {}
    }
    real::syscall(number, a, b, c, d, e, f)
}

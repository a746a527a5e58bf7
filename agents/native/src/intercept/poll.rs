//! Interceptors of functions that wait for several file descriptors at once.

use core::ffi::{c_int, c_ulong};

use libc::{fd_set, pollfd};

use super::descriptors::{was_read, writing};
use super::{Pointer, access, is_quiet};
use crate::machine::{shim3, shim4, shim5, shim6};

mod real {
    use core::ffi::{c_int, c_ulong};
    use core::mem;

    use libc::{fd_set, pollfd};

    use super::super::Pointer;
    use super::super::real::{Real, functions};

    functions! {
        __poll_chk(fds: *mut pollfd, count: c_ulong, time: c_int, room: usize) -> c_int;
        poll(fds: *mut pollfd, count: c_ulong, time: c_int) -> c_int;
        ppoll(fds: *mut pollfd, count: c_ulong, time: Pointer, mask: Pointer) -> c_int;
        select(count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, time: Pointer) -> c_int;
        pselect(count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, time: Pointer, mask: Pointer)
            -> c_int;
        epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: Pointer) -> c_int;
        epoll_wait(epoll: c_int, events: Pointer, most: c_int, time: c_int) -> c_int;
        epoll_pwait(epoll: c_int, events: Pointer, most: c_int, time: c_int, mask: Pointer) -> c_int;
        epoll_pwait2(epoll: c_int, events: Pointer, most: c_int, time: Pointer, mask: Pointer) -> c_int;
    }
}

shim3! {
    poll => poll_body;
}
shim4! {
    ppoll => poll_masked;
    __poll_chk => poll_checked;
    epoll_ctl => epoll_control;
    epoll_wait => epoll;
}
shim5! {
    select => select_body;
    epoll_pwait => epoll_masked;
    epoll_pwait2 => epoll_masked2;
}
shim6! {
    pselect => select_masked;
}

/// Records that descriptors can be read: what was written into them happens before.
unsafe fn polled(fds: *mut pollfd, count: c_ulong, result: c_int, pc: usize) -> c_int {
    if result > 0 && !is_quiet() {
        for i in 0..count as usize {
            let fd = &*fds.add(i);
            if fd.revents & (libc::POLLIN | libc::POLLHUP | libc::POLLRDHUP) != 0 {
                was_read(fd.fd, pc);
            }
        }
    }
    result
}

unsafe extern "C" fn poll_body(fds: *mut pollfd, count: c_ulong, time: c_int, pc: usize) -> c_int {
    polled(fds, count, real::poll(fds, count, time), pc)
}

unsafe extern "C" fn poll_checked(fds: *mut pollfd, count: c_ulong, time: c_int, room: usize, pc: usize) -> c_int {
    polled(fds, count, real::__poll_chk(fds, count, time, room), pc)
}

unsafe extern "C" fn poll_masked(fds: *mut pollfd, count: c_ulong, time: Pointer, mask: Pointer, pc: usize) -> c_int {
    polled(fds, count, real::ppoll(fds, count, time, mask), pc)
}

unsafe fn selected(count: c_int, read: *mut fd_set, result: c_int, pc: usize) -> c_int {
    if result > 0 && !read.is_null() && !is_quiet() {
        // Programs that have more descriptors than an `fd_set` pass a longer one.
        let words = read.cast::<u64>();
        for fd in 0..count.max(0) as usize {
            if *words.add(fd / 64) >> (fd % 64) & 1 != 0 {
                was_read(fd as c_int, pc);
            }
        }
    }
    result
}

unsafe extern "C" fn select_body(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    other: *mut fd_set,
    time: Pointer,
    pc: usize,
) -> c_int {
    selected(count, read, real::select(count, read, write, other, time), pc)
}

unsafe extern "C" fn select_masked(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    other: *mut fd_set,
    time: Pointer,
    mask: Pointer,
    pc: usize,
) -> c_int {
    selected(count, read, real::pselect(count, read, write, other, time, mask), pc)
}

unsafe extern "C" fn epoll_control(epoll: c_int, operation: c_int, fd: c_int, event: Pointer, pc: usize) -> c_int {
    writing(epoll, pc);
    real::epoll_ctl(epoll, operation, fd, event)
}

/// Records events of epoll: what a thread did before it registered a descriptor happens before what another does with
/// its event.
fn epolled(epoll: c_int, events: Pointer, result: c_int, pc: usize) -> c_int {
    if result > 0 {
        was_read(epoll, pc);
        access(pc, events, result as usize * size_of::<libc::epoll_event>(), true);
    }
    result
}

unsafe extern "C" fn epoll(epoll: c_int, events: Pointer, most: c_int, time: c_int, pc: usize) -> c_int {
    epolled(epoll, events, real::epoll_wait(epoll, events, most, time), pc)
}

unsafe extern "C" fn epoll_masked(
    epoll: c_int,
    events: Pointer,
    most: c_int,
    time: c_int,
    mask: Pointer,
    pc: usize,
) -> c_int {
    epolled(epoll, events, real::epoll_pwait(epoll, events, most, time, mask), pc)
}

unsafe extern "C" fn epoll_masked2(
    epoll: c_int,
    events: Pointer,
    most: c_int,
    time: Pointer,
    mask: Pointer,
    pc: usize,
) -> c_int {
    epolled(epoll, events, real::epoll_pwait2(epoll, events, most, time, mask), pc)
}

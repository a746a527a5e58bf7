//! Interceptors of functions that read from and write to file descriptors.

use core::ffi::{c_int, c_uint};

use libc::{iovec, mmsghdr, msghdr, off_t};

use super::descriptors::{uses, was_read, writing};
use super::{Pointer, access, is_quiet};
use crate::machine::{shim2, shim3, shim4, shim5, shim6};

mod real {
    use core::ffi::{c_int, c_uint};
    use core::mem;

    use libc::{iovec, mmsghdr, msghdr, off_t};

    use super::super::Pointer;
    use super::super::real::{Real, functions};

    functions! {
        read(fd: c_int, into: Pointer, bytes: usize) -> isize;
        __recv_chk(fd: c_int, into: Pointer, bytes: usize, room: usize, flags: c_int) -> isize;
        __pread64_chk(fd: c_int, into: Pointer, bytes: usize, offset: off_t, room: usize) -> isize;
        __read_chk(fd: c_int, into: Pointer, bytes: usize, room: usize) -> isize;
        pread64(fd: c_int, into: Pointer, bytes: usize, offset: off_t) -> isize;
        readv(fd: c_int, into: *const iovec, count: c_int) -> isize;
        preadv64(fd: c_int, into: *const iovec, count: c_int, offset: off_t) -> isize;
        recv(fd: c_int, into: Pointer, bytes: usize, flags: c_int) -> isize;
        recvfrom(fd: c_int, into: Pointer, bytes: usize, flags: c_int, address: Pointer, length: Pointer) -> isize;
        recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> isize;
        recvmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, time: Pointer) -> c_int;
        write(fd: c_int, from: Pointer, bytes: usize) -> isize;
        pwrite64(fd: c_int, from: Pointer, bytes: usize, offset: off_t) -> isize;
        writev(fd: c_int, from: *const iovec, count: c_int) -> isize;
        pwritev64(fd: c_int, from: *const iovec, count: c_int, offset: off_t) -> isize;
        send(fd: c_int, from: Pointer, bytes: usize, flags: c_int) -> isize;
        sendto(fd: c_int, from: Pointer, bytes: usize, flags: c_int, address: Pointer, length: c_uint) -> isize;
        sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> isize;
        sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int;
        sendfile64(out: c_int, from: c_int, offset: Pointer, bytes: usize) -> isize;
        splice(from: c_int, a: Pointer, to: c_int, b: Pointer, bytes: usize, flags: c_uint) -> isize;
        eventfd_read(fd: c_int, value: *mut u64) -> c_int;
        eventfd_write(fd: c_int, value: u64) -> c_int;
    }
}

shim2! {
    eventfd_read => read_event;
    eventfd_write => write_event;
}
shim3! {
    read => read_bytes;
    readv => read_parts;
    recvmsg => receive_message;
    write => write_bytes;
    writev => write_parts;
    sendmsg => send_message;
}
shim4! {
    __read_chk => read_checked;
    pread => read_at;
    pread64 => read_at;
    preadv => read_parts_at;
    preadv64 => read_parts_at;
    recv => receive;
    pwrite => write_at;
    pwrite64 => write_at;
    pwritev => write_parts_at;
    pwritev64 => write_parts_at;
    send => send_bytes;
    sendmmsg => send_messages;
    sendfile => send_file;
    sendfile64 => send_file;
}
shim5! {
    recvmmsg => receive_messages;
    __recv_chk => receive_checked;
    __pread_chk => read_at_checked;
    __pread64_chk => read_at_checked;
}
shim6! {
    recvfrom => receive_from;
    sendto => send_to;
    splice => transfer;
}

/// After reading into a buffer.
fn have_read(fd: c_int, into: Pointer, bytes: isize, pc: usize) -> isize {
    if bytes >= 0 {
        was_read(fd, pc);
        access(pc, into, bytes as usize, true);
    }
    bytes
}

/// The first `bytes` of the parts are read or written.
unsafe fn parts(parts: *const iovec, count: usize, mut bytes: usize, write: bool, pc: usize) {
    if is_quiet() {
        return;
    }
    for i in 0..count {
        let part = &*parts.add(i);
        let here = part.iov_len.min(bytes);
        access(pc, part.iov_base, here, write);
        bytes -= here;
        if bytes == 0 {
            break;
        }
    }
}

unsafe fn have_read_parts(fd: c_int, into: *const iovec, count: usize, bytes: isize, pc: usize) -> isize {
    if bytes >= 0 {
        was_read(fd, pc);
        parts(into, count, bytes as usize, true, pc);
    }
    bytes
}

unsafe extern "C" fn read_bytes(fd: c_int, into: Pointer, bytes: usize, pc: usize) -> isize {
    uses(fd, pc);
    have_read(fd, into, real::read(fd, into, bytes), pc)
}

unsafe extern "C" fn read_checked(fd: c_int, into: Pointer, bytes: usize, room: usize, pc: usize) -> isize {
    uses(fd, pc);
    have_read(fd, into, real::__read_chk(fd, into, bytes, room), pc)
}

unsafe extern "C" fn read_at(fd: c_int, into: Pointer, bytes: usize, offset: off_t, pc: usize) -> isize {
    uses(fd, pc);
    have_read(fd, into, real::pread64(fd, into, bytes, offset), pc)
}

unsafe extern "C" fn read_parts(fd: c_int, into: *const iovec, count: c_int, pc: usize) -> isize {
    uses(fd, pc);
    have_read_parts(fd, into, count.max(0) as usize, real::readv(fd, into, count), pc)
}

unsafe extern "C" fn read_parts_at(fd: c_int, into: *const iovec, count: c_int, offset: off_t, pc: usize) -> isize {
    uses(fd, pc);
    have_read_parts(fd, into, count.max(0) as usize, real::preadv64(fd, into, count, offset), pc)
}

unsafe extern "C" fn receive(fd: c_int, into: Pointer, bytes: usize, flags: c_int, pc: usize) -> isize {
    uses(fd, pc);
    // With MSG_TRUNC the result may be more than the buffer holds.
    let result = real::recv(fd, into, bytes, flags);
    have_read(fd, into, result.min(bytes as isize), pc);
    result
}

unsafe extern "C" fn receive_checked(
    fd: c_int,
    into: Pointer,
    bytes: usize,
    room: usize,
    flags: c_int,
    pc: usize,
) -> isize {
    uses(fd, pc);
    let result = real::__recv_chk(fd, into, bytes, room, flags);
    have_read(fd, into, result.min(bytes as isize), pc);
    result
}

unsafe extern "C" fn read_at_checked(
    fd: c_int,
    into: Pointer,
    bytes: usize,
    offset: off_t,
    room: usize,
    pc: usize,
) -> isize {
    uses(fd, pc);
    have_read(fd, into, real::__pread64_chk(fd, into, bytes, offset, room), pc)
}

unsafe extern "C" fn receive_from(
    fd: c_int,
    into: Pointer,
    bytes: usize,
    flags: c_int,
    address: Pointer,
    length: Pointer,
    pc: usize,
) -> isize {
    uses(fd, pc);
    let result = real::recvfrom(fd, into, bytes, flags, address, length);
    have_read(fd, into, result.min(bytes as isize), pc);
    result
}

unsafe extern "C" fn receive_message(fd: c_int, message: *mut msghdr, flags: c_int, pc: usize) -> isize {
    uses(fd, pc);
    let result = real::recvmsg(fd, message, flags);
    if result >= 0 {
        have_read_parts(fd, (*message).msg_iov, (*message).msg_iovlen, result, pc);
    }
    result
}

unsafe extern "C" fn receive_messages(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    time: Pointer,
    pc: usize,
) -> c_int {
    uses(fd, pc);
    let result = real::recvmmsg(fd, messages, count, flags, time);
    for i in 0..result.max(0) as usize {
        let message = &*messages.add(i);
        let header = &message.msg_hdr;
        have_read_parts(fd, header.msg_iov, header.msg_iovlen, message.msg_len as isize, pc);
    }
    result
}

/// Before writing from a buffer.
fn write_from(fd: c_int, from: Pointer, bytes: usize, pc: usize) {
    access(pc, from, bytes, false);
    writing(fd, pc);
}

unsafe extern "C" fn write_bytes(fd: c_int, from: Pointer, bytes: usize, pc: usize) -> isize {
    uses(fd, pc);
    write_from(fd, from, bytes, pc);
    real::write(fd, from, bytes)
}

unsafe extern "C" fn write_at(fd: c_int, from: Pointer, bytes: usize, offset: off_t, pc: usize) -> isize {
    uses(fd, pc);
    write_from(fd, from, bytes, pc);
    real::pwrite64(fd, from, bytes, offset)
}

unsafe extern "C" fn write_parts(fd: c_int, from: *const iovec, count: c_int, pc: usize) -> isize {
    uses(fd, pc);
    parts(from, count.max(0) as usize, usize::MAX, false, pc);
    writing(fd, pc);
    real::writev(fd, from, count)
}

unsafe extern "C" fn write_parts_at(fd: c_int, from: *const iovec, count: c_int, offset: off_t, pc: usize) -> isize {
    uses(fd, pc);
    parts(from, count.max(0) as usize, usize::MAX, false, pc);
    writing(fd, pc);
    real::pwritev64(fd, from, count, offset)
}

unsafe extern "C" fn send_bytes(fd: c_int, from: Pointer, bytes: usize, flags: c_int, pc: usize) -> isize {
    uses(fd, pc);
    write_from(fd, from, bytes, pc);
    real::send(fd, from, bytes, flags)
}

unsafe extern "C" fn send_to(
    fd: c_int,
    from: Pointer,
    bytes: usize,
    flags: c_int,
    address: Pointer,
    length: c_uint,
    pc: usize,
) -> isize {
    uses(fd, pc);
    write_from(fd, from, bytes, pc);
    real::sendto(fd, from, bytes, flags, address, length)
}

unsafe fn write_message(fd: c_int, message: *const msghdr, pc: usize) {
    if !message.is_null() {
        parts((*message).msg_iov, (*message).msg_iovlen, usize::MAX, false, pc);
    }
    writing(fd, pc);
}

unsafe extern "C" fn send_message(fd: c_int, message: *const msghdr, flags: c_int, pc: usize) -> isize {
    uses(fd, pc);
    write_message(fd, message, pc);
    real::sendmsg(fd, message, flags)
}

unsafe extern "C" fn send_messages(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, pc: usize) -> c_int {
    uses(fd, pc);
    for i in 0..count as usize {
        write_message(fd, &(*messages.add(i)).msg_hdr, pc);
    }
    real::sendmmsg(fd, messages, count, flags)
}

unsafe extern "C" fn send_file(to: c_int, from: c_int, offset: Pointer, bytes: usize, pc: usize) -> isize {
    uses(to, pc);
    uses(from, pc);
    writing(to, pc);
    real::sendfile64(to, from, offset, bytes)
}

unsafe extern "C" fn transfer(
    from: c_int,
    a: Pointer,
    to: c_int,
    b: Pointer,
    bytes: usize,
    flags: c_uint,
    pc: usize,
) -> isize {
    uses(from, pc);
    uses(to, pc);
    writing(to, pc);
    let result = real::splice(from, a, to, b, bytes, flags);
    if result >= 0 {
        was_read(from, pc);
    }
    result
}

unsafe extern "C" fn read_event(fd: c_int, value: *mut u64, pc: usize) -> c_int {
    uses(fd, pc);
    let result = real::eventfd_read(fd, value);
    if result == 0 {
        have_read(fd, value.cast(), 8, pc);
    }
    result
}

unsafe extern "C" fn write_event(fd: c_int, value: u64, pc: usize) -> c_int {
    uses(fd, pc);
    writing(fd, pc);
    real::eventfd_write(fd, value)
}

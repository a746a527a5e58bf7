//! Synchronisation by file descriptors: a write into a pipe, a socket or an eventfd happens before the read that gets
//! it.

use core::ffi::{c_int, c_uint, c_ulong};
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU64};

use runtime::record::{Class, FILES, Kind};

use super::{Pointer, is_quiet, record, sync};
use crate::machine::{shim1, shim2, shim3, shim4, syscall};

mod real {
    use core::ffi::{c_int, c_uint, c_ulong};
    use core::mem;

    use super::super::Pointer;
    use super::super::real::{Real, functions};

    functions! {
        open(path: Pointer, flags: c_int, mode: c_uint) -> c_int;
        openat(at: c_int, path: Pointer, flags: c_int, mode: c_uint) -> c_int;
        creat(path: Pointer, mode: c_uint) -> c_int;
        socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
        socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int;
        pipe(pair: *mut c_int) -> c_int;
        pipe2(pair: *mut c_int, flags: c_int) -> c_int;
        eventfd(count: c_uint, flags: c_int) -> c_int;
        timerfd_create(clock: c_int, flags: c_int) -> c_int;
        signalfd(fd: c_int, mask: Pointer, flags: c_int) -> c_int;
        epoll_create(size: c_int) -> c_int;
        epoll_create1(flags: c_int) -> c_int;
        memfd_create(name: Pointer, flags: c_uint) -> c_int;
        accept(fd: c_int, address: Pointer, length: Pointer) -> c_int;
        accept4(fd: c_int, address: Pointer, length: Pointer, flags: c_int) -> c_int;
        connect(fd: c_int, address: Pointer, length: c_uint) -> c_int;
        shutdown(fd: c_int, how: c_int) -> c_int;
        close(fd: c_int) -> c_int;
        close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int;
        dup(fd: c_int) -> c_int;
        dup2(fd: c_int, new: c_int) -> c_int;
        dup3(fd: c_int, new: c_int, flags: c_int) -> c_int;
        fcntl(fd: c_int, command: c_int, argument: c_ulong) -> c_int;
        fcntl64(fd: c_int, command: c_int, argument: c_ulong) -> c_int;
        fclose(file: Pointer) -> c_int;
        pclose(file: Pointer) -> c_int;
        closedir(folder: Pointer) -> c_int;
    }
}

shim1! {
    pipe => new_pipe;
    epoll_create => new_epoll;
    epoll_create1 => new_epoll1;
    close => end;
    __close => end;
    dup => duplicate;
    fclose => end_file;
    pclose => end_pipe;
    closedir => end_folder;
}
shim2! {
    creat => create;
    creat64 => create;
    pipe2 => new_pipe2;
    eventfd => new_eventfd;
    timerfd_create => new_timer;
    memfd_create => new_memory;
    shutdown => stop;
    dup2 => duplicate_to;
}
shim3! {
    open => new;
    open64 => new;
    socket => new_socket;
    signalfd => new_signalfd;
    accept => accepted;
    connect => connecting;
    close_range => end_range;
    dup3 => duplicate_to3;
    fcntl => control;
    fcntl64 => control64;
}
shim4! {
    openat => new_at;
    openat64 => new_at;
    socketpair => new_pair;
    accept4 => accepted4;
}

/// Descriptors whose objects are remembered. Others are looked up each time.
const KNOWN: usize = 1 << 16;
/// The descriptor does not synchronise.
const NO_OBJECT: u64 = 1;
/// One object for all sockets whose other end is not known: too much order rather than a false alarm.
const SOCKETS: u64 = u64::MAX >> 16;

/// The object of each descriptor: 0 if it was not looked up yet.
static OBJECTS: [AtomicU64; KNOWN] = [const { AtomicU64::new(0) }; KNOWN];
/// Whether a descriptor with this number has ended.
static ENDED: [AtomicBool; KNOWN] = [const { AtomicBool::new(false) }; KNOWN];
/// Generations of descriptors so far; 0 is the number itself, which is given away again when a generation ends.
static GENERATIONS: AtomicU64 = AtomicU64::new(1);

fn entry(fd: c_int) -> Option<&'static AtomicU64> {
    OBJECTS.get(usize::try_from(fd).ok()?)
}

/// A new object: the number of the descriptor (20 bits) and its generation.
fn fresh(fd: c_int) -> u64 {
    (GENERATIONS.fetch_add(1, Relaxed) & 0x0fff_ffff) << 20 | fd as u64 & 0xf_ffff
}

/// Forgets the object of a descriptor that means something new.
fn forget(fd: c_int) {
    if let Some(entry) = entry(fd) {
        entry.store(0, Release);
    }
}

/// Makes a descriptor another name of `of`.
fn same(fd: c_int, of: c_int) {
    if let (Some(fd), Some(of)) = (entry(fd), entry(of)) {
        fd.store(of.load(Acquire), Release);
    }
}

/// Gives both ends of a pipe or pair of sockets one object.
fn pair(first: c_int, second: c_int) {
    let object = fresh(first);
    for fd in [first, second] {
        if let Some(entry) = entry(fd) {
            entry.store(object, Release);
        }
    }
}

/// The object by which a descriptor synchronises.
fn object(fd: c_int) -> Option<u64> {
    let known = entry(fd).map_or(0, |entry| entry.load(Acquire));
    let object = if known == 0 { classify(fd) } else { known };
    (object != NO_OBJECT).then_some(object)
}

#[cold]
fn classify(fd: c_int) -> u64 {
    let mut stat = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the kernel fills the structure.
    let mode = unsafe {
        if syscall(libc::SYS_fstat, [fd as usize, stat.as_mut_ptr() as usize, 0, 0, 0, 0]) != 0 {
            return NO_OBJECT;
        }
        (*stat.as_ptr()).st_mode
    };
    let object = match mode & libc::S_IFMT {
        // What has no type is an eventfd, an epoll, a timer.
        libc::S_IFIFO | 0 => fresh(fd),
        libc::S_IFSOCK => match connection(fd) {
            Some(object) => object,
            // It may be connected later.
            None => return SOCKETS,
        },
        _ => NO_OBJECT,
    };
    if let Some(entry) = entry(fd) {
        // Two threads that ask at once must agree.
        return match entry.compare_exchange(0, object, Release, Acquire) {
            Ok(_) => object,
            Err(now) => now,
        };
    }
    object
}

/// Both ends of a connection over the internet protocols have the same two addresses.
fn connection(fd: c_int) -> Option<u64> {
    let mut hashes = [0; 2];
    for (hash, call) in hashes.iter_mut().zip([libc::SYS_getsockname, libc::SYS_getpeername]) {
        let mut address = [0_u8; 28];
        let mut length = 28_u32;
        let arguments = [fd as usize, address.as_mut_ptr() as usize, &raw mut length as usize, 0, 0, 0];
        // SAFETY: the kernel fills the address, and says how long it is.
        if unsafe { syscall(call, arguments) } != 0 {
            return None;
        }
        let used = match i32::from(u16::from_ne_bytes([address[0], address[1]])) {
            // Family, port, address.
            libc::AF_INET => &address[..8],
            libc::AF_INET6 => &address[..24],
            _ => return None,
        };
        *hash = runtime::layout::path_hash(used);
    }
    Some((hashes[0] ^ hashes[1]) >> 16 | 1 << 47)
}

fn synchronise(pc: usize, kind: Kind, fd: c_int) {
    if !is_quiet()
        && let Some(object) = object(fd)
    {
        record(pc, |thread| thread.sync(kind, Class::Descriptor, object as usize));
    }
}

/// Records that something is about to be written into a descriptor.
pub(super) fn writing(fd: c_int, pc: usize) {
    synchronise(pc, Kind::Post, fd);
}

/// Records that something was read from a descriptor.
pub(super) fn was_read(fd: c_int, pc: usize) {
    synchronise(pc, Kind::Await, fd);
}

/// Records that a descriptor is used: closing it conflicts.
pub(super) fn uses(fd: c_int, pc: usize) {
    if let Ok(fd) = u32::try_from(fd) {
        sync(pc, Kind::Use, Class::File, (FILES + u64::from(fd)) as Pointer);
    }
}

/// Records that a descriptor is about to be closed.
fn closes(fd: c_int, pc: usize) {
    if let Ok(fd) = u32::try_from(fd) {
        sync(pc, Kind::Destroy, Class::File, (FILES + u64::from(fd)) as Pointer);
    }
}

/// Records that a descriptor means something new, also if it was not seen to be closed.
fn begins(fd: c_int, pc: usize) {
    if let Ok(fd) = u32::try_from(fd) {
        record(pc, |thread| thread.sync_with(Kind::Init, Class::File, (FILES + u64::from(fd)) as usize, 0));
    }
}

/// Records an operation on the object of all sockets, by which connections come about.
fn sockets(kind: Kind, pc: usize) {
    record(pc, |thread| thread.sync(kind, Class::Descriptor, SOCKETS as usize));
}

fn has_ended(fd: c_int) -> Option<&'static AtomicBool> {
    ENDED.get(usize::try_from(fd).ok()?)
}

/// Servers keep the state of a connection under its descriptor's number: closing a number happens before its next use.
fn number(kind: Kind, fd: c_int, pc: usize) {
    record(pc, |thread| thread.sync(kind, Class::Descriptor, (fd as u64 & 0xf_ffff) as usize));
}

fn opened(fd: c_int, pc: usize) -> c_int {
    if fd >= 0 {
        forget(fd);
        reused(fd, pc);
    }
    fd
}

fn reused(fd: c_int, pc: usize) {
    begins(fd, pc);
    if has_ended(fd).is_some_and(|ended| ended.load(Acquire)) {
        number(Kind::Await, fd, pc);
    }
}

unsafe extern "C" fn new(path: Pointer, flags: c_int, mode: c_uint, pc: usize) -> c_int {
    opened(real::open(path, flags, mode), pc)
}

unsafe extern "C" fn new_at(at: c_int, path: Pointer, flags: c_int, mode: c_uint, pc: usize) -> c_int {
    opened(real::openat(at, path, flags, mode), pc)
}

unsafe extern "C" fn create(path: Pointer, mode: c_uint, pc: usize) -> c_int {
    opened(real::creat(path, mode), pc)
}

unsafe extern "C" fn new_socket(domain: c_int, kind: c_int, protocol: c_int, pc: usize) -> c_int {
    opened(real::socket(domain, kind, protocol), pc)
}

unsafe extern "C" fn new_eventfd(count: c_uint, flags: c_int, pc: usize) -> c_int {
    opened(real::eventfd(count, flags), pc)
}

unsafe extern "C" fn new_timer(clock: c_int, flags: c_int, pc: usize) -> c_int {
    opened(real::timerfd_create(clock, flags), pc)
}

unsafe extern "C" fn new_memory(name: Pointer, flags: c_uint, pc: usize) -> c_int {
    opened(real::memfd_create(name, flags), pc)
}

unsafe extern "C" fn new_signalfd(fd: c_int, mask: Pointer, flags: c_int, pc: usize) -> c_int {
    opened(real::signalfd(fd, mask, flags), pc)
}

unsafe extern "C" fn new_epoll(size: c_int, pc: usize) -> c_int {
    opened(real::epoll_create(size), pc)
}

unsafe extern "C" fn new_epoll1(flags: c_int, pc: usize) -> c_int {
    opened(real::epoll_create1(flags), pc)
}

unsafe fn paired(result: c_int, ends: *mut c_int, pc: usize) -> c_int {
    if result == 0 {
        pair(*ends, *ends.add(1));
        reused(*ends, pc);
        reused(*ends.add(1), pc);
    }
    result
}

unsafe extern "C" fn new_pipe(ends: *mut c_int, pc: usize) -> c_int {
    paired(real::pipe(ends), ends, pc)
}

unsafe extern "C" fn new_pipe2(ends: *mut c_int, flags: c_int, pc: usize) -> c_int {
    paired(real::pipe2(ends, flags), ends, pc)
}

unsafe extern "C" fn new_pair(domain: c_int, kind: c_int, protocol: c_int, ends: *mut c_int, pc: usize) -> c_int {
    paired(real::socketpair(domain, kind, protocol, ends), ends, pc)
}

unsafe extern "C" fn accepted(fd: c_int, address: Pointer, length: Pointer, pc: usize) -> c_int {
    let new = opened(real::accept(fd, address, length), pc);
    if new >= 0 {
        sockets(Kind::Await, pc);
    }
    new
}

unsafe extern "C" fn accepted4(fd: c_int, address: Pointer, length: Pointer, flags: c_int, pc: usize) -> c_int {
    let new = opened(real::accept4(fd, address, length, flags), pc);
    if new >= 0 {
        sockets(Kind::Await, pc);
    }
    new
}

unsafe extern "C" fn connecting(fd: c_int, address: Pointer, length: c_uint, pc: usize) -> c_int {
    sockets(Kind::Post, pc);
    real::connect(fd, address, length)
}

unsafe extern "C" fn stop(fd: c_int, how: c_int, pc: usize) -> c_int {
    // The other end reads its end of file.
    writing(fd, pc);
    real::shutdown(fd, how)
}

/// A reader at the end of a pipe sees that its last writer has closed it. Recorded before the real call: afterwards the
/// number may be another thread's.
fn ending(fd: c_int, pc: usize) {
    closes(fd, pc);
    if entry(fd).is_some_and(|entry| entry.load(Acquire) > NO_OBJECT) {
        writing(fd, pc);
    }
    forget(fd);
    if let Some(ended) = has_ended(fd) {
        number(Kind::Post, fd, pc);
        ended.store(true, Release);
    }
}

unsafe extern "C" fn end(fd: c_int, pc: usize) -> c_int {
    ending(fd, pc);
    real::close(fd)
}

/// Before a stream is closed.
unsafe fn ending_file(file: Pointer, pc: usize) {
    if !file.is_null() {
        let error = *super::error();
        // Streams of memory have none.
        ending(libc::fileno(file.cast()), pc);
        *super::error() = error;
    }
}

unsafe extern "C" fn end_file(file: Pointer, pc: usize) -> c_int {
    ending_file(file, pc);
    real::fclose(file)
}

unsafe extern "C" fn end_pipe(file: Pointer, pc: usize) -> c_int {
    ending_file(file, pc);
    real::pclose(file)
}

unsafe extern "C" fn end_folder(folder: Pointer, pc: usize) -> c_int {
    if !folder.is_null() {
        let error = *super::error();
        ending(libc::dirfd(folder.cast()), pc);
        *super::error() = error;
    }
    real::closedir(folder)
}

unsafe extern "C" fn end_range(first: c_uint, last: c_uint, flags: c_int, pc: usize) -> c_int {
    for fd in first..=last.min(KNOWN as c_uint - 1) {
        if entry(fd as c_int).is_some_and(|entry| entry.load(Acquire) != 0) {
            begins(fd as c_int, pc);
        }
        forget(fd as c_int);
    }
    real::close_range(first, last, flags)
}

fn duplicated(fd: c_int, of: c_int, pc: usize) -> c_int {
    if fd >= 0 && fd != of {
        same(fd, of);
        reused(fd, pc);
    }
    fd
}

/// Makes sure that a descriptor has an object before it is duplicated: both names must share it.
fn duplicating(fd: c_int) {
    if !is_quiet() {
        object(fd);
    }
}

unsafe extern "C" fn duplicate(fd: c_int, pc: usize) -> c_int {
    duplicating(fd);
    duplicated(real::dup(fd), fd, pc)
}

unsafe extern "C" fn duplicate_to(fd: c_int, new: c_int, pc: usize) -> c_int {
    duplicating(fd);
    duplicated(real::dup2(fd, new), fd, pc)
}

unsafe extern "C" fn duplicate_to3(fd: c_int, new: c_int, flags: c_int, pc: usize) -> c_int {
    duplicating(fd);
    duplicated(real::dup3(fd, new, flags), fd, pc)
}

fn duplicates(command: c_int) -> bool {
    command == libc::F_DUPFD || command == libc::F_DUPFD_CLOEXEC
}

unsafe extern "C" fn control(fd: c_int, command: c_int, argument: c_ulong, pc: usize) -> c_int {
    if !duplicates(command) {
        return real::fcntl(fd, command, argument);
    }
    duplicating(fd);
    duplicated(real::fcntl(fd, command, argument), fd, pc)
}

unsafe extern "C" fn control64(fd: c_int, command: c_int, argument: c_ulong, pc: usize) -> c_int {
    if !duplicates(command) {
        return real::fcntl64(fd, command, argument);
    }
    duplicating(fd);
    duplicated(real::fcntl64(fd, command, argument), fd, pc)
}

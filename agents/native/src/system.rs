//! Raw system calls by name: no interceptor, no errno, no malloc.

use core::ptr;

use libc::c_int;

use crate::machine::syscall;
use crate::path::Path;

const READ_WRITE: usize = (libc::PROT_READ | libc::PROT_WRITE) as usize;
const ERRORS: isize = -4095;

/// Opens a path that ends in a zero byte.
pub fn open(path: &[u8], flags: c_int) -> Option<c_int> {
    debug_assert_eq!(path.last(), Some(&0));
    let flags = flags | libc::O_CLOEXEC;
    // SAFETY: the path ends in a zero byte.
    let fd = unsafe {
        syscall(libc::SYS_openat, [libc::AT_FDCWD as usize, path.as_ptr() as usize, flags as usize, 0o600, 0, 0])
    };
    (fd >= 0).then_some(fd as c_int)
}

/// Closes it.
pub fn close(fd: c_int) {
    // SAFETY: only descriptors of our own come here.
    unsafe { syscall(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]) };
}

/// Removes a file whose path ends in a zero byte.
pub fn remove(path: &[u8]) {
    debug_assert_eq!(path.last(), Some(&0));
    // SAFETY: the path ends in a zero byte.
    unsafe { syscall(libc::SYS_unlink, [path.as_ptr() as usize, 0, 0, 0, 0, 0]) };
}

/// Reads some bytes; 0 at the end, or if it fails.
pub fn read(fd: c_int, into: &mut [u8]) -> usize {
    loop {
        // SAFETY: the buffer is ours.
        let n = unsafe { syscall(libc::SYS_read, [fd as usize, into.as_mut_ptr() as usize, into.len(), 0, 0, 0]) };
        if n != -(libc::EINTR as isize) {
            return n.max(0) as usize;
        }
    }
}

/// Writes all of it.
pub fn write(fd: c_int, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: the buffer is ours.
        let n = unsafe { syscall(libc::SYS_write, [fd as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]) };
        if n == -(libc::EINTR as isize) {
            continue;
        }
        match bytes.get(n.max(0) as usize..) {
            Some(rest) if n > 0 => bytes = rest,
            _ => return false,
        }
    }
    true
}

/// The list of the robust mutexes that this thread holds.
pub fn robust_list() -> Option<usize> {
    let (mut head, mut size) = (0usize, 0usize);
    let arguments = [0, &raw mut head as usize, &raw mut size as usize, 0, 0, 0];
    // SAFETY: writes both.
    let result = unsafe { syscall(libc::SYS_get_robust_list, arguments) };
    (result == 0 && head != 0).then_some(head)
}

/// Copies bytes of this process; false if they are not all there.
pub unsafe fn peek(from: usize, to: *mut u8, bytes: usize) -> bool {
    let local = libc::iovec { iov_base: to.cast(), iov_len: bytes };
    let remote = libc::iovec { iov_base: from as *mut libc::c_void, iov_len: bytes };
    let arguments = [&raw const local as usize, 1, &raw const remote as usize, 1, 0];
    // SAFETY: the caller's memory is written; what is read need not be there.
    unsafe {
        let pid = syscall(libc::SYS_getpid, [0; 6]) as usize;
        let [a, b, c, d, e] = arguments;
        syscall(libc::SYS_process_vm_readv, [pid, a, b, c, d, e]) == bytes as isize
    }
}

/// Zeroed memory of our own that costs nothing until it is touched.
pub fn map(bytes: usize) -> Option<*mut u8> {
    map_near(0, bytes)
}

/// Zeroed memory of our own, at this address if nothing is there.
pub fn map_near(address: usize, bytes: usize) -> Option<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping.
    let at = unsafe { syscall(libc::SYS_mmap, [address, bytes, READ_WRITE, flags as usize, usize::MAX, 0]) };
    (!(ERRORS..0).contains(&at)).then_some(at as *mut u8)
}

/// Zeroed memory of our own from which 32-bit distances reach an address.
pub fn map_within_reach(address: usize, bytes: usize) -> Option<*mut u8> {
    const STEP: usize = 1 << 20;
    const REACH: usize = 0x7000_0000;
    let near = address & !(STEP - 1);
    for distance in (STEP..REACH).step_by(STEP) {
        for wanted in [near.wrapping_sub(distance), near.wrapping_add(distance)] {
            // Where something is already, the kernel takes the wish for a hint at most.
            let Some(at) = map_near(wanted, bytes) else { continue };
            if (at as usize).abs_diff(address) < REACH {
                return Some(at);
            }
            // SAFETY: a new mapping, which nothing refers to.
            unsafe { unmap(at, bytes) };
        }
    }
    None
}

/// What the pages of a range may be used for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// To be run.
    Fixed,
    /// To be run and written.
    Changing,
}

/// Says what pages with code may be used for. False if the kernel refuses.
pub unsafe fn protect(at: usize, bytes: usize, code: Code) -> bool {
    let write = if code == Code::Changing { libc::PROT_WRITE } else { 0 };
    let rights = (libc::PROT_READ | libc::PROT_EXEC | write) as usize;
    let (from, to) = (at & !4095, at.wrapping_add(bytes).wrapping_add(4095) & !4095);
    // SAFETY: the caller's pages.
    unsafe { syscall(libc::SYS_mprotect, [from, to.wrapping_sub(from), rights, 0, 0, 0]) == 0 }
}

/// Maps a file, shared.
pub fn map_file(fd: c_int, bytes: usize, writable: bool) -> Option<*mut u8> {
    let protection = if writable { READ_WRITE } else { libc::PROT_READ as usize };
    // SAFETY: a new mapping.
    let at = unsafe { syscall(libc::SYS_mmap, [0, bytes, protection, libc::MAP_SHARED as usize, fd as usize, 0]) };
    (!(ERRORS..0).contains(&at)).then_some(at as *mut u8)
}

/// Unmaps memory.
pub unsafe fn unmap(at: *mut u8, bytes: usize) {
    // SAFETY: the caller's mapping, of no further use to it.
    unsafe { syscall(libc::SYS_munmap, [at as usize, bytes, 0, 0, 0, 0]) };
}

/// Makes whole pages zero again and gives their memory back.
pub unsafe fn discard(at: *mut u8, bytes: usize) {
    // SAFETY: the caller's own private mapping.
    unsafe { syscall(libc::SYS_madvise, [at as usize, bytes, libc::MADV_DONTNEED as usize, 0, 0, 0]) };
}

/// Gets memory for whole pages that are about to be used. Older kernels do not know this call, and get it on the first
/// access.
pub unsafe fn populate(at: *mut u8, bytes: usize) {
    // SAFETY: the caller's own private mapping.
    unsafe { syscall(libc::SYS_madvise, [at as usize, bytes, libc::MADV_POPULATE_WRITE as usize, 0, 0, 0]) };
}

/// Leaves memory out of core dumps: the kernel would look for its pages one by one.
pub unsafe fn leave_out_of_dumps(at: *mut u8, bytes: usize) {
    // SAFETY: the caller's own private mapping.
    unsafe { syscall(libc::SYS_madvise, [at as usize, bytes, libc::MADV_DONTDUMP as usize, 0, 0, 0]) };
}

/// The pages are zero in forked children, and forking need not copy their tables. Older kernels refuse, and return
/// false; the child discards anyway.
pub unsafe fn wipe_on_fork(at: *mut u8, bytes: usize) -> bool {
    // SAFETY: the caller's own private memory.
    unsafe { syscall(libc::SYS_madvise, [at as usize, bytes, libc::MADV_WIPEONFORK as usize, 0, 0, 0]) == 0 }
}

/// Asks which pages of a mapping have memory: the lowest bit of a byte each. Returns false if the kernel does not say.
pub fn resident(at: usize, bytes: usize, pages: &mut [u8]) -> bool {
    debug_assert!(bytes.div_ceil(4096) <= pages.len());
    // SAFETY: the answer has room for all pages.
    unsafe { syscall(libc::SYS_mincore, [at, bytes, pages.as_mut_ptr() as usize, 0, 0, 0]) == 0 }
}

/// How large the first thread's stack may become.
pub fn stack_limit() -> usize {
    limit(libc::RLIMIT_STACK) as usize
}

/// How long a file may become that this process writes.
pub fn file_limit() -> u64 {
    limit(libc::RLIMIT_FSIZE)
}

/// How much address space this process may have.
pub fn address_limit() -> u64 {
    limit(libc::RLIMIT_AS)
}

fn limit(of: libc::__rlimit_resource_t) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the answer lives on this stack.
    unsafe {
        let into = &raw mut limit as usize;
        syscall(libc::SYS_prlimit64, [0, of as usize, 0, into, 0, 0]);
    }
    limit.rlim_cur
}

/// A file's length, 0 if there is none.
pub fn length(fd: c_int) -> usize {
    // SAFETY: asks only.
    unsafe { syscall(libc::SYS_lseek, [fd as usize, 0, libc::SEEK_END as usize, 0, 0, 0]).max(0) as usize }
}

/// Sets a file's length.
pub fn truncate(fd: c_int, bytes: usize) -> bool {
    // SAFETY: a file of ours.
    unsafe { syscall(libc::SYS_ftruncate, [fd as usize, bytes, 0, 0, 0, 0]) == 0 }
}

/// Makes sure that a part of a file can be written.
pub fn allocate(fd: c_int, at: usize, bytes: usize) -> bool {
    // SAFETY: a file of ours.
    unsafe { syscall(libc::SYS_fallocate, [fd as usize, 0, at, bytes, 0, 0]) == 0 }
}

/// This process.
pub fn process_id() -> u32 {
    // SAFETY: asks only.
    unsafe { syscall(libc::SYS_getpid, [0; 6]) as u32 }
}

/// Its parent.
pub fn parent_id() -> u32 {
    // SAFETY: asks only.
    unsafe { syscall(libc::SYS_getppid, [0; 6]) as u32 }
}

/// This thread.
pub fn thread_id() -> u32 {
    // SAFETY: asks only.
    unsafe { syscall(libc::SYS_gettid, [0; 6]) as u32 }
}

/// Whether there is a process with this number.
pub fn is_alive(process: u32) -> bool {
    // SAFETY: signal 0 is only a question.
    let is_there = unsafe { syscall(libc::SYS_kill, [process as usize, 0, 0, 0, 0, 0]) != -(libc::ESRCH as isize) };
    is_there && !is_over(process)
}

/// Whether a process has ended, and its parent has not asked for its status yet. False for a process that is not
/// visible.
fn is_over(process: u32) -> bool {
    let mut path = Path::new();
    path.push(b"/proc/").number(process).push(b"/stat");
    let Some(fd) = open(path.bytes(), libc::O_RDONLY) else { return false };
    let mut stat = [0; 128];
    let length = read(fd, &mut stat);
    close(fd);
    // `number (name) state`: names may have brackets.
    let stat = &stat[..length];
    let state = stat.iter().rposition(|&byte| byte == b')').and_then(|end| stat.get(end + 2));
    matches!(state, Some(b'Z' | b'X'))
}

/// Whether reading the processor's time stamp is allowed: a process can have it forbidden.
pub fn may_read_time() -> bool {
    let mut how: c_int = 0;
    let arguments = [libc::PR_GET_TSC as usize, &raw mut how as usize, 0, 0, 0, 0];
    // SAFETY: writes the answer.
    let result = unsafe { syscall(libc::SYS_prctl, arguments) };
    result == 0 && how == libc::PR_TSC_ENABLE
}

/// Sleeps while the word has this value, for the given milliseconds at most.
pub fn futex_wait(word: &core::sync::atomic::AtomicU32, value: u32, milliseconds: u32) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: i64::from(milliseconds) * 1_000_000 };
    // SAFETY: the word and the time live through the call.
    unsafe {
        let word = ptr::from_ref(word) as usize;
        syscall(libc::SYS_futex, [word, libc::FUTEX_WAIT as usize, value as usize, &raw const time as usize, 0, 0]);
    }
}

/// Lets other threads run.
pub fn give_way() {
    // SAFETY: touches nothing.
    unsafe { syscall(libc::SYS_sched_yield, [0; 6]) };
}

/// Wakes all threads that sleep on the word.
pub fn futex_wake(word: &core::sync::atomic::AtomicU32) {
    // SAFETY: the kernel does not look into the word.
    unsafe {
        let word = ptr::from_ref(word) as usize;
        syscall(libc::SYS_futex, [word, libc::FUTEX_WAKE as usize, i32::MAX as usize, 0, 0, 0]);
    }
}

/// Commands of `membarrier`.
mod membarrier {
    pub const PRIVATE_EXPEDITED: usize = 1 << 3;
    pub const REGISTER_PRIVATE_EXPEDITED: usize = 1 << 4;
}

/// Asks to be allowed to use [`barrier`]. False if the kernel does not have it.
pub fn register_barrier() -> bool {
    // SAFETY: only says something about this process.
    unsafe { syscall(libc::SYS_membarrier, [membarrier::REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0]) == 0 }
}

/// Makes every other thread of this process pass a full barrier; returns whether that was done.
pub fn barrier() -> bool {
    // SAFETY: changes nothing.
    unsafe { syscall(libc::SYS_membarrier, [membarrier::PRIVATE_EXPEDITED, 0, 0, 0, 0, 0]) == 0 }
}

/// Milliseconds on a clock that nothing sets.
pub fn milliseconds() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes the time.
    unsafe {
        let into = &raw mut now as usize;
        syscall(libc::SYS_clock_gettime, [libc::CLOCK_MONOTONIC as usize, into, 0, 0, 0, 0]);
    }
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

/// Sleeps for this many milliseconds.
pub fn sleep(milliseconds: u32) {
    futex_wait(&core::sync::atomic::AtomicU32::new(0), 0, milliseconds);
}

//! The C library's own functions, behind the interceptors of the same names.

use core::arch::global_asm;
use core::ffi::{CStr, c_char, c_int, c_uint};
use core::mem;
use core::ptr;
use core::slice;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::Relaxed;

use libc::{RTLD_NEXT, c_void, off_t, sigset_t, timespec};

use super::Pointer;
use crate::{machine, thread};

/// A real function, looked up when it is first called.
pub(super) struct Real {
    address: AtomicPtr<c_void>,
    name: &'static str,
    version: Option<&'static CStr>,
}

impl Real {
    pub(super) const fn new(name: &'static str, version: Option<&'static CStr>) -> Real {
        Real { address: AtomicPtr::new(ptr::null_mut()), name, version }
    }

    #[inline]
    pub(super) unsafe fn get(&self) -> Pointer {
        let known = self.address.load(Relaxed);
        if known.is_null() { self.look_up() } else { known }
    }

    /// The address, if it was looked up before.
    #[inline]
    pub(super) fn known(&self) -> Pointer {
        self.address.load(Relaxed)
    }

    #[cold]
    #[inline(never)]
    unsafe fn look_up(&self) -> Pointer {
        let found = self.find();
        // The program cannot call what the C library did not have when it was linked.
        if found.is_null() {
            machine::trap();
        }
        found
    }

    /// The address, null if there is none.
    pub(super) unsafe fn find(&self) -> Pointer {
        let error = *super::error();
        let found = next(self.name.as_ptr().cast(), self.version());
        *super::error() = error;
        self.address.store(found, Relaxed);
        found
    }

    fn version(&self) -> *const c_char {
        self.version.map_or(ptr::null(), CStr::as_ptr)
    }
}

type Behind = unsafe extern "C" fn(name: *const c_char, version: *const c_char) -> Pointer;

/// What a name means behind the module that this is in; null if there is nothing.
#[inline(always)]
unsafe fn next(name: *const c_char, version: *const c_char) -> Pointer {
    // Of several versions, RTLD_NEXT finds the oldest.
    let found = if version.is_null() { ptr::null_mut() } else { libc::dlvsym(RTLD_NEXT, name, version) };
    if found.is_null() { libc::dlsym(RTLD_NEXT, name) } else { found }
}

/// [`behind`], for an agent that comes before this one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foretrace_behind(name: *const c_char, version: *const c_char) -> Pointer {
    let found = next(name, version);
    // Something is left to do, so that this does not become a jump: the loader looks at its caller.
    *super::error() = 0;
    found
}

unsafe extern "C" {
    // The linker names both ends of a section whose name is an identifier.
    static __start_foretrace_real: u8;
    static __stop_foretrace_real: u8;
}
// Another module may have such a section, too.
global_asm!(".hidden __start_foretrace_real", ".hidden __stop_foretrace_real");

/// Every function.
fn all() -> &'static [Real] {
    // SAFETY: the section holds nothing else.
    unsafe {
        let (start, end) = (&raw const __start_foretrace_real, &raw const __stop_foretrace_real);
        slice::from_raw_parts(start.cast(), end.offset_from_unsigned(start) / size_of::<Real>())
    }
}

/// Looks up every function at the start: later, another thread may be inside the loader and wait for this one.
unsafe extern "C" fn look_up_all() {
    thread::quietly(|| {
        use_memory();
        for real in all() {
            if real.known().is_null() {
                real.find();
            }
        }
        if machine::is_in_program() {
            go_past_preloaded();
        }
        // The program did not ask for what was not found, and a successful lookup makes the loader forget it. (To ask
        // for the error would make a text of it, with the program's malloc and maybe another's realloc.)
        libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr());
    });
}

/// A failed lookup makes the loader allocate memory, and it cannot be called again meanwhile. So every function that it
/// may call for that looks up its real function now: those of the program, which may be another agent's. (Each may be
/// of another module, which knows nothing of the others' blocks: a small one is not given back.)
unsafe fn use_memory() {
    type Malloc = unsafe extern "C" fn(usize) -> Pointer;
    type Calloc = unsafe extern "C" fn(usize, usize) -> Pointer;
    type Free = unsafe extern "C" fn(Pointer);
    let find = |name: &CStr| libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
    if let Some(malloc) = mem::transmute::<Pointer, Option<Malloc>>(find(c"malloc")) {
        let block = malloc(1);
        if let Some(free) = mem::transmute::<Pointer, Option<Free>>(find(c"free")) {
            free(block);
        }
    }
    if let Some(calloc) = mem::transmute::<Pointer, Option<Calloc>>(find(c"calloc")) {
        calloc(1, 1);
    }
}

/// Skips an agent that was preloaded, too: it would only pass every call on.
unsafe fn go_past_preloaded() {
    let behind = libc::dlsym(RTLD_NEXT, c"foretrace_behind".as_ptr());
    let Some(behind) = mem::transmute::<Pointer, Option<Behind>>(behind) else { return };
    for real in all() {
        let found = behind(real.name.as_ptr().cast(), real.version());
        if !found.is_null() {
            real.address.store(found, Relaxed);
        }
    }
}

#[used]
#[unsafe(link_section = ".init_array.00098")]
static LOOK_UP: unsafe extern "C" fn() = look_up_all;

macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $(, $version:literal)?;)*) => { $(
        #[inline(always)]
        pub(in crate::intercept) unsafe fn $name($($argument: $type),*) $(-> $result)? {
            #[used]
            #[unsafe(link_section = "foretrace_real")]
            static REAL: Real = Real::new(concat!(stringify!($name), "\0"), functions!(@version $($version)?));
            let real: unsafe extern "C" fn($($type),*) $(-> $result)? = mem::transmute(REAL.get());
            real($($argument),*)
        }
    )* };
    (@version $version:literal) => { Some($version) };
    (@version) => { None };
}
pub(super) use functions;

// `_Fork` has a capital.
#[allow(non_snake_case)]
mod capital {
    use super::*;
    functions! { _Fork() -> libc::pid_t; }
}
pub(super) use capital::_Fork;

type Routine = unsafe extern "C" fn(Pointer) -> Pointer;

functions! {
    pthread_create(thread: *mut libc::pthread_t, attr: Pointer, start: Routine, argument: Pointer) -> c_int;
    pthread_join(thread: libc::pthread_t, result: Pointer) -> c_int;
    pthread_tryjoin_np(thread: libc::pthread_t, result: Pointer) -> c_int;
    pthread_timedjoin_np(thread: libc::pthread_t, result: Pointer, time: *const timespec) -> c_int;
    pthread_clockjoin_np(thread: libc::pthread_t, result: Pointer, clock: c_int, time: *const timespec) -> c_int;
    pthread_detach(thread: libc::pthread_t) -> c_int;
    pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int;
    pthread_setname_np(thread: libc::pthread_t, name: *const u8) -> c_int;

    pthread_mutex_init(mutex: Pointer, attr: Pointer) -> c_int;
    pthread_mutex_destroy(mutex: Pointer) -> c_int;
    pthread_mutex_lock(mutex: Pointer) -> c_int;
    pthread_mutex_trylock(mutex: Pointer) -> c_int;
    pthread_mutex_timedlock(mutex: Pointer, time: *const timespec) -> c_int;
    pthread_mutex_clocklock(mutex: Pointer, clock: c_int, time: *const timespec) -> c_int;
    pthread_mutex_unlock(mutex: Pointer) -> c_int;

    pthread_rwlock_init(lock: Pointer, attr: Pointer) -> c_int;
    pthread_rwlock_destroy(lock: Pointer) -> c_int;
    pthread_rwlock_rdlock(lock: Pointer) -> c_int;
    pthread_rwlock_tryrdlock(lock: Pointer) -> c_int;
    pthread_rwlock_timedrdlock(lock: Pointer, time: *const timespec) -> c_int;
    pthread_rwlock_clockrdlock(lock: Pointer, clock: c_int, time: *const timespec) -> c_int;
    pthread_rwlock_wrlock(lock: Pointer) -> c_int;
    pthread_rwlock_trywrlock(lock: Pointer) -> c_int;
    pthread_rwlock_timedwrlock(lock: Pointer, time: *const timespec) -> c_int;
    pthread_rwlock_clockwrlock(lock: Pointer, clock: c_int, time: *const timespec) -> c_int;
    pthread_rwlock_unlock(lock: Pointer) -> c_int;

    pthread_spin_init(lock: Pointer, shared: c_int) -> c_int;
    pthread_spin_destroy(lock: Pointer) -> c_int;
    pthread_spin_lock(lock: Pointer) -> c_int;
    pthread_spin_trylock(lock: Pointer) -> c_int;
    pthread_spin_unlock(lock: Pointer) -> c_int;

    pthread_cond_init(condition: Pointer, attr: Pointer) -> c_int, c"GLIBC_2.3.2";
    pthread_cond_destroy(condition: Pointer) -> c_int, c"GLIBC_2.3.2";
    pthread_cond_wait(condition: Pointer, mutex: Pointer) -> c_int, c"GLIBC_2.3.2";
    pthread_cond_timedwait(condition: Pointer, mutex: Pointer, time: *const timespec) -> c_int, c"GLIBC_2.3.2";
    pthread_cond_clockwait(condition: Pointer, mutex: Pointer, clock: c_int, time: *const timespec) -> c_int;
    pthread_cond_signal(condition: Pointer) -> c_int, c"GLIBC_2.3.2";
    pthread_cond_broadcast(condition: Pointer) -> c_int, c"GLIBC_2.3.2";
    _pthread_cleanup_push(buffer: Pointer, routine: unsafe extern "C" fn(Pointer), argument: Pointer);
    _pthread_cleanup_pop(buffer: Pointer, execute: c_int);

    sem_init(semaphore: Pointer, shared: c_int, value: c_uint) -> c_int;
    sem_destroy(semaphore: Pointer) -> c_int;
    sem_close(semaphore: Pointer) -> c_int;
    sem_wait(semaphore: Pointer) -> c_int;
    sem_trywait(semaphore: Pointer) -> c_int;
    sem_timedwait(semaphore: Pointer, time: *const timespec) -> c_int;
    sem_clockwait(semaphore: Pointer, clock: c_int, time: *const timespec) -> c_int;
    sem_post(semaphore: Pointer) -> c_int;
    sem_open(name: *const u8, flags: c_int, mode: c_uint, value: c_uint) -> Pointer;

    pthread_barrier_init(barrier: Pointer, attr: Pointer, count: c_uint) -> c_int;
    pthread_barrier_destroy(barrier: Pointer) -> c_int;
    pthread_barrier_wait(barrier: Pointer) -> c_int;
    pthread_once(control: Pointer, routine: unsafe extern "C" fn()) -> c_int;

    thrd_create(
        thread: *mut libc::pthread_t,
        start: unsafe extern "C" fn(Pointer) -> c_int,
        argument: Pointer
    ) -> c_int;
    thrd_join(thread: libc::pthread_t, result: Pointer) -> c_int;
    thrd_detach(thread: libc::pthread_t) -> c_int;
    mtx_init(mutex: Pointer, kind: c_int) -> c_int;
    cnd_init(condition: Pointer) -> c_int;

    mmap(address: Pointer, bytes: usize, protection: c_int, flags: c_int, fd: c_int, offset: off_t) -> Pointer;
    munmap(address: Pointer, bytes: usize) -> c_int;
    mlockall(flags: c_int) -> c_int;
    prlimit(process: libc::pid_t, resource: c_int, new: *const libc::rlimit, old: *mut libc::rlimit) -> c_int;
    mremap(old: Pointer, bytes: usize, size: usize, flags: c_int, address: Pointer) -> Pointer;

    fork() -> libc::pid_t;
    daemon(stay: c_int, keep: c_int) -> c_int;
    clone(
        routine: usize,
        stack: usize,
        flags: c_int,
        argument: usize,
        parent: usize,
        storage: usize,
        child: usize
    ) -> c_int;

    execve(path: Pointer, arguments: Pointer, environment: Pointer) -> c_int;
    execv(path: Pointer, arguments: Pointer) -> c_int;
    execvp(file: Pointer, arguments: Pointer) -> c_int;
    execvpe(file: Pointer, arguments: Pointer, environment: Pointer) -> c_int;
    execveat(at: c_int, path: Pointer, arguments: Pointer, environment: Pointer, flags: c_int) -> c_int;
    fexecve(fd: c_int, arguments: Pointer, environment: Pointer) -> c_int;
    _exit(status: c_int) -> !;
    exit(status: c_int) -> !;
    quick_exit(status: c_int) -> !, c"GLIBC_2.24";
    abort() -> !;
    __cxa_atexit(function: unsafe extern "C" fn(Pointer), argument: Pointer, module: Pointer) -> c_int;
    dlclose(handle: Pointer) -> c_int;
    dl_iterate_phdr(callback: unsafe extern "C" fn(Pointer, usize, Pointer) -> c_int, argument: Pointer) -> c_int;

    sigaction(signal: c_int, act: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
    signal(signal: c_int, handler: usize) -> usize;
    __sysv_signal(signal: c_int, handler: usize) -> usize;
    raise(signal: c_int) -> c_int;
    kill(process: c_int, signal: c_int) -> c_int;
    killpg(group: c_int, signal: c_int) -> c_int;
    tgkill(process: c_int, thread: c_int, signal: c_int) -> c_int;
    pthread_kill(thread: libc::pthread_t, signal: c_int) -> c_int, c"GLIBC_2.34";
    sigqueue(process: c_int, signal: c_int, value: Pointer) -> c_int;
    pthread_sigqueue(thread: libc::pthread_t, signal: c_int, value: Pointer) -> c_int;
    sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int;
    sigwaitinfo(set: *const sigset_t, info: Pointer) -> c_int;
    sigtimedwait(set: *const sigset_t, info: Pointer, time: *const timespec) -> c_int;

    longjmp(buffer: Pointer, value: c_int) -> !;
    __longjmp_chk(buffer: Pointer, value: c_int) -> !;
}

//! Libraries that are loaded and unloaded while the program runs: the memory map is copied again.
//!
//! The loader does all that under a lock that is not seen, and so are constructors and destructors of libraries, whose
//! memory may be where another library's was. So each call of the loader releases a latch-like object before, and
//! acquires it after; and so do, inside of it, what it calls, when that begins (the first thing a library does, or a
//! callback) and when it returns. That is more order than the program can rely on, and no false alarm.

use core::ffi::{c_char, c_int};
use core::mem::{self, MaybeUninit};
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU32};

use super::entry::{forwarded, scratch};
use super::real::Real;
use runtime::record::{Class, Kind};

use super::{Pointer, real, record};
use crate::machine::{shim1, shim2, tls};
use crate::session;

forwarded! {
    dlopen => open;
    dlmopen => open_in;
}
shim1! {
    dlclose => close;
}
shim2! {
    dl_iterate_phdr => iterate;
}

#[used]
#[unsafe(link_section = "foretrace_real")]
static DLOPEN: Real = Real::new("dlopen\0", None);
#[used]
#[unsafe(link_section = "foretrace_real")]
static DLMOPEN: Real = Real::new("dlmopen\0", None);

/// Whether the memory map must be copied: no (0), now (1), or a few times while something is recorded (from 2 on),
/// because it is not known when the library is there.
static STALE: AtomicU32 = AtomicU32::new(0);
const NOW: u32 = 1;
const SOON: u32 = 2;

/// Whether the program has loaded a library, or may have: before that, all is as the loader made it at the start.
static HAS_LOADED: AtomicBool = AtomicBool::new(false);

/// What a call of the loader does is ordered after what other calls did, and before what they will do.
fn ordered(pc: usize, kind: Kind) {
    if HAS_LOADED.load(Relaxed) {
        record(pc, |thread| thread.sync(kind, Class::Loader, 0));
    }
}

/// A library begins: the loader is about to call its constructors.
pub(crate) fn module_begins() {
    ordered(0, Kind::Await);
}

/// Calls the loader, which may call functions of libraries.
unsafe fn with_loader<R>(pc: usize, call: impl FnOnce() -> R) -> R {
    HAS_LOADED.store(true, Relaxed);
    let before = record(pc, |thread| {
        thread.sync(Kind::Post, Class::Loader, 0);
        thread.frames.load_by(tls(), None)
    });
    let result = call();
    if let Some(before) = before {
        record(pc, |thread| {
            thread.frames.load_by(tls(), Some(before));
            thread.sync(Kind::Await, Class::Loader, 0);
        });
    }
    result
}

type Callback = unsafe extern "C" fn(Pointer, usize, Pointer) -> c_int;

/// What the program wants to have called for each library.
struct Iteration {
    callback: Callback,
    argument: Pointer,
    pc: usize,
}

unsafe extern "C" fn iterate(callback: Callback, argument: Pointer, pc: usize) -> c_int {
    if !HAS_LOADED.load(Relaxed) {
        return real::dl_iterate_phdr(callback, argument);
    }
    let mut iteration = Iteration { callback, argument, pc };
    real::dl_iterate_phdr(next_library, (&raw mut iteration).cast())
}

unsafe extern "C" fn next_library(library: Pointer, size: usize, iteration: Pointer) -> c_int {
    let &Iteration { callback, argument, pc } = &*iteration.cast::<Iteration>();
    ordered(pc, Kind::Await);
    let result = callback(library, size, argument);
    ordered(pc, Kind::Post);
    result
}

/// Whether the memory map may have changed.
#[inline]
pub(super) fn is_stale() -> bool {
    STALE.load(Relaxed) != 0
}

/// Copies the memory map if it has changed. Only inside of a hook.
#[inline]
pub(super) fn renew() {
    if is_stale() {
        renew_now();
    }
}

#[cold]
fn renew_now() {
    const LAST: u32 = 1 << 12;
    if STALE.compare_exchange(NOW, 0, Relaxed, Relaxed).is_ok() {
        return session::modules_changed();
    }
    let count = STALE.fetch_add(1, Relaxed);
    if count < SOON || count - SOON > LAST {
        STALE.store(0, Relaxed);
    } else if matches!(count - SOON, 1 | 16 | 256 | LAST) {
        session::modules_changed();
    }
}

/// The address to go to: the real function, which then sees the program as its caller, if that matters; else [`load`].
unsafe extern "C" fn open(name: *const u8, _mode: usize, pc: usize) -> Pointer {
    if !session::is_running() {
        return DLOPEN.get();
    }
    if depends_on_caller(name, pc) {
        STALE.store(SOON, Relaxed);
        HAS_LOADED.store(true, Relaxed);
        ordered(pc, Kind::Post);
        return DLOPEN.get();
    }
    load as *const () as Pointer
}

unsafe extern "C" fn load(name: *const u8, mode: c_int) -> Pointer {
    let real: unsafe extern "C" fn(*const u8, c_int) -> Pointer = mem::transmute(DLOPEN.get());
    let handle = with_loader(0, || real(name, mode));
    changed();
    handle
}

unsafe extern "C" fn open_in(_namespace: usize, _name: Pointer, pc: usize) -> Pointer {
    STALE.store(SOON, Relaxed);
    HAS_LOADED.store(true, Relaxed);
    ordered(pc, Kind::Post);
    DLMOPEN.get()
}

unsafe extern "C" fn close(handle: Pointer, pc: usize) -> c_int {
    // Call contexts in a library that is about to go must still be resolved.
    if STALE.load(Relaxed) != 0 {
        changed();
    }
    (*scratch()).closing += 1;
    let result = with_loader(pc, || real::dlclose(handle));
    (*scratch()).closing -= 1;
    STALE.store(NOW, Relaxed);
    result
}

/// Whether this thread is unloading a library: what is called at the end may belong to that alone.
pub(super) fn is_closing() -> bool {
    // SAFETY: the thread's own storage.
    unsafe { (*scratch()).closing > 0 }
}

fn changed() {
    STALE.store(NOW, Relaxed);
    record(0, |_| ());
}

/// The result of `dladdr1` for the module at an address, up to where it is described.
#[repr(C)]
struct Module {
    base: usize,
    name: *const c_char,
    dynamic: *const [usize; 2],
}

unsafe extern "C" {
    fn dladdr1(address: Pointer, info: *mut libc::Dl_info, module: *mut *const Module, what: c_int) -> c_int;
}

/// Whether the library is searched in directories that the calling module names.
unsafe fn depends_on_caller(name: *const u8, pc: usize) -> bool {
    const END: usize = 0;
    const RPATH: usize = 15;
    const RUNPATH: usize = 29;
    const LINK_MAP: c_int = 2;
    if name.is_null() {
        return false;
    }
    let (mut slash, mut variable) = (false, false);
    for i in 0.. {
        match name.add(i).read_volatile() {
            0 => break,
            b'/' => slash = true,
            b'$' => variable = true,
            _ => {}
        }
    }
    if slash || variable {
        return variable;
    }
    let mut info = MaybeUninit::uninit();
    let mut module = ptr::null();
    if dladdr1(pc as Pointer, info.as_mut_ptr(), &mut module, LINK_MAP) == 0 || module.is_null() {
        return true;
    }
    let mut entry = (*module).dynamic;
    while !entry.is_null() && (*entry)[0] != END {
        if matches!((*entry)[0], RPATH | RUNPATH) {
            return true;
        }
        entry = entry.add(1);
    }
    false
}

//! Functions of a sanitizer's runtime that programs may call, apart from hooks. Most of them do nothing here, but
//! programs must link and go on.

use libc::{c_char, c_int, c_void};

macro_rules! nothing {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*);)*) => { $(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) {
            $(let _ = $argument;)*
        }
    )* };
}
nothing! {
    /// Reports come at the end, from the observer.
    __sanitizer_print_stack_trace();
    /// The report goes elsewhere.
    __sanitizer_set_report_path(path: *const c_char);
    /// The report goes elsewhere.
    __sanitizer_set_report_fd(fd: *mut c_void);
    /// The report goes elsewhere.
    __sanitizer_report_error_summary(text: *const c_char);
    /// The agent never kills the program.
    __sanitizer_set_death_callback(callback: *mut c_void);
    /// The agent opens its files by itself.
    __sanitizer_sandbox_on_notify(arguments: *mut c_void);
    /// No coverage is recorded.
    __sanitizer_cov_dump();
    /// No coverage is recorded.
    __sanitizer_cov_reset();
    /// No coverage is recorded.
    __sanitizer_dump_coverage(pcs: *const usize, count: usize);
    /// No coverage is recorded.
    __sanitizer_dump_trace_pc_guard_coverage();
    /// The shadow shrinks by itself.
    __tsan_flush_memory();
    /// Tags of foreign memory are not distinguished.
    __tsan_external_assign_tag(at: *mut c_void, tag: *mut c_void);
    /// Tags of foreign memory are not distinguished.
    __tsan_external_register_header(tag: *mut c_void, header: *const c_char);
}

macro_rules! zeros {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => { $(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            $(let _ = $argument;)*
            // SAFETY: integers and pointers may be zero.
            unsafe { core::mem::zeroed() }
        }
    )* };
}
zeros! {
    /// No hooks are called.
    __sanitizer_install_malloc_and_free_hooks(malloc: *mut c_void, free: *mut c_void) -> c_int;
    /// The allocator is the program's own.
    __sanitizer_get_current_allocated_bytes() -> usize;
    /// The allocator is the program's own.
    __sanitizer_get_heap_size() -> usize;
    /// The allocator is the program's own.
    __sanitizer_get_free_bytes() -> usize;
    /// The allocator is the program's own.
    __sanitizer_get_unmapped_bytes() -> usize;
    /// The report goes elsewhere.
    __sanitizer_get_report_path() -> *const c_char;
    /// Nothing is symbolised here.
    __sanitizer_get_module_and_offset_for_pc(pc: *mut c_void, path: *mut c_char, size: usize, offset: *mut *mut c_void)
        -> c_int;
    /// Reports come at the end: there is no current one.
    __tsan_get_current_report() -> *mut c_void;
    /// Reports come at the end: there is no current one.
    __tsan_get_report_data(report: *mut c_void) -> c_int;
    /// Reports come at the end: there is no current one.
    __tsan_get_report_tag(report: *mut c_void) -> c_int;
    /// Reports come at the end: there is no current one.
    __tsan_get_report_stack(report: *mut c_void, index: usize, trace: *mut *mut c_void, size: usize) -> c_int;
    /// Reports come at the end: there is no current one.
    __tsan_get_report_mop(report: *mut c_void) -> c_int;
    /// Reports come at the end: there is no current one.
    __tsan_get_report_loc(report: *mut c_void) -> c_int;
    /// Reports come at the end: there is no current one.
    __tsan_get_report_loc_object_type(report: *mut c_void) -> c_int;
    /// Reports come at the end: there is no current one.
    __tsan_get_report_mutex(report: *mut c_void) -> c_int;
    /// Reports come at the end: there is no current one.
    __tsan_get_report_thread(report: *mut c_void) -> c_int;
    /// Reports come at the end: there is no current one.
    __tsan_get_report_unique_tid(report: *mut c_void) -> c_int;
    /// Where memory came from is the observer's to say.
    __tsan_get_alloc_stack(
        addr: usize,
        trace: *mut *mut c_void,
        size: usize,
        thread: *mut c_int,
        id: *mut u64
    ) -> c_int;
    /// Where memory came from is the observer's to say.
    __tsan_locate_address(addr: usize, name: *mut c_char, size: usize, start: *mut usize, length: *mut usize)
        -> *const c_char;
    /// Tags of foreign memory are not distinguished.
    __tsan_external_register_tag(object: *const c_char) -> *mut c_void;
}

/// Foreign objects are one byte each.
unsafe extern "C" fn external_read(addr: usize, _caller: usize, _tag: usize, pc: usize) {
    crate::access::access_range(addr, 1, true, false, pc);
}

unsafe extern "C" fn external_write(addr: usize, _caller: usize, _tag: usize, pc: usize) {
    crate::access::access_range(addr, 1, false, true, pc);
}

crate::machine::shim3! {
    /// A read through a library's interface.
    __tsan_external_read => external_read;
    /// A write.
    __tsan_external_write => external_write;
}

/// A sanitizer lets only one thread die with a message; there is nothing to do.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sanitizer_acquire_crash_state() -> c_int {
    1
}

/// What malloc would give.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sanitizer_get_estimated_allocated_size(size: usize) -> usize {
    size
}

/// Whether malloc knows it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sanitizer_get_ownership(at: *const c_void) -> c_int {
    c_int::from(!at.is_null())
}

/// Its size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sanitizer_get_allocated_size(at: *const c_void) -> usize {
    // SAFETY: the caller says that it is a block of malloc's.
    unsafe { libc::malloc_usable_size(at.cast_mut()) }
}

/// Describes code by its address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sanitizer_symbolize_pc(
    _pc: *mut c_void,
    _format: *const c_char,
    into: *mut c_char,
    size: usize,
) {
    if size > 0 {
        // SAFETY: room for one byte.
        unsafe { *into = 0 };
    }
}

/// Describes data by its address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sanitizer_symbolize_global(
    _at: *mut c_void,
    _format: *const c_char,
    into: *mut c_char,
    size: usize,
) {
    if size > 0 {
        // SAFETY: room for one byte.
        unsafe { *into = 0 };
    }
}

macro_rules! unaligned {
    ($($load:ident $store:ident $type:ty;)*) => { $(
        unsafe extern "C" fn $load(at: *const $type, pc: usize) -> $type {
            crate::access::access_range(at as usize, size_of::<$type>(), true, false, pc);
            // SAFETY: what the program asked for.
            unsafe { at.read_unaligned() }
        }
        unsafe extern "C" fn $store(at: *mut $type, value: $type, pc: usize) {
            crate::access::access_range(at as usize, size_of::<$type>(), false, true, pc);
            // SAFETY: what the program asked for.
            unsafe { at.write_unaligned(value) };
        }
    )* };
}
unaligned! {
    load16 store16 u16;
    load32 store32 u32;
    load64 store64 u64;
}
crate::machine::shim1! {
    /// A load of any alignment.
    __sanitizer_unaligned_load16 => load16;
    /// A load of any alignment.
    __sanitizer_unaligned_load32 => load32;
    /// A load of any alignment.
    __sanitizer_unaligned_load64 => load64;
}
crate::machine::shim2! {
    /// A store of any alignment.
    __sanitizer_unaligned_store16 => store16;
    /// A store of any alignment.
    __sanitizer_unaligned_store32 => store32;
    /// A store of any alignment.
    __sanitizer_unaligned_store64 => store64;
}

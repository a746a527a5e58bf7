//! Functions that programs built for ThreadSanitizer may call, and that tell us nothing.

use core::ffi::{c_double, c_int};
use core::ptr;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

use runtime::record::{Class, Kind};

use super::entry::scratch;
use super::{Pointer, access, sync};
use crate::machine::{shim1, shim2};

/// All arguments are left alone; the result is 0 or null, if there is one.
macro_rules! nothing {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() -> usize {
            0
        }
    )* };
}

nothing! {
    AnnotateCondVarSignal AnnotateCondVarSignalAll AnnotateCondVarWait AnnotateEnableRaceDetection AnnotateExpectRace
    AnnotateFlushExpectedRaces AnnotateFlushState AnnotateIgnoreSyncBegin AnnotateIgnoreSyncEnd
    AnnotateMemoryIsInitialized AnnotateMemoryIsUninitialized AnnotateMutexIsNotPHB AnnotateMutexIsUsedAsCondVar
    AnnotateNoOp AnnotatePCQCreate AnnotatePCQDestroy AnnotatePCQGet AnnotatePCQPut AnnotatePublishMemoryRange
    AnnotateTraceMemory AnnotateUnpublishMemoryRange RunningOnValgrind
    __tsan_external_register_tag __tsan_external_register_header __tsan_external_assign_tag __tsan_flush_memory
    __tsan_get_alloc_stack __tsan_get_current_report __tsan_get_report_data __tsan_get_report_loc
    __tsan_get_report_loc_object_type __tsan_get_report_mop __tsan_get_report_mutex __tsan_get_report_stack
    __tsan_get_report_tag __tsan_get_report_thread __tsan_get_report_unique_tid __tsan_locate_address
    __tsan_destroy_fiber __tsan_set_fiber_name
    __sanitizer_acquire_crash_state __sanitizer_cov_dump __sanitizer_cov_reset __sanitizer_dump_coverage
    __sanitizer_dump_trace_pc_guard_coverage __sanitizer_get_allocated_size __sanitizer_get_current_allocated_bytes
    __sanitizer_get_estimated_allocated_size __sanitizer_get_free_bytes __sanitizer_get_heap_size
    __sanitizer_get_module_and_offset_for_pc __sanitizer_get_ownership __sanitizer_get_report_path
    __sanitizer_get_total_unique_caller_callee_pairs __sanitizer_get_unmapped_bytes
    __sanitizer_install_malloc_and_free_hooks __sanitizer_on_print __sanitizer_print_memory_profile
    __sanitizer_print_stack_trace __sanitizer_purge_allocator __sanitizer_report_error_summary
    __sanitizer_sandbox_on_notify __sanitizer_set_death_callback __sanitizer_set_report_fd
    __sanitizer_set_report_path __sanitizer_symbolize_global __sanitizer_symbolize_pc
}

#[unsafe(no_mangle)]
pub extern "C" fn ValgrindSlowdown() -> c_double {
    10.0
}

/// No question that it knows is answered with yes.
#[unsafe(no_mangle)]
pub extern "C" fn ThreadSanitizerQuery(_question: Pointer) -> c_int {
    0
}

shim1! {
    __sanitizer_unaligned_load16 => load16;
    __sanitizer_unaligned_load32 => load32;
    __sanitizer_unaligned_load64 => load64;
    __tsan_create_fiber => create_fiber;
}
shim2! {
    __sanitizer_unaligned_store16 => store16;
    __sanitizer_unaligned_store32 => store32;
    __sanitizer_unaligned_store64 => store64;
    __tsan_switch_to_fiber => switch_to_fiber;
}

macro_rules! unaligned {
    ($($load:ident $store:ident $type:ty;)*) => { $(
        unsafe extern "C" fn $load(address: *const $type, pc: usize) -> $type {
            access(pc, address.cast(), size_of::<$type>(), false);
            address.read_unaligned()
        }

        unsafe extern "C" fn $store(address: *mut $type, value: $type, pc: usize) {
            access(pc, address.cast(), size_of::<$type>(), true);
            address.write_unaligned(value);
        }
    )* };
}

unaligned! {
    load16 store16 u16;
    load32 store32 u32;
    load64 store64 u64;
}

/// Fibers have no state of their own: their events are those of the thread that runs them. Only the order in which they are
/// switched is told.
static FIBERS: AtomicUsize = AtomicUsize::new(1);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_get_current_fiber() -> Pointer {
    let current = &mut (*scratch()).fiber;
    if current.is_null() {
        *current = new_fiber();
    }
    *current
}

fn new_fiber() -> Pointer {
    // Addresses that nothing else has.
    ptr::without_provenance_mut(FIBERS.fetch_add(1, Relaxed) * 16)
}

unsafe extern "C" fn create_fiber(_flags: c_int, _pc: usize) -> Pointer {
    new_fiber()
}

unsafe extern "C" fn switch_to_fiber(fiber: Pointer, flags: c_int, pc: usize) {
    /// `__tsan_switch_to_fiber_no_sync`.
    const NO_SYNC: c_int = 1;
    if flags & NO_SYNC == 0 {
        sync(pc, Kind::Post, Class::Annotated, __tsan_get_current_fiber());
        sync(pc, Kind::Await, Class::Annotated, fiber);
    }
    (*scratch()).fiber = fiber;
}

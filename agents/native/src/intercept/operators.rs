//! Interceptors of `operator new` and `operator delete`: they call the C++ library's own, which call malloc and free.
//! Only their caller is remembered, because a report that memory came from `operator new` is no help.

use super::Pointer;
use super::entry::{forwarded, scratch};
use super::memory;
use super::real::Real;

macro_rules! operators {
    ($fallback:path; $($name:ident $body:ident $real:ident;)*) => {
        forwarded! { $($name => $body;)* }
        $(
            #[used]
            #[unsafe(link_section = "foretrace_real")]
            static $real: Real = Real::new(concat!(stringify!($name), "\0"), None);

            unsafe extern "C" fn $body(_a: usize, _b: usize, pc: usize) -> Pointer {
                called(pc);
                let real = $real.known();
                // A C++ library that was loaded privately is not to be found behind us.
                if real.is_null() { $fallback as *const () as Pointer } else { real }
            }
        )*
    };
}

operators! { give;
    _Znwm new NEW;
    _Znam new_array NEW_ARRAY;
    _ZnwmRKSt9nothrow_t new_nothrow NEW_NOTHROW;
    _ZnamRKSt9nothrow_t new_array_nothrow NEW_ARRAY_NOTHROW;
}
operators! { give_aligned;
    _ZnwmSt11align_val_t new_aligned NEW_ALIGNED;
    _ZnamSt11align_val_t new_array_aligned NEW_ARRAY_ALIGNED;
    _ZnwmSt11align_val_tRKSt9nothrow_t new_aligned_nothrow NEW_ALIGNED_NOTHROW;
    _ZnamSt11align_val_tRKSt9nothrow_t new_array_aligned_nothrow NEW_ARRAY_ALIGNED_NOTHROW;
}
operators! { take;
    _ZdlPv delete DELETE;
    _ZdaPv delete_array DELETE_ARRAY;
    _ZdlPvm delete_sized DELETE_SIZED;
    _ZdaPvm delete_array_sized DELETE_ARRAY_SIZED;
    _ZdlPvRKSt9nothrow_t delete_nothrow DELETE_NOTHROW;
    _ZdaPvRKSt9nothrow_t delete_array_nothrow DELETE_ARRAY_NOTHROW;
    _ZdlPvSt11align_val_t delete_aligned DELETE_ALIGNED;
    _ZdaPvSt11align_val_t delete_array_aligned DELETE_ARRAY_ALIGNED;
    _ZdlPvmSt11align_val_t delete_sized_aligned DELETE_SIZED_ALIGNED;
    _ZdaPvmSt11align_val_t delete_array_sized_aligned DELETE_ARRAY_SIZED_ALIGNED;
    _ZdlPvSt11align_val_tRKSt9nothrow_t delete_aligned_nothrow DELETE_ALIGNED_NOTHROW;
    _ZdaPvSt11align_val_tRKSt9nothrow_t delete_array_aligned_nothrow DELETE_ARRAY_ALIGNED_NOTHROW;
}

/// Remembers the outermost operator's caller: arrays come by the operators of single objects.
unsafe fn called(pc: usize) {
    let caller = &mut (*scratch()).caller;
    if *caller == 0 {
        *caller = pc;
    }
}

/// The address to record for a call of malloc or free.
pub(super) unsafe fn caller(pc: usize) -> usize {
    let caller = core::mem::take(&mut (*scratch()).caller);
    if caller == 0 { pc } else { caller }
}

unsafe extern "C" fn give(bytes: usize) -> Pointer {
    memory::allocate(bytes.max(1), 0)
}

unsafe extern "C" fn give_aligned(bytes: usize, alignment: usize) -> Pointer {
    memory::aligned(alignment, bytes.max(1), 0)
}

unsafe extern "C" fn take(block: Pointer) {
    memory::release(block, 0);
}

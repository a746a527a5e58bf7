//! Memory that will be needed soon.
#![allow(unsafe_code)]

/// Asks the processor for the cache line of an address, and does not wait for it. If nothing is there, nothing happens.
#[inline]
pub(crate) fn fetch<T>(value: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint that reads nothing, whatever the address, and is part of every x86-64 processor.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(value.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

//! Exchanges two words as one.
#![allow(unsafe_code)]

use core::sync::atomic::AtomicU64;

/// Replaces both words, if they are the old ones. On machines that cannot do so, returns false and does nothing.
#[inline(always)]
#[allow(unused_variables)]
pub(super) fn exchange(words: &[AtomicU64; 2], old: [u64; 2], new: [u64; 2]) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let is_old: u8;
        // SAFETY: both words may be changed by any thread at any time. They are aligned as one: all callers pass an
        // `AtomicEntry`. All processors that the hooks run on have the instruction. The compiler may have rbx in use,
        // and names no operand so: hence the exchange with a register of ours.
        unsafe {
            core::arch::asm!(
                "xchg rbx, rsi",
                "lock cmpxchg16b xmmword ptr [rdi]",
                "mov rbx, rsi",
                "sete {is_old}",
                in("rdi") words.as_ptr(),
                inout("rsi") new[0] => _,
                is_old = out(reg_byte) is_old,
                inout("rax") old[0] => _,
                inout("rdx") old[1] => _,
                in("rcx") new[1],
                options(nostack)
            );
        }
        is_old != 0
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

//! Robust mutexes that a thread holds when it ends: the kernel releases them, and no call shows it.

use core::mem::MaybeUninit;

use crate::system;

/// The head of the list that the kernel goes through (`struct robust_list_head`).
#[repr(C)]
struct Head {
    next: usize,
    /// From an entry to the word that the kernel changes, the first of the mutex.
    offset: isize,
    pending: usize,
}

/// How many entries the kernel looks at.
const MOST: usize = 2048;

/// The part of a futex that says who holds it.
const OWNER: u32 = 0x3fff_ffff;

/// Calls `held` for each mutex in the list of this thread that it holds, as often as it was acquired.
pub fn each_held(mut held: impl FnMut(usize)) {
    let Some(head) = system::robust_list() else { return };
    let Some(Head { next, offset, .. }) = copy::<Head>(head) else { return };
    let me = system::thread_id();
    let mut entry = next;
    for _ in 0..MOST {
        // The lowest bit marks mutexes that lend their holder's priority.
        let at = entry & !1;
        if at == head || at == 0 {
            return;
        }
        let mutex = at.wrapping_add_signed(offset);
        // Lock and count, as glibc has them. An entry that is not there any more ends the list.
        let (Some([lock, count]), Some(following)) = (copy::<[u32; 2]>(mutex), copy::<usize>(at)) else { return };
        if lock & OWNER == me {
            for _ in 0..count.clamp(1, 1 << 16) {
                held(mutex);
            }
        }
        entry = following;
    }
}

/// Memory of the program, if it is there: a mutex can be gone while its thread holds it.
fn copy<T>(from: usize) -> Option<T> {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: as many bytes as the value has; all types that are asked for may have any.
    unsafe { system::peek(from, value.as_mut_ptr().cast(), size_of::<T>()).then(|| value.assume_init()) }
}

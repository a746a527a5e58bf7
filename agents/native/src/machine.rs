//! Everything that depends on the machine (x86-64, Linux): thread-local storage, system calls, hooks that know their
//! caller's address.

use core::arch::x86_64::__cpuid;
use core::arch::{asm, global_asm, naked_asm};
use core::mem::offset_of;
use core::sync::atomic::AtomicUsize;

use crate::frames::{self, Frame};
use crate::thread::Thread;

mod entry;
mod landing;
mod reads;

pub use entry::foretrace_entry_hook;
pub use landing::{catch, go_back};

// Rust has no stable thread-locals without std. Initial-exec is a third faster than the default of a library, and
// becomes local-exec when the linker sees a program.
global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".p2align 6",
    ".hidden foretrace_tls",
    ".globl foretrace_tls",
    ".type foretrace_tls,@object",
    ".size foretrace_tls,64",
    "foretrace_tls: .zero 64",
    ".popsection"
);

/// The state of a thread that hooks need before anything else. Zero in a new thread.
#[repr(C)]
pub struct Tls {
    /// The thread's state, if its accesses are to be recorded.
    pub accesses: *mut Thread,
    /// Above the newest frame of the call stack.
    pub top: *mut Frame,
    /// Above the last frame for which there is room; 0 if entries must take the slow path.
    pub end: *mut Frame,
    /// The first frame; `usize::MAX` if exits must take the slow path.
    pub base: *mut Frame,
    /// The lowest address of the thread's stack that another thread has touched, `usize::MAX` if there is none.
    pub shared_stack: *const AtomicUsize,
    /// The thread's state, if it has one and is not parked.
    pub thread: *mut Thread,
    /// The thread's state, if it is parked.
    pub parked: *mut Thread,
    /// See `thread::phase`.
    pub phase: u32,
    /// Inside a hook.
    pub busy: bool,
    /// A signal came while inside a hook, and waits for its end.
    pub deferred: bool,
    /// At the end of the hook, the fast paths are to be opened or closed again.
    pub reopen: bool,
    /// It may be cancelled anywhere outside of hooks; then `deferred` is set, too.
    pub asynchronous: bool,
}

const _: () = assert!(size_of::<Tls>() <= 64);

/// This thread's.
#[inline(always)]
pub fn tls() -> *mut Tls {
    let tls: *mut Tls;
    // SAFETY: reads the thread pointer and a constant of the linker.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + foretrace_tls@GOTTPOFF]",
            "add {0}, qword ptr fs:[0]",
            out(reg) tls,
            options(nostack, pure, readonly)
        );
    }
    tls
}

/// Loads a word of [`Tls`] without computing its address.
#[inline(always)]
pub fn accesses() -> *mut Thread {
    let thread: *mut Thread;
    // SAFETY: `accesses` is the first word.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + foretrace_tls@GOTTPOFF]",
            "mov {0}, qword ptr fs:[{0}]",
            out(reg) thread,
            options(nostack, pure, readonly, preserves_flags)
        );
    }
    thread
}

/// Asks for memory that will be written soon.
#[inline(always)]
pub fn want(address: *const u64) {
    // SAFETY: a hint, which never faults.
    unsafe { asm!("prefetchw byte ptr [{0}]", in(reg) address, options(nostack, preserves_flags, readonly)) };
}

/// `__tsan_func_entry(pc)`, where `pc` is what the function returns to: pushes a frame.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_func_entry() {
    naked_asm!(
        "mov rax, qword ptr [rip + foretrace_tls@GOTTPOFF]",
        "mov rcx, qword ptr fs:[rax + {top}]",
        "cmp rcx, qword ptr fs:[rax + {end}]",
        "jae 2f",
        // A frame that is not above this one was left without an exit. The one below the first is above all.
        "cmp qword ptr [rcx - {size} + {sp}], rsp",
        "jbe 2f",
        "mov qword ptr [rcx], rdi",
        "mov qword ptr [rcx + {context}], 0",
        "mov qword ptr [rcx + {sp}], rsp",
        "add rcx, {size}",
        "mov qword ptr fs:[rax + {top}], rcx",
        "ret",
        "2:",
        "mov rsi, rsp",
        "jmp {slow}",
        top = const offset_of!(Tls, top),
        end = const offset_of!(Tls, end),
        sp = const offset_of!(Frame, sp),
        context = const offset_of!(Frame, context),
        size = const size_of::<Frame>(),
        slow = sym frames::enter_slowly,
    )
}

/// `__tsan_func_exit()`: pops it.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_func_exit() {
    naked_asm!(
        "mov rax, qword ptr [rip + foretrace_tls@GOTTPOFF]",
        "mov rcx, qword ptr fs:[rax + {top}]",
        "cmp rcx, qword ptr fs:[rax + {base}]",
        "jbe 2f",
        "mov rdx, qword ptr fs:[rax + {shared}]",
        "mov rsi, qword ptr [rcx - 2 * {size} + {sp}]",
        "sub rcx, {size}",
        "cmp rsi, qword ptr [rdx]",
        "ja 2f",
        "mov qword ptr fs:[rax + {top}], rcx",
        "ret",
        "2:",
        "mov rdi, rsp",
        "jmp {slow}",
        top = const offset_of!(Tls, top),
        base = const offset_of!(Tls, base),
        shared = const offset_of!(Tls, shared_stack),
        sp = const offset_of!(Frame, sp),
        size = const size_of::<Frame>(),
        slow = sym frames::leave_slowly,
    )
}

/// A system call that no interceptor sees. Negative results are error numbers.
#[inline(always)]
pub unsafe fn syscall(number: i64, a: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the caller answers for what the call does; the kernel clobbers rcx and r11.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a[0], in("rsi") a[1], in("rdx") a[2], in("r10") a[3], in("r8") a[4], in("r9") a[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack)
        );
    }
    result
}

/// The processor's time stamp, after all earlier instructions: after a lock was acquired, it is later than what its
/// last holder read before the release.
#[inline(always)]
pub fn time() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads registers. Memory is a clobber: the compiler moves no store across.
    unsafe {
        asm!("rdtscp", out("rax") low, out("rdx") high, out("rcx") _, options(nostack, preserves_flags));
    }
    high << 32 | low
}

/// The processor's time stamp, perhaps before earlier instructions are done. It is still read before any later store is
/// visible to others.
#[inline(always)]
pub fn time_at_once() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: as above.
    unsafe { asm!("rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags)) };
    high << 32 | low
}

/// Whether the time stamp counts at one rate, whatever the processor does, and can be read in order.
pub fn has_steady_time() -> bool {
    const FEATURES: u32 = 0x8000_0001;
    const RDTSCP: u32 = 1 << 27;
    const POWER: u32 = 0x8000_0007;
    const INVARIANT: u32 = 1 << 8;
    __cpuid(0x8000_0000).eax >= POWER && __cpuid(FEATURES).edx & RDTSCP != 0 && __cpuid(POWER).edx & INVARIANT != 0
}

/// Whether the agent is linked into the program itself, not a library.
pub fn is_in_program() -> bool {
    let here: usize;
    // SAFETY: the linker gives every module the address of its own head.
    unsafe {
        asm!(".weak __ehdr_start", ".hidden __ehdr_start", "lea {}, [rip + __ehdr_start]", out(reg) here,
            options(nomem, nostack, preserves_flags));
        let program = libc::getauxval(libc::AT_PHDR) as usize;
        // The program headers stand right behind the head of the program.
        here != 0 && program.wrapping_sub(here) <= 4096
    }
}

/// The version of the session's protocol that this agent speaks. Also how agents know of each other.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foretrace_agent_version() {
    naked_asm!(
        ".hidden foretrace_agent_here",
        ".globl foretrace_agent_here",
        "foretrace_agent_here:",
        "mov eax, {version}",
        "ret",
        version = const runtime::layout::VERSION,
    )
}

/// Whether another agent comes before this one: the program has one linked in, and this library was preloaded, too.
pub fn is_second() -> bool {
    let (first, own): (usize, usize);
    // SAFETY: the loader gives the first definition of the name to all; the second line asks for ours.
    unsafe {
        asm!(
            "mov {}, qword ptr [rip + foretrace_agent_version@GOTPCREL]",
            "lea {}, [rip + foretrace_agent_here]",
            out(reg) first,
            out(reg) own,
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    first != own
}

/// Ends the process where it stands.
pub fn trap() -> ! {
    // SAFETY: does not return.
    unsafe { asm!("ud2", options(noreturn)) }
}

/// `memcpy` would be our own interceptor.
#[inline]
pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's pointers are good for `bytes`.
    unsafe {
        asm!("rep movsb", inout("rcx") bytes => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
}

/// From the end to the front: the target overlaps the source from above.
unsafe fn copy_down(to: *mut u8, from: *const u8, bytes: usize) {
    let mut left = bytes;
    // SAFETY: the caller's pointers are good for `bytes`. Volatile, or fenced: it must not become a call of memmove.
    unsafe {
        while !left.is_multiple_of(8) {
            left -= 1;
            to.add(left).write_volatile(from.add(left).read_volatile());
        }
        while left > 0 {
            left -= 8;
            let word = from.add(left).cast::<u64>().read_unaligned();
            asm!("", options(nostack, preserves_flags));
            to.add(left).cast::<u64>().write_unaligned(word);
        }
    }
}

/// `memset` would be our own interceptor.
#[inline]
pub unsafe fn fill(to: *mut u8, value: u8, bytes: usize) {
    // SAFETY: the caller's pointer is good for `bytes`.
    unsafe {
        asm!("rep stosb", inout("rcx") bytes => _, inout("rdi") to => _, in("al") value,
            options(nostack, preserves_flags));
    }
}

/// `memmove` would be our own interceptor.
pub unsafe fn copy_either_way(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's pointers are good for `bytes`; nothing is overwritten that is still to be read.
    unsafe {
        if (to as usize).wrapping_sub(from as usize) >= bytes {
            copy(to, from, bytes);
        } else {
            copy_down(to, from, bytes);
        }
    }
}

/// Exports functions that hand their caller's address to a body, behind their own arguments. `shim2! { name => body;
/// }`: `name(a, b)` becomes `body(a, b, pc)`.
macro_rules! shims {
    ($($macro:ident $register:literal;)*) => { shims! { @dollar ($) $($macro $register;)* } };
    (@dollar ($d:tt) $($macro:ident $register:literal;)*) => { $(
        #[allow(unused_macros)]
        macro_rules! $macro {
            ($d($d(#[$d meta:meta])* $d name:ident => $d body:path;)*) => { $d(
                $d(#[$d meta])*
                #[unsafe(naked)]
                #[unsafe(no_mangle)]
                pub unsafe extern "C" fn $d name() {
                    ::core::arch::naked_asm!(
                        concat!("mov ", $register, ", qword ptr [rsp]"),
                        "jmp {body}",
                        body = sym $d body
                    )
                }
            )* };
        }
        #[allow(unused_imports)]
        pub(crate) use $macro;
    )* };
}
shims! {
    shim0 "rdi";
    shim1 "rsi";
    shim2 "rdx";
    shim3 "rcx";
    shim4 "r8";
    shim5 "r9";
}

/// `shim6!`, for six arguments: the seventh goes over the stack.
#[allow(unused_macros)]
macro_rules! shim6 {
    ($($(#[$meta:meta])* $name:ident => $body:path;)*) => { $(
        $(#[$meta])*
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            ::core::arch::naked_asm!(
                ".cfi_startproc",
                // The push aligns the stack as well.
                "push qword ptr [rsp]",
                ".cfi_adjust_cfa_offset 8",
                "call {body}",
                "add rsp, 8",
                ".cfi_adjust_cfa_offset -8",
                "ret",
                ".cfi_endproc",
                body = sym $body
            )
        }
    )* };
}
#[allow(unused_imports)]
pub(crate) use shim6;

/// Compares and exchanges 16 bytes; the value that was there.
pub unsafe fn exchange_16(at: *mut u128, old: u128, new: u128) -> u128 {
    let (mut low, mut high) = (old as u64, (old >> 64) as u64);
    // SAFETY: the caller's pointer is good and aligned. rbx belongs to the compiler.
    unsafe {
        asm!(
            "xchg {new}, rbx",
            "lock cmpxchg16b xmmword ptr [{at}]",
            "mov rbx, {new}",
            at = in(reg) at,
            new = inout(reg) new as u64 => _,
            in("rcx") (new >> 64) as u64,
            inout("rax") low,
            inout("rdx") high,
            options(nostack)
        );
    }
    u128::from(low) | u128::from(high) << 64
}

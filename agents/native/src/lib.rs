//! The agent of Foretrace for C and C++: what `-fsanitize=thread` calls, and what stands before the C library's
//! synchronisation. It runs inside programs it knows nothing of: no standard library, no allocation through the
//! program's malloc, raw system calls, and nothing at all if no observer asked for it.
//!
//! `docs/recording.md` defines what it records.

#![no_std]

mod access;
mod alone;
mod atomics;
mod clock;
mod ending;
mod events;
mod exact;
mod frames;
mod intercept;
mod lines;
mod machine;
mod memory;
mod path;
mod places;
mod ring;
mod robust;
mod sanitizer;
mod session;
mod shadow;
mod slots;
mod stacks;
mod stripes;
mod sweeps;
mod system;
mod thread;
mod watch;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    machine::trap()
}

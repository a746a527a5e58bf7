//! The agent of Foretrace for C and C++: the functions that `-fsanitize=thread` calls, and interceptors of the C
//! library's synchronisation.
//!
//! It runs inside programs it knows nothing of: no standard library, no allocation through the program's malloc, raw
//! system calls, and nothing at all if no observer asked for it. `docs/recording.md` defines what it records; the table
//! in `access.rs` is the map of the access path.

#![no_std]

mod access;
mod atomics;
mod biased;
mod clock;
mod clock_only;
mod contexts;
mod ending;
mod entries;
mod events;
mod failing;
mod frames;
mod gates;
mod intercept;
mod machine;
mod memory;
mod path;
mod read_summaries;
mod ring;
mod robust;
mod sanitizer;
mod scans;
mod session;
mod shadow;
mod slots;
mod stacks;
mod stripes;
mod system;
mod thread;
mod waiting;
mod watch;

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    failing::panicked(info)
}

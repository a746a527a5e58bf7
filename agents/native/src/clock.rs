//! Chooses the clock: the processor's time stamp, if it is the same for all threads; else a counter that all threads
//! share.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

use runtime::layout::clock;

use crate::{machine, system};

/// Names the kernel's own time source. The kernel uses the time stamp only if no processor ever read one from before
/// another's: the property that orders records.
const KERNELS: &[u8] = b"/sys/devices/system/clocksource/clocksource0/current_clocksource\0";

static COUNT: AtomicBool = AtomicBool::new(false);

/// Takes the setting of the environment: `counter`.
pub fn set(value: &[u8]) {
    COUNT.store(value == b"counter", Relaxed);
}

/// One of `layout::clock`.
pub fn choose() -> u32 {
    let processor =
        !COUNT.load(Relaxed) && machine::has_steady_time() && system::may_read_time() && is_trusted().unwrap_or(false);
    if processor { clock::PROCESSOR } else { clock::COUNTER }
}

fn is_trusted() -> Option<bool> {
    let fd = system::open(KERNELS, libc::O_RDONLY)?;
    let mut name = [0; 16];
    let length = system::read(fd, &mut name);
    system::close(fd);
    Some(name.get(..length)?.trim_ascii_end() == b"tsc")
}

//! Ends as the watched program did.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// The program's exit code. If a signal killed it, the same kills us.
pub(crate) fn end_like(status: ExitStatus) -> u8 {
    if let Some(signal) = status.signal() {
        // It has a core of its own, if it wants one; ours would only be in its way.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        let _ = signal_hook::low_level::raise(signal);
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    // What a program can give as its code is a byte.
    status.code().unwrap_or(0) as u8
}

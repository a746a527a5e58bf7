//! Ctrl-C: the first one asks the work to stop and report, the second one ends the program at once.

use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code of a command that was interrupted.
pub(crate) const INTERRUPTED: u8 = 130;

/// Whether somebody wants the work to stop.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Begins to listen. If that fails, signals do what they always do.
    pub(crate) fn listen() -> Interrupt {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Registered first, so that it sees the flag as it was before this signal.
            let armed = signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED.into(), asked.clone());
            if armed.is_ok() {
                let _ = signal_hook::flag::register(signal, asked.clone());
            }
        }
        Interrupt(asked)
    }

    pub(crate) fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

//! Ctrl-C and its kin: the first one asks the work to stop and report, the second one ends the program at once.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Whether a signal asks the work to stop.
pub(crate) struct Interrupt {
    /// The number of the signal; 0 if there was none.
    signal: Arc<AtomicUsize>,
    /// There was one.
    came: Arc<AtomicBool>,
}

impl Interrupt {
    /// Begins to listen. Where that fails, signals do what they always do.
    pub(crate) fn listen() -> Interrupt {
        let signal = Arc::new(AtomicUsize::new(0));
        let again = Arc::new(AtomicBool::new(false));
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // Registered first, so that it sees the flag as it was before this signal.
            if signal_hook::flag::register_conditional_shutdown(number, 128 + number, again.clone()).is_ok() {
                let _ = signal_hook::flag::register(number, again.clone());
                let _ = signal_hook::flag::register_usize(number, signal.clone(), number as usize);
            }
        }
        Interrupt { signal, came: again }
    }

    /// Ignores signals: other code handles them.
    pub(crate) fn deaf() -> Interrupt {
        Interrupt { signal: Arc::default(), came: Arc::default() }
    }

    /// Set once a signal asks the work to stop.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.came
    }

    /// The exit code, if the work is to stop: 128 and the number of the signal, as shells have it.
    pub(crate) fn asked(&self) -> Option<u8> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            number => Some(128 + number as u8),
        }
    }
}

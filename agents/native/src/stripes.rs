//! Striped spin locks over memory, by address: they hold a watched variable still while its time is taken.

use core::hint::spin_loop;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use runtime::layout::CacheLine;

use crate::failing;

const STRIPES: usize = 1 << 10;
/// Attempts before the thread yields its processor.
const SPINS: u32 = 200;

static LOCKED: [CacheLine<AtomicBool>; STRIPES] = [const { CacheLine(AtomicBool::new(false)) }; STRIPES];

/// A stripe that is locked while this value lives. A hook must not wait for anything else meanwhile.
pub struct Stripe(&'static AtomicBool);

impl Stripe {
    /// Locks the stripe of a word.
    #[inline]
    pub fn lock(addr: usize) -> Stripe {
        let hash = (addr >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
        let stripe = &LOCKED[hash % STRIPES].0;
        while stripe.swap(true, Acquire) {
            let mut spins = 0;
            while stripe.load(Relaxed) {
                spin_loop();
                spins += 1;
                if spins % SPINS == 0 {
                    failing::pause();
                }
            }
        }
        Stripe(stripe)
    }
}

impl Drop for Stripe {
    #[inline]
    fn drop(&mut self) {
        self.0.store(false, Release);
    }
}

/// In a forked child, no other thread holds a stripe.
pub fn after_fork_child() {
    for stripe in &LOCKED {
        stripe.0.store(false, Relaxed);
    }
}

//! Random events on few locks and conditions, most of which no program could have made.

use event::{Batch, Event, Extra, LockId, Op, SiteId, ThreadId, Wake};

/// Pseudo-random numbers, the same from the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

const OPS: [Op; 13] = [
    Op::Acquire,
    Op::Acquire,
    Op::TryAcquire,
    Op::Release,
    Op::Release,
    Op::ReadAcquire,
    Op::ReadRelease,
    Op::TryFail,
    Op::Request,
    Op::Wait,
    Op::Woken,
    Op::Notify,
    Op::NotifyAll,
];

/// The events of a seed. Some seeds prefer conditions.
pub(crate) fn events(seed: u64) -> Batch {
    let mut random = Random(seed);
    let (threads, locks, conds) = (1 + random.below(3), 1 + random.below(3), 1 + random.below(2));
    let first_op = [0, 0, 7][random.below(3)];
    let mut batch = Batch::default();
    for at in 0..10 + random.below(50) {
        let op = OPS[first_op + random.below(OPS.len() - first_op)];
        let (thread, lock) = (ThreadId(random.below(threads) as u32), random.below(locks) as u32);
        let of_cond = matches!(op, Op::Wait | Op::Woken | Op::Notify | Op::NotifyAll);
        let extra = match op {
            Op::Woken => Extra { lock: LockId(lock), wake: Wake::ALL[random.below(5) % 3], ..Extra::default() },
            Op::Wait => Extra { lock: LockId(lock), ..Extra::default() },
            _ => Extra::default(),
        };
        let extra = batch.add_extra(extra);
        let object = if of_cond { random.below(conds) as u32 } else { lock };
        batch.events.push(Event::with_extra(thread, op, object, SiteId(at as u32), extra));
    }
    batch
}

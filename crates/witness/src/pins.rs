//! Which events the pins of a trace speak of.

use event::{Batch, Op, Value};

/// The thread and the position in it of an event, the kind of the pin, and the variable that it is pinned for.
pub(crate) type Pin = (u32, u64, Op, u32);

/// The pins of a trace, in the order of the events they speak of.
pub(crate) struct Pins {
    /// Sorted.
    wanted: Vec<Pin>,
    /// By thread: how many of its events were seen, and the next of `wanted` that is of it.
    threads: Vec<(u64, usize)>,
}

impl Pins {
    /// The pins of the whole trace; `None` if it has none, as most.
    pub(crate) fn new(trace: &Batch, threads: usize) -> Option<Pins> {
        let mut wanted = Vec::new();
        for &event in &trace.events {
            if event.op().is_drop_barrier()
                && let Value::Int(n) = trace.extra(event).value
                && let Ok(n) = u64::try_from(n)
            {
                wanted.push((event.thread().0, n, event.op(), event.object()));
            }
        }
        if wanted.is_empty() {
            return None;
        }
        wanted.sort_unstable();
        wanted.dedup();
        let first = |thread: usize| wanted.partition_point(|&(t, ..)| (t as usize) < thread);
        let threads = (0..threads).map(|thread| (0, first(thread))).collect();
        Some(Pins { wanted, threads })
    }

    /// The pins of the next event of this thread in recorded order.
    #[inline]
    pub(crate) fn step(&mut self, thread: u32) -> &[Pin] {
        let (position, next) = &mut self.threads[thread as usize];
        let from = *next;
        while self.wanted.get(*next).is_some_and(|&(t, n, ..)| t == thread && n == *position) {
            *next += 1;
        }
        *position += 1;
        &self.wanted[from..*next]
    }
}

//! Which events the drop barriers (`pin`, `rpin`) of a trace name.

use event::{Batch, Op, Value};

/// A drop barrier: the thread of the named event and its number there, the kind of the barrier, and its variable.
pub(crate) type DropBarrier = (u32, u64, Op, u32);

/// The drop barriers of a trace, by the events that they name.
pub(crate) struct DropBarriers {
    /// All of them, sorted.
    barriers: Vec<DropBarrier>,
    /// By thread: the number of its events so far, and the next of `barriers` that names one of its events.
    threads: Vec<(u64, usize)>,
}

impl DropBarriers {
    /// The drop barriers of a whole trace; `None` if there are none.
    pub(crate) fn new(trace: &Batch, threads: usize) -> Option<DropBarriers> {
        let mut barriers = Vec::new();
        for &event in &trace.events {
            if event.op().is_drop_barrier()
                && let Value::Int(n) = trace.extra(event).value
                && let Ok(n) = u64::try_from(n)
            {
                barriers.push((event.thread().0, n, event.op(), event.object()));
            }
        }
        if barriers.is_empty() {
            return None;
        }
        barriers.sort_unstable();
        barriers.dedup();
        let first = |thread: usize| barriers.partition_point(|&(t, ..)| (t as usize) < thread);
        let threads = (0..threads).map(|thread| (0, first(thread))).collect();
        Some(DropBarriers { barriers, threads })
    }

    /// The drop barriers that name the next event of a thread along the recorded run.
    #[inline]
    pub(crate) fn step(&mut self, thread: u32) -> &[DropBarrier] {
        let (position, next) = &mut self.threads[thread as usize];
        let from = *next;
        while self.barriers.get(*next).is_some_and(|&(t, n, ..)| t == thread && n == *position) {
            *next += 1;
        }
        *position += 1;
        &self.barriers[from..*next]
    }
}

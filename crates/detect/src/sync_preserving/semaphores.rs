//! Which `up` each `down` consumes: the initial count first, then first in, first out.

use event::{Batch, Names, Space, Value};

/// No `up` is left that a `down` could have consumed.
pub(super) struct Empty;

#[derive(Clone, Default)]
struct Semaphore {
    initial: u64,
    ups: Vec<u32>,
    consumed: usize,
}

/// The semaphores of a trace, along the recorded run.
pub(super) struct Semaphores(Vec<Semaphore>);

impl Semaphores {
    /// Before the first event. The initial count is what the trace says last before the first use.
    pub(super) fn new(names: &Names, trace: &Batch) -> Semaphores {
        let space = names.space(Space::Sem);
        let mut all = vec![Semaphore::default(); space.len()];
        if all.is_empty() {
            return Semaphores(all);
        }
        let mut first = vec![u32::MAX; space.len()];
        for (at, event) in (0u32..).zip(&trace.events) {
            if event.op().counts() {
                let first = &mut first[event.object() as usize];
                *first = at.min(*first);
            }
        }
        for init in &trace.inits {
            if let Some(number) = space.find(names.str(init.name).as_bytes())
                && init.before <= first[number as usize]
            {
                all[number as usize].initial = match init.value {
                    Value::Int(count) => u64::try_from(count).unwrap_or(0),
                    _ => 0,
                };
            }
        }
        Semaphores(all)
    }

    pub(super) fn up(&mut self, semaphore: u32, at: u32) {
        self.0[semaphore as usize].ups.push(at);
    }

    /// The `up` that the next `down` consumes; `None` for one of the initial count.
    pub(super) fn down(&mut self, semaphore: u32) -> Result<Option<u32>, Empty> {
        let semaphore = &mut self.0[semaphore as usize];
        if semaphore.initial > 0 {
            semaphore.initial -= 1;
            return Ok(None);
        }
        let up = semaphore.ups.get(semaphore.consumed).copied().ok_or(Empty)?;
        semaphore.consumed += 1;
        Ok(Some(up))
    }
}

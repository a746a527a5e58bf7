//! The state of the recorded run where a window begins: open sections, semaphores, values, positions of threads.

use crate::builder::{is_access, is_read};
use crate::sections::Sections;
use crate::window::Trace;
use event::{Id, Op, Space, Value, VarId};

/// The state of the recorded run before the first event of a window.
pub(crate) struct WindowStart {
    pub(crate) sections: Sections,
    /// By semaphore: its count.
    pub(crate) semaphores: Vec<i64>,
    /// By variable: its value, if recorded.
    pub(crate) values: Vec<Value>,
    /// By thread: how many events it has had.
    pub(crate) events: Vec<u64>,
    /// The index of the first event of the window.
    at: u64,
}

impl WindowStart {
    /// The state before the first event of a trace.
    pub(crate) fn new(trace: &Trace<'_>, initial: &dyn Fn(VarId) -> Value) -> WindowStart {
        WindowStart {
            sections: Sections::at_first(trace.batch),
            semaphores: trace.semaphores(),
            values: (0..trace.names.space(Space::Var).len()).map(|var| initial(VarId::from_index(var))).collect(),
            events: vec![0; trace.threads()],
            at: 0,
        }
    }

    /// Follows the recorded run up to the event with index `to`.
    pub(crate) fn advance(&mut self, trace: &Trace<'_>, to: u64) {
        for &event in &trace.batch.events[self.at as usize..to as usize] {
            self.sections.step(trace.batch, event);
            self.events[event.thread().index()] += 1;
            match event.op() {
                Op::Up | Op::Down => {
                    let count = &mut self.semaphores[event.sem().index()];
                    *count = count.saturating_add(if event.op() == Op::Up { 1 } else { -1 });
                }
                Op::Alloc | Op::Free => self.values[event.var().index()] = Value::Unknown,
                op if is_access(op) && !is_read(op) => {
                    self.values[event.var().index()] = trace.batch.extra(event).value;
                }
                _ => {}
            }
        }
        self.at = to;
    }
}

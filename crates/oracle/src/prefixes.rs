//! All feasible prefixes of a model, and those among them that are the recorded order with events left out.

use crate::definition::{Definition, Set, has, set_of};
use std::collections::HashSet;
use std::hash::Hash;

/// What an enumeration of prefixes remembers of each, beside what the rules depend on.
pub(crate) trait Memory: Clone + Eq + Hash {
    /// The memory after one more event.
    fn after(&self, definition: &Definition, prefix: &[usize], e: usize) -> Self;
}

/// Remembers nothing.
impl Memory for () {
    fn after(&self, _: &Definition, _: &[usize], _: usize) {}
}

impl Definition {
    /// Shows every feasible prefix; of those with equal continuations and equal memory, one.
    pub(crate) fn each_prefix<M: Memory>(&self, memory: M, show: &mut dyn FnMut(&[usize], &M)) {
        let mut seen = HashSet::new();
        self.visit(&mut Vec::new(), memory, &mut seen, show);
    }

    fn visit<M: Memory>(
        &self,
        prefix: &mut Vec<usize>,
        memory: M,
        seen: &mut HashSet<(Set, Vec<u8>, M)>,
        show: &mut dyn FnMut(&[usize], &M),
    ) {
        if !seen.insert((set_of(prefix), self.visible(prefix), memory.clone())) {
            return;
        }
        show(prefix, &memory);
        for e in 0..self.events().len() {
            if self.may_come(prefix, e) {
                let after = memory.after(self, prefix, e);
                prefix.push(e);
                self.visit(prefix, after, seen, show);
                prefix.pop();
            }
        }
    }

    /// Shows every sync-preserving prefix: the recorded order with events left out, in which reads see the writes that
    /// they saw.
    pub(crate) fn each_recorded_prefix(&self, show: &mut dyn FnMut(&[usize])) {
        self.leave_out(&mut Vec::new(), 0, 0, show);
    }

    /// Takes the event `e` or leaves it out. Threads in `left` have left out an event, and take none after it.
    fn leave_out(&self, prefix: &mut Vec<usize>, e: usize, left: u64, show: &mut dyn FnMut(&[usize])) {
        let Some(event) = self.events().get(e) else { return show(prefix) };
        let bit = 1 << event.thread;
        let sees_its_writer =
            !event.reads() || self.run.last_write(prefix, event.object) == self.run.recorded_writer(e);
        if left & bit == 0 && sees_its_writer && self.may_come(prefix, e) {
            prefix.push(e);
            self.leave_out(prefix, e + 1, left, show);
            prefix.pop();
        }
        self.leave_out(prefix, e + 1, left | bit, show);
    }

    /// Whether an event is the next of its thread after these events, and the rules that every model keeps allow it.
    pub(crate) fn is_next(&self, came: Set, e: usize) -> bool {
        !has(came, e) && self.common_predecessors[e] & !came == 0
    }
}

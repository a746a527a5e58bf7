//! Lists the complete runs that violate a property, for lattices small enough to be shown.

use crate::automaton::Automaton;
use event::PathStatus;
use order::{Admission, Context, EventStructure};

/// The number of events that are tried before the listing gives up.
const EFFORT: u64 = 1 << 20;

/// At most `limit` runs of all events that violate, each as the indexes of its events. Of the events that can come
/// next, the one recorded first is tried first.
pub fn violated_runs<A: Automaton>(
    structure: &EventStructure,
    class: &dyn Fn(u64) -> u32,
    mut automaton: A,
    limit: usize,
) -> Vec<Vec<u64>> {
    let start = automaton.start();
    let mut listing = Listing { structure, class, automaton, limit, effort: EFFORT, found: Vec::new() };
    for state in start {
        listing.extend(&mut vec![0; structure.chains.len()], &Context::new(), state, &mut Vec::new());
    }
    listing.found
}

struct Listing<'l, A> {
    structure: &'l EventStructure,
    class: &'l dyn Fn(u64) -> u32,
    automaton: A,
    limit: usize,
    effort: u64,
    found: Vec<Vec<u64>>,
}

impl<A: Automaton> Listing<'_, A> {
    /// Extends a path, which led to a cut, a context and a state, in all ways.
    fn extend(&mut self, cut: &mut [u32], context: &Context, state: u32, path: &mut Vec<u64>) {
        if path.len() == self.structure.len() {
            if self.automaton.status(state) == PathStatus::Violated {
                self.found.push(path.clone());
            }
            return;
        }
        let structure = self.structure;
        let mut next: Vec<usize> =
            (0..cut.len()).filter(|&chain| (cut[chain] as usize) < structure.chains[chain].events.len()).collect();
        next.sort_unstable_by_key(|&chain| structure.chains[chain].events[cut[chain] as usize].index);
        for chain in next {
            if self.found.len() >= self.limit || self.effort == 0 || self.automaton.status(state) == PathStatus::Safe {
                return;
            }
            self.effort -= 1;
            let event = &structure.chains[chain].events[cut[chain] as usize];
            let predecessors = structure.predecessors(event).iter().all(|prefix| prefix.is_within(cut));
            let mut context = context.clone();
            if predecessors
                && structure.rules.allows(event, cut)
                && structure.rules.apply(event, chain as u32, cut, &mut context) == Admission::Yes
            {
                let state = self.automaton.step(state, (self.class)(event.index));
                cut[chain] += 1;
                path.push(event.index);
                self.extend(cut, &context, state, path);
                path.pop();
                cut[chain] -= 1;
            }
        }
    }
}

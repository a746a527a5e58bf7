//! Complete runs that are violated, one by one: for lattices small enough to be shown.

use crate::automaton::{Automaton, Status};
use order::{Context, Frame, Passed};

/// Elements that are tried before it gives up.
const EFFORT: u64 = 1 << 20;

/// The first violated runs of all elements, as events in order; of the elements that can come next, the one recorded
/// first is tried first. At most `limit`.
pub fn violated_runs<A: Automaton>(
    frame: &Frame,
    class: &dyn Fn(u64) -> u32,
    mut automaton: A,
    limit: usize,
) -> Vec<Vec<u64>> {
    let start = automaton.start();
    let mut list = List { frame, class, automaton, limit, effort: EFFORT, found: Vec::new() };
    for state in start {
        list.go(&mut vec![0; frame.lanes.len()], &Context::new(), state, &mut Vec::new());
    }
    list.found
}

struct List<'l, A> {
    frame: &'l Frame,
    class: &'l dyn Fn(u64) -> u32,
    automaton: A,
    limit: usize,
    effort: u64,
    found: Vec<Vec<u64>>,
}

impl<A: Automaton> List<'_, A> {
    fn go(&mut self, cut: &mut [u32], context: &Context, state: u32, path: &mut Vec<u64>) {
        if path.len() == self.frame.len() {
            if self.automaton.status(state) == Status::Violated {
                self.found.push(path.clone());
            }
            return;
        }
        let frame = self.frame;
        let mut next: Vec<usize> =
            (0..cut.len()).filter(|&lane| (cut[lane] as usize) < frame.lanes[lane].elements.len()).collect();
        next.sort_unstable_by_key(|&lane| frame.lanes[lane].elements[cut[lane] as usize].event);
        for lane in next {
            if self.found.len() >= self.limit || self.effort == 0 || self.automaton.status(state) == Status::Safe {
                return;
            }
            self.effort -= 1;
            let element = &frame.lanes[lane].elements[cut[lane] as usize];
            let needs = frame.needs(element).iter().all(|need| cut[need.lane as usize] >= need.count);
            let mut context = context.clone();
            if needs
                && frame.rules.allows(element, cut)
                && frame.rules.pass(element, lane as u32, cut, &mut context) == Passed::Yes
            {
                let state = self.automaton.step(state, (self.class)(element.event));
                cut[lane] += 1;
                path.push(element.event);
                self.go(cut, &context, state, path);
                path.pop();
                cut[lane] -= 1;
            }
        }
    }
}

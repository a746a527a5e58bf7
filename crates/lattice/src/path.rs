//! A path back from a cut to the beginning, read from the kept levels; what was thinned out is explored again.

use crate::history::{History, Kept};
use crate::limits::Limits;
use crate::payload::{At, Edge, Payload};
use crate::run::{Caps, Run};
use crate::world::World;

/// An element: its lane, and which one it is there.
pub(crate) type Place = (u32, u32);

/// A place on a path: the cut, the state, the depth.
pub(crate) type Spot = (Vec<u32>, At, u64);

/// Reads paths back.
pub(crate) struct Walk<'w, 'f> {
    pub(crate) world: &'w World<'f>,
    pub(crate) limits: &'w Limits<'w>,
    /// Where the search was narrowed.
    pub(crate) caps: &'w Caps,
}

impl Walk<'_, '_> {
    /// Reads a path from the first kept level to a spot: its elements come last to first. Also the state with which it
    /// begins.
    pub(crate) fn back<P: Payload>(
        &self,
        mut payload: P,
        history: &History<P::Column>,
        (mut cut, mut at, mut depth): Spot,
        out: &mut Vec<Place>,
    ) -> (P, Option<At>) {
        while let Some((&before, kept)) = history.levels.range(..depth).next_back() {
            if before + 1 == depth {
                let Some((place, state)) = step_back(&mut payload, kept, &cut, at, self.world) else {
                    return (payload, None);
                };
                out.push(place);
                cut[place.0 as usize] -= 1;
                (at, depth) = (state, before);
                continue;
            }
            let narrowed = self.caps.range(before..depth).next().is_some();
            let bound = (!narrowed).then(|| cut.clone());
            let bytes = self.limits.history.unwrap_or(0);
            let mut run = Run::again(payload, kept.clone(), before, bound, self.caps.clone(), bytes);
            let limits = Limits { breadth: None, max_cuts: None, deadline: None, ..*self.limits };
            run.advance(self.world, &limits, depth);
            // It must come where the first search came.
            let Some(again) = run.history.take().filter(|_| run.depth == depth) else { return (run.payload, None) };
            let length = out.len();
            let state;
            (payload, state) = self.back(run.payload, &again, (cut.clone(), at, depth), out);
            let Some(state) = state else { return (payload, None) };
            out[length..].iter().for_each(|&(lane, _)| cut[lane as usize] -= 1);
            (at, depth) = (state, before);
        }
        (payload, Some(at))
    }
}

/// An element that leads from a cut of a kept level to a cut in a state, and the state it leads from. Of several the one
/// recorded last: the path stays close to the recorded order.
fn step_back<P: Payload>(
    payload: &mut P,
    kept: &Kept<P::Column>,
    cut: &[u32],
    at: At,
    world: &World<'_>,
) -> Option<(Place, At)> {
    let mut lanes: Vec<u32> = (0..cut.len() as u32).filter(|&lane| cut[lane as usize] > 0).collect();
    lanes.sort_unstable_by_key(|&lane| std::cmp::Reverse(world.element(lane, cut[lane as usize] - 1).event));
    let mut before = cut.to_vec();
    for lane in lanes {
        before[lane as usize] -= 1;
        if let Some(found) = kept.keys.find(&before, &kept.layout) {
            let number = before[lane as usize];
            let class = world.element(lane, number).class;
            let edge = Edge { class, lane, number, cut: &before };
            let allowed = world.ruled(lane, number).is_none_or(|(rules, element)| rules.allows(element, &before));
            if allowed {
                for state in payload.states(&kept.column, found) {
                    if payload.step(state, &edge, world) == Some(at) {
                        return Some(((lane, number), state));
                    }
                }
            }
        }
        before[lane as usize] += 1;
    }
    None
}

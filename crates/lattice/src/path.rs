//! A path back from a cut to the beginning, read from the kept levels; what was thinned out is explored again.

use crate::history::{History, StoredLevel};
use crate::limits::Limits;
use crate::messages::Messages;
use crate::payload::{Edge, PathState, Payload};
use crate::search::{Narrowings, Search};

/// An event: its chain, and which one it is there.
pub(crate) type PathStep = (u32, u32);

/// A place on a path: the cut, the state, the depth.
pub(crate) type PathPoint = (Vec<u32>, PathState, u64);

/// Reads paths back.
pub(crate) struct Walk<'w, 'f> {
    pub(crate) messages: &'w Messages<'f>,
    pub(crate) limits: &'w Limits<'w>,
    /// Where the search was narrowed.
    pub(crate) caps: &'w Narrowings,
}

impl Walk<'_, '_> {
    /// Reads a path from the first kept level to a spot: its events come last to first. Also the state with which it
    /// begins.
    pub(crate) fn back<P: Payload>(
        &self,
        mut payload: P,
        history: &History<P::Column>,
        (mut cut, mut at, mut depth): PathPoint,
        out: &mut Vec<PathStep>,
    ) -> (P, Option<PathState>) {
        while let Some((&before, kept)) = history.levels.range(..depth).next_back() {
            if before + 1 == depth {
                let Some((place, state)) = step_back(&mut payload, kept, &cut, at, self.messages) else {
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
            let mut run = Search::again(payload, kept.clone(), before, bound, self.caps.clone(), bytes);
            let limits = Limits { breadth: None, max_cuts: None, deadline: None, ..*self.limits };
            run.advance(self.messages, &limits, depth);
            // It must come where the first search came.
            let Some(again) = run.history.take().filter(|_| run.depth == depth) else { return (run.payload, None) };
            let length = out.len();
            let state;
            (payload, state) = self.back(run.payload, &again, (cut.clone(), at, depth), out);
            let Some(state) = state else { return (payload, None) };
            out[length..].iter().for_each(|&(chain, _)| cut[chain as usize] -= 1);
            (at, depth) = (state, before);
        }
        (payload, Some(at))
    }
}

/// An event that leads from a cut of a kept level to a cut in a state, and the state it leads from. Of several the one
/// recorded last: the path stays close to the recorded order.
fn step_back<P: Payload>(
    payload: &mut P,
    kept: &StoredLevel<P::Column>,
    cut: &[u32],
    at: PathState,
    messages: &Messages<'_>,
) -> Option<(PathStep, PathState)> {
    let mut chains: Vec<u32> = (0..cut.len() as u32).filter(|&chain| cut[chain as usize] > 0).collect();
    chains.sort_unstable_by_key(|&chain| std::cmp::Reverse(messages.event(chain, cut[chain as usize] - 1).index));
    let mut before = cut.to_vec();
    for chain in chains {
        before[chain as usize] -= 1;
        if let Some(found) = kept.keys.find(&before, &kept.layout) {
            let number = before[chain as usize];
            let class = messages.event(chain, number).class;
            let edge = Edge { class, chain, number, cut: &before };
            let allowed = messages.ruled(chain, number).is_none_or(|(rules, event)| rules.allows(event, &before));
            if allowed {
                for state in payload.states(&kept.column, found) {
                    if payload.step(state, &edge, messages) == Some(at) {
                        return Some(((chain, number), state));
                    }
                }
            }
        }
        before[chain as usize] += 1;
    }
    None
}

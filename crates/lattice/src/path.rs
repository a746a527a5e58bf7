//! Reads a path back from a cut to the empty one. Between stored levels the search is run again.

use crate::history::{History, StoredLevel};
use crate::limits::Limits;
use crate::messages::Messages;
use crate::payload::{Edge, PathState, Payload};
use crate::search::{Narrowings, Search};

/// An event on a path: its chain, and its number there from 0.
pub(crate) type PathStep = (u32, u32);

/// A point on a path: the cut, the state, the depth.
pub(crate) type PathPoint = (Vec<u32>, PathState, u64);

/// Reads paths back.
pub(crate) struct PathReader<'w, 'f> {
    pub(crate) messages: &'w Messages<'f>,
    pub(crate) limits: &'w Limits<'w>,
    /// Where the search was narrowed.
    pub(crate) narrowings: &'w Narrowings,
}

impl PathReader<'_, '_> {
    /// Reads a path from the first stored level to a point; adds its events to `out`, the last one first. Returns the
    /// state with which the path begins, or `None` if no path was found.
    pub(crate) fn read_back<P: Payload>(
        &self,
        mut payload: P,
        history: &History<P::Column>,
        (mut cut, mut at, mut depth): PathPoint,
        out: &mut Vec<PathStep>,
    ) -> (P, Option<PathState>) {
        while let Some((&before, level)) = history.levels.range(..depth).next_back() {
            if before + 1 == depth {
                let Some((step, state)) = step_back(&mut payload, level, &cut, at, self.messages) else {
                    return (payload, None);
                };
                out.push(step);
                cut[step.0 as usize] -= 1;
                (at, depth) = (state, before);
                continue;
            }
            let narrowed = self.narrowings.range(before..depth).next().is_some();
            let bound = (!narrowed).then(|| cut.clone());
            let bytes = self.limits.history.unwrap_or(0);
            let mut search = Search::repeat(payload, level.clone(), before, bound, self.narrowings.clone(), bytes);
            let limits = Limits { breadth: None, max_cuts: None, deadline: None, ..*self.limits };
            search.advance(self.messages, &limits, depth);
            // The second search must get as far as the first.
            let Some(history) = search.history.take().filter(|_| search.depth == depth) else {
                return (search.payload, None);
            };
            let length = out.len();
            let state;
            (payload, state) = self.read_back(search.payload, &history, (cut.clone(), at, depth), out);
            let Some(state) = state else { return (payload, None) };
            out[length..].iter().for_each(|&(chain, _)| cut[chain as usize] -= 1);
            (at, depth) = (state, before);
        }
        (payload, Some(at))
    }
}

/// An event that leads from a stored level to a cut and a state, with the state before it. Of several events the one
/// recorded last is taken, so that the path stays close to the recorded order.
fn step_back<P: Payload>(
    payload: &mut P,
    level: &StoredLevel<P::Column>,
    cut: &[u32],
    target: PathState,
    messages: &Messages<'_>,
) -> Option<(PathStep, PathState)> {
    let mut chains: Vec<u32> = (0..cut.len() as u32).filter(|&chain| cut[chain as usize] > 0).collect();
    chains.sort_unstable_by_key(|&chain| std::cmp::Reverse(messages.event(chain, cut[chain as usize] - 1).index));
    let mut before = cut.to_vec();
    for chain in chains {
        before[chain as usize] -= 1;
        if let Some(found) = level.keys.find(&before, &level.layout) {
            let number = before[chain as usize];
            let class = messages.event(chain, number).class;
            let edge = Edge { class, chain, number, cut: &before };
            let allowed = messages.rule_of(chain, number).is_none_or(|(rules, event)| rules.allows(event, &before));
            if allowed {
                for state in payload.states(&level.column, found) {
                    if payload.step(state, &edge, messages) == Some(target) {
                        return Some(((chain, number), state));
                    }
                }
            }
        }
        before[chain as usize] += 1;
    }
    None
}

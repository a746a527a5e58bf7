//! A question in terms of lanes.

use crate::facts::Facts;
use crate::question::Question;

/// What a prefix must have, and must not.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    /// Events that must be in it.
    pub(crate) contains: Vec<u32>,
    /// Pairs that must be in it in this order; none is fixed.
    pub(crate) before: Vec<(u32, u32)>,
    /// By lane: how many of its events it may have at most.
    pub(crate) most: Vec<u32>,
}

impl Goal {
    /// `None` if the question contradicts itself.
    pub(crate) fn new(facts: &Facts, question: &Question<'_>) -> Option<Goal> {
        let lanes = &facts.lanes;
        let fixed = facts.fixed;
        let end = fixed + lanes.events.iter().map(Vec::len).sum::<usize>() as u32;
        let mut goal = Goal {
            contains: Vec::new(),
            before: Vec::new(),
            most: lanes.events.iter().map(|events| events.len() as u32).collect(),
        };
        let mut lanes_of_next = Vec::with_capacity(question.next.len());
        for &next in question.next {
            if next < fixed || next >= end || lanes_of_next.contains(&lanes.of(next)) {
                return None;
            }
            lanes_of_next.push(lanes.of(next));
            let position = lanes.position(next);
            goal.most[lanes.of(next)] = position;
            if position > 0 {
                goal.contains.push(lanes.events[lanes.of(next)][position as usize - 1]);
            }
            goal.contains.extend(facts.always.of(next).iter().filter(|needed| !question.next.contains(needed)));
        }
        for &event in question.contains {
            if event >= end {
                return None;
            }
            if event >= fixed {
                goal.contains.push(event);
            }
        }
        for &(a, b) in question.before {
            if a == b || a >= end || b >= end || (b < fixed && (a >= fixed || a > b)) {
                return None;
            }
            goal.contains.extend([a, b].into_iter().filter(|&event| event >= fixed));
            if a >= fixed {
                goal.before.push((a, b));
            }
        }
        Some(goal)
    }
}

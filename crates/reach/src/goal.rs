//! A question in terms of chains.

use crate::facts::Facts;
use crate::question::Question;

/// What a prefix must have, and must not.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    /// Events that must be in it.
    pub(crate) contains: Vec<u32>,
    /// Pairs that must be in it in this order; none is fixed.
    pub(crate) before: Vec<(u32, u32)>,
    /// By chain: how many of its events it may have at most.
    pub(crate) most: Vec<u32>,
}

impl Goal {
    /// `None` if the question contradicts itself.
    pub(crate) fn new(facts: &Facts, question: &Question<'_>) -> Option<Goal> {
        let chains = &facts.chains;
        let fixed = facts.fixed;
        let end = fixed + chains.events.iter().map(Vec::len).sum::<usize>() as u32;
        let mut goal = Goal {
            contains: Vec::new(),
            before: Vec::new(),
            most: chains.events.iter().map(|events| events.len() as u32).collect(),
        };
        let mut chains_of_next = Vec::with_capacity(question.next.len());
        for &next in question.next {
            if next < fixed || next >= end || chains_of_next.contains(&chains.of(next)) {
                return None;
            }
            chains_of_next.push(chains.of(next));
            let position = chains.position(next);
            goal.most[chains.of(next)] = position;
            if position > 0 {
                goal.contains.push(chains.events[chains.of(next)][position as usize - 1]);
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

//! Instances of a property that have the same events: one search serves them all.

use crate::union::UnionAutomaton;
use property::steps::InstanceSteps;
use rustc_hash::FxHashMap;

/// Instances in one search: more would make its state sets large.
const MEMBERS: usize = 8;

/// Instances with the same events.
pub(crate) struct Group {
    /// Numbers of instances.
    pub(crate) members: Vec<usize>,
    /// The events, in recorded order, and the class of each.
    pub(crate) events: Vec<(u64, u32)>,
    pub(crate) automaton: UnionAutomaton,
}

impl Group {
    /// Whether an event is one of theirs.
    pub(crate) fn contains(&self, event: u64) -> bool {
        self.events.binary_search_by_key(&event, |&(event, _)| event).is_ok()
    }
}

/// Puts instances into groups. `wanted` says which.
pub(crate) fn groups(instances: &[InstanceSteps], wanted: impl Fn(usize) -> bool) -> Vec<Group> {
    let mut lists: Vec<Vec<usize>> = Vec::new();
    let mut by_hash: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for number in (0..instances.len()).filter(|&number| wanted(number)) {
        let steps = &instances[number].steps;
        let hash = steps.iter().fold(steps.len() as u64, |hash, step| {
            (hash.rotate_left(5) ^ step.event).wrapping_mul(0x517c_c1b7_2722_0a95)
        });
        let same = |list: &usize| {
            let first = &instances[lists[*list][0]].steps;
            lists[*list].len() < MEMBERS && first.iter().map(|s| s.event).eq(steps.iter().map(|s| s.event))
        };
        let known = by_hash.entry(hash).or_default();
        match known.iter().copied().find(same) {
            Some(list) => lists[list].push(number),
            None => {
                known.push(lists.len());
                lists.push(vec![number]);
            }
        }
    }
    let group = |members: Vec<usize>| {
        let mut automaton =
            UnionAutomaton::new(members.iter().map(|&member| instances[member].automaton.clone()).collect());
        let first = &instances[members[0]].steps;
        let events = (0..first.len())
            .map(|at| {
                let classes = members.iter().map(|&member| instances[member].steps[at].class).collect();
                (first[at].event, automaton.class(classes))
            })
            .collect();
        Group { members, events, automaton }
    };
    lists.into_iter().map(group).collect()
}

//! Which events must be there for two to be next, if sections may be reversed: the set of an optimistic closure.
//!
//! A section that the set leaves open, though one that it excludes was recorded later and is in the set, is *reversed*:
//! it has to come last of its lock. So of two open sections that exclude each other one must be closed.

use super::NONE;
use super::closure::{Closure, MOST_LOOKED_AT};
use super::index::Index;
use super::pairs::add_before_both;
use crate::sections::Section;

/// Which sections to close.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Policy {
    /// All that the recorded order wants closed, unless closing them needs one of the two events: few reversals.
    Preserve,
    /// Only one of two that exclude each other: few events.
    Reverse,
}

/// A set that grows optimistically.
#[derive(Debug)]
pub(super) struct Optimistic {
    pub(super) closure: Closure,
    /// Sections that must come last of their locks.
    pub(super) reversed: Vec<u32>,
}

/// Why it is no race as far as this set goes.
struct No;

impl Optimistic {
    pub(super) fn new(chains: usize) -> Optimistic {
        Optimistic { closure: Closure::new(chains), reversed: Vec::new() }
    }

    /// The set for two conflicting events; whether there is one, and no reversal contradicts what events need.
    pub(super) fn find(&mut self, index: &Index<'_>, earlier: u32, later: u32, policy: Policy) -> bool {
        let pair = [earlier, later];
        self.closure.clear();
        self.reversed.clear();
        add_before_both(index, &mut self.closure, earlier, later);
        self.fill(index, pair, policy).is_ok() && self.find_reversed(index).is_ok()
    }

    fn fill(&mut self, index: &Index<'_>, pair: [u32; 2], policy: Policy) -> Result<(), No> {
        let most = self.closure.looked + MOST_LOOKED_AT;
        loop {
            if self.closure.looked > most {
                self.closure.gave_up = true;
                return Err(No);
            }
            let keep = |_: &Closure, number: u32| policy == Policy::Reverse || swallows(index, number, pair);
            self.closure.close_unless(index, keep).map_err(|_| No)?;
            if pair.iter().any(|&event| self.closure.has(index, event)) {
                return Err(No);
            }
            if !self.close_one(index, pair)? {
                return Ok(());
            }
        }
    }

    /// Closes one of two open sections that exclude each other; whether there were such.
    fn close_one(&mut self, index: &Index<'_>, pair: [u32; 2]) -> Result<bool, No> {
        for chain in 0..index.chains() as u32 {
            let last = self.closure.last(chain);
            let list = if last == NONE { NONE } else { index.held[last as usize] };
            for number in index.holds.list(list) {
                let section = &index.sections[number as usize];
                self.closure.looked += 1;
                if section.close <= last {
                    continue;
                }
                let Some(other) = self.open_beside(index, section) else { continue };
                let (first, second) =
                    if section.open < index.sections[other as usize].open { (number, other) } else { (other, number) };
                let close = [first, second].into_iter().find(|&number| !swallows(index, number, pair)).ok_or(No)?;
                self.closure.add_event(index, index.sections[close as usize].close);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An open section of another chain that excludes this one.
    fn open_beside(&self, index: &Index<'_>, section: &Section) -> Option<u32> {
        index.groups(section.lock).iter().find_map(|&group| {
            let last = self.closure.last(group.chain);
            if group.chain == section.chain || (section.shared && group.shared) || last == NONE {
                return None;
            }
            index.opened_up_to(group, last).filter(|&other| index.sections[other as usize].close > last)
        })
    }

    /// The sections that are reversed. None of those that come before it may need that it was opened.
    fn find_reversed(&mut self, index: &Index<'_>) -> Result<(), No> {
        for chain in 0..index.chains() as u32 {
            let last = self.closure.last(chain);
            let list = if last == NONE { NONE } else { index.held[last as usize] };
            for number in index.holds.list(list) {
                let section = &index.sections[number as usize];
                self.closure.looked += 1;
                if section.close <= last {
                    continue;
                }
                let position = index.position[section.open as usize];
                let mut reversed = false;
                for &group in index.groups(section.lock) {
                    let other_last = self.closure.last(group.chain);
                    if group.chain == chain || (section.shared && group.shared) || other_last == NONE {
                        continue;
                    }
                    let Some(other) = index.opened_up_to(group, other_last) else { continue };
                    let other = &index.sections[other as usize];
                    if other.open > section.open {
                        reversed = true;
                        if index.clocks.get(index.predecessors[other.close as usize], chain) > position {
                            return Err(No);
                        }
                    }
                }
                if reversed {
                    self.reversed.push(number);
                }
            }
        }
        Ok(())
    }
}

/// Whether a section is never closed before one of the two events.
fn swallows(index: &Index<'_>, number: u32, pair: [u32; 2]) -> bool {
    let close = index.sections[number as usize].close;
    close == NONE
        || pair.iter().any(|&event| {
            let (chain, position) = (index.chain[event as usize], index.position[event as usize]);
            index.clocks.get(index.predecessors[close as usize], chain) > position
                || (index.chain[close as usize] == chain && index.position[close as usize] >= position)
        })
}

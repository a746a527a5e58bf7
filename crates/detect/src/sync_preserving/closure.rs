//! The least sync-preserving closed set that contains given events, as a cut: how many events of each chain.
//!
//! Only sections that the cut leaves open can break the rule of locks, and what else an event needs is in its row, so a
//! closure looks at a few sections and rows, however many events it contains. It only ever grows, so that a sequence of
//! questions whose seeds grow pays for each section once.

use super::NONE;
use super::clocks::join;
use super::index::{Group, Index};
use crate::sections::Section;

/// A growing cut.
#[derive(Clone, Debug)]
pub(super) struct Closure {
    /// By chain: how many of its events.
    cut: Vec<u32>,
    /// By chain: how many they were when sections were last looked at. All that follows is as of then.
    seen: Vec<u32>,
    /// By chain: the last event, or [`NONE`].
    last: Vec<u32>,
    /// By chain: the list of sections that are open behind that one.
    open: Vec<u32>,
    /// Chains that had grown then, and whether a chain is among them.
    grown: Vec<u32>,
    is_grown: Vec<bool>,
    /// There is no such set.
    impossible: bool,
    /// It was not closed, as that took too long: whether there is such a set is not known.
    pub(super) gave_up: bool,
    /// Sections looked at so far.
    pub(super) looked: u64,
}

/// To close a set, so many sections are looked at.
pub(super) const MOST_LOOKED_AT: u64 = 1 << 26;

/// As many sections behind one are looked at before the chains are searched: one of them mostly is in the set.
const NEAR: usize = 4;

/// The rule of locks cannot be kept, or an event can never happen: no set that contains the seeds is closed. Or it took
/// too long to find out ([`Closure::gave_up`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Impossible;

impl Closure {
    pub(super) fn new(chains: usize) -> Closure {
        Closure {
            cut: vec![0; chains],
            seen: vec![0; chains],
            last: vec![NONE; chains],
            open: vec![NONE; chains],
            grown: Vec::new(),
            is_grown: vec![false; chains],
            impossible: false,
            gave_up: false,
            looked: 0,
        }
    }

    /// Begins again with the empty set.
    pub(super) fn clear(&mut self) {
        self.cut.fill(0);
        self.seen.fill(0);
        self.last.fill(NONE);
        self.open.fill(NONE);
        self.is_grown.fill(false);
        self.grown.clear();
        self.impossible = false;
        self.gave_up = false;
    }

    /// By chain: how many of its events are in the set.
    pub(super) fn cut(&self) -> &[u32] {
        &self.cut
    }

    /// The last event of a chain that is in the set, or [`NONE`], once it is closed.
    #[inline]
    pub(super) fn last(&self, chain: u32) -> u32 {
        self.last[chain as usize]
    }

    /// Whether an event is in the set.
    #[inline]
    pub(super) fn has(&self, index: &Index<'_>, event: u32) -> bool {
        self.cut[index.chain[event as usize] as usize] > index.position[event as usize]
    }

    /// Adds a row, and the first events of a chain.
    #[inline]
    fn add(&mut self, index: &Index<'_>, row: u32, chain: u32, count: u32) {
        join(&mut self.cut, index.clocks.row(row));
        let own = &mut self.cut[chain as usize];
        *own = (*own).max(count);
    }

    /// Adds an event and what it needs.
    #[inline]
    pub(super) fn add_event(&mut self, index: &Index<'_>, event: u32) {
        // A cut that has an event has what that event needs.
        if !self.has(index, event) {
            let at = event as usize;
            self.add(index, index.predecessors[at], index.chain[at], index.position[at] + 1);
        }
    }

    /// Adds what must be there for an event to be next.
    #[inline]
    pub(super) fn add_before(&mut self, index: &Index<'_>, event: u32) {
        let at = event as usize;
        self.add(index, index.before[at], index.chain[at], index.position[at]);
    }

    /// Closes the set by the rule of locks.
    #[inline]
    pub(super) fn close(&mut self, index: &Index<'_>) -> Result<(), Impossible> {
        self.close_unless(index, |_, _| false)
    }

    /// As `close`, but sections for which `stays_open` says so are not closed.
    pub(super) fn close_unless(
        &mut self,
        index: &Index<'_>,
        mut stays_open: impl FnMut(&Closure, u32) -> bool,
    ) -> Result<(), Impossible> {
        let most = self.looked + MOST_LOOKED_AT;
        while !self.impossible && self.look(index) {
            if self.looked > most {
                self.gave_up = true;
                self.impossible = true;
            }
            for chain in 0..self.open.len() {
                if self.open[chain] == NONE {
                    continue;
                }
                for number in index.holds.list(self.open[chain]) {
                    let section = &index.sections[number as usize];
                    self.looked += 1;
                    if section.close <= self.last[chain] {
                        continue;
                    }
                    let later = self.later(index, number);
                    if later == NONE || stays_open(self, number) {
                        continue;
                    }
                    // Not closed when the later one opened: the recorded run itself breaks the rule.
                    if section.close > later {
                        self.impossible = true;
                        return Err(Impossible);
                    }
                    self.add_event(index, section.close);
                }
            }
        }
        if self.impossible { Err(Impossible) } else { Ok(()) }
    }

    /// Looks which chains grew; whether there are any.
    fn look(&mut self, index: &Index<'_>) -> bool {
        for chain in self.grown.drain(..) {
            self.is_grown[chain as usize] = false;
        }
        for chain in 0..self.cut.len() {
            let count = self.cut[chain];
            if self.seen[chain] < count {
                self.seen[chain] = count;
                let last = index.last(chain as u32, count);
                self.last[chain] = last;
                self.open[chain] = index.held[last as usize];
                self.grown.push(chain as u32);
                self.is_grown[chain] = true;
                self.impossible |= count > index.never[chain];
            }
        }
        !self.grown.is_empty()
    }

    /// The first event behind the opening of a section, of those in the set, that opens one that it excludes, or
    /// [`NONE`]. Of two chains that did not grow nothing new can be said.
    #[inline]
    fn later(&self, index: &Index<'_>, number: u32) -> u32 {
        let section = &index.sections[number as usize];
        let behind = index.sections_behind(number);
        for &other in behind.iter().take(NEAR) {
            let other = &index.sections[other as usize];
            let last = self.last[other.chain as usize];
            if other.chain != section.chain && !(section.shared && other.shared) && last != NONE && last >= other.open {
                return other.open;
            }
        }
        if behind.len() <= NEAR { NONE } else { self.later_by_chain(index, section) }
    }

    /// This, chain by chain.
    fn later_by_chain(&self, index: &Index<'_>, section: &Section) -> u32 {
        let groups = index.groups(section.lock);
        let mut first = NONE;
        let mut look = |group: Group| {
            let last = self.last[group.chain as usize];
            if group.chain != section.chain && !(section.shared && group.shared) && last != NONE && last > section.open
            {
                let open = index.opened_after(group, section.open);
                if open <= last {
                    first = first.min(open);
                }
            }
        };
        if self.is_grown[section.chain as usize] || groups.len() <= 4 * self.grown.len() {
            groups.iter().for_each(|&group| look(group));
        } else {
            for &chain in &self.grown {
                let from = groups.partition_point(|group| group.chain < chain);
                groups[from..].iter().take_while(|group| group.chain == chain).for_each(|&group| look(group));
            }
        }
        first
    }
}

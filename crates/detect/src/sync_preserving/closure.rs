//! The least sync-preserving closed set that contains given events, as a cut: how many events of each lane.
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
    /// By lane: how many of its events.
    cut: Vec<u32>,
    /// By lane: how many they were when sections were last looked at. All that follows is as of then.
    seen: Vec<u32>,
    /// By lane: the last event, or [`NONE`].
    last: Vec<u32>,
    /// By lane: the list of sections that are open behind that one.
    open: Vec<u32>,
    /// Lanes that had grown then, and whether a lane is among them.
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

/// As many sections behind one are looked at before the lanes are searched: one of them mostly is in the set.
const NEAR: usize = 4;

/// The rule of locks cannot be kept, or an event can never happen: no set that contains the seeds is closed. Or it took
/// too long to find out ([`Closure::gave_up`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Impossible;

impl Closure {
    pub(super) fn new(lanes: usize) -> Closure {
        Closure {
            cut: vec![0; lanes],
            seen: vec![0; lanes],
            last: vec![NONE; lanes],
            open: vec![NONE; lanes],
            grown: Vec::new(),
            is_grown: vec![false; lanes],
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

    /// By lane: how many of its events are in the set.
    pub(super) fn cut(&self) -> &[u32] {
        &self.cut
    }

    /// The last event of a lane that is in the set, or [`NONE`], once it is closed.
    #[inline]
    pub(super) fn last(&self, lane: u32) -> u32 {
        self.last[lane as usize]
    }

    /// Whether an event is in the set.
    #[inline]
    pub(super) fn has(&self, index: &Index<'_>, event: u32) -> bool {
        self.cut[index.lane[event as usize] as usize] > index.position[event as usize]
    }

    /// Adds a row, and the first events of a lane.
    #[inline]
    fn add(&mut self, index: &Index<'_>, row: u32, lane: u32, count: u32) {
        join(&mut self.cut, index.clocks.row(row));
        let own = &mut self.cut[lane as usize];
        *own = (*own).max(count);
    }

    /// Adds an event and what it needs.
    #[inline]
    pub(super) fn add_event(&mut self, index: &Index<'_>, event: u32) {
        // Whoever has an event has what it needs.
        if !self.has(index, event) {
            let at = event as usize;
            self.add(index, index.needs[at], index.lane[at], index.position[at] + 1);
        }
    }

    /// Adds what must be there for an event to be next.
    #[inline]
    pub(super) fn add_before(&mut self, index: &Index<'_>, event: u32) {
        let at = event as usize;
        self.add(index, index.before[at], index.lane[at], index.position[at]);
    }

    /// Closes the set by the rule of locks.
    #[inline]
    pub(super) fn close(&mut self, index: &Index<'_>) -> Result<(), Impossible> {
        self.close_unless(index, |_, _| false)
    }

    /// The same, but sections for which `stays_open` says so are not closed.
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
            for lane in 0..self.open.len() {
                if self.open[lane] == NONE {
                    continue;
                }
                for number in index.holds.list(self.open[lane]) {
                    let section = &index.sections[number as usize];
                    self.looked += 1;
                    if section.close <= self.last[lane] {
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

    /// Looks which lanes grew; whether there are any.
    fn look(&mut self, index: &Index<'_>) -> bool {
        for lane in self.grown.drain(..) {
            self.is_grown[lane as usize] = false;
        }
        for lane in 0..self.cut.len() {
            let count = self.cut[lane];
            if self.seen[lane] < count {
                self.seen[lane] = count;
                let last = index.last(lane as u32, count);
                self.last[lane] = last;
                self.open[lane] = index.held[last as usize];
                self.grown.push(lane as u32);
                self.is_grown[lane] = true;
                self.impossible |= count > index.never[lane];
            }
        }
        !self.grown.is_empty()
    }

    /// The first event behind the opening of a section, of those in the set, that opens one that it excludes, or
    /// [`NONE`]. Of two lanes that did not grow nothing new can be said.
    #[inline]
    fn later(&self, index: &Index<'_>, number: u32) -> u32 {
        let section = &index.sections[number as usize];
        let behind = index.sections_behind(number);
        for &other in behind.iter().take(NEAR) {
            let other = &index.sections[other as usize];
            let last = self.last[other.lane as usize];
            if other.lane != section.lane && !(section.shared && other.shared) && last != NONE && last >= other.open {
                return other.open;
            }
        }
        if behind.len() <= NEAR { NONE } else { self.later_by_lane(index, section) }
    }

    /// The same, lane by lane.
    fn later_by_lane(&self, index: &Index<'_>, section: &Section) -> u32 {
        let groups = index.groups(section.lock);
        let mut first = NONE;
        let mut look = |group: Group| {
            let last = self.last[group.lane as usize];
            if group.lane != section.lane && !(section.shared && group.shared) && last != NONE && last > section.open {
                let open = index.opened_after(group, section.open);
                if open <= last {
                    first = first.min(open);
                }
            }
        };
        if self.is_grown[section.lane as usize] || groups.len() <= 4 * self.grown.len() {
            groups.iter().for_each(|&group| look(group));
        } else {
            for &lane in &self.grown {
                let from = groups.partition_point(|group| group.lane < lane);
                groups[from..].iter().take_while(|group| group.lane == lane).for_each(|&group| look(group));
            }
        }
        first
    }
}

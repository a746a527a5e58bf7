//! The least sync-preserving closed set that contains given events, as a cut: how many events of each lane.
//!
//! Only sections that the cut leaves open can break the rule of locks, and what else an event needs is in its row, so a
//! closure looks at a few sections and rows, however many events it contains. It only ever grows, so that a sequence of
//! questions whose seeds grow pays for each section once.

use super::NONE;
use super::index::Index;

/// A growing cut.
#[derive(Clone, Debug)]
pub(super) struct Closure {
    /// By lane: how many of its events.
    cut: Vec<u32>,
    /// By lane: the last of them, or [`NONE`].
    last: Vec<u32>,
    /// By lane: whether it grew since its sections were looked at.
    grew: Vec<bool>,
    growing: Vec<bool>,
    grows: bool,
    /// There is no such set.
    impossible: bool,
}

/// The rule of locks cannot be kept, or an event can never happen: no set that contains the seeds is closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Impossible;

impl Closure {
    pub(super) fn new(lanes: usize) -> Closure {
        Closure {
            cut: vec![0; lanes],
            last: vec![NONE; lanes],
            grew: vec![false; lanes],
            growing: vec![false; lanes],
            grows: false,
            impossible: false,
        }
    }

    /// Begins again with the empty set.
    pub(super) fn clear(&mut self) {
        self.cut.fill(0);
        self.last.fill(NONE);
        self.grew.fill(false);
        self.growing.fill(false);
        self.grows = false;
        self.impossible = false;
    }

    /// By lane: how many of its events are in the set.
    pub(super) fn cut(&self) -> &[u32] {
        &self.cut
    }

    /// The last event of a lane that is in the set, or [`NONE`].
    #[inline]
    pub(super) fn last(&self, lane: u32) -> u32 {
        self.last[lane as usize]
    }

    /// Whether an event is in the set.
    #[inline]
    pub(super) fn has(&self, index: &Index<'_>, event: u32) -> bool {
        self.cut[index.lane[event as usize] as usize] > index.position[event as usize]
    }

    #[inline]
    fn grow(&mut self, index: &Index<'_>, lane: usize, count: u32) {
        if self.cut[lane] < count {
            self.cut[lane] = count;
            self.last[lane] = index.last(lane as u32, count);
            self.growing[lane] = true;
            self.grows = true;
            self.impossible |= count > index.never[lane];
        }
    }

    /// Adds a row, and the first events of a lane.
    #[inline]
    pub(super) fn add(&mut self, index: &Index<'_>, row: u32, lane: u32, count: u32) {
        for (lane, &count) in index.clocks.row(row).iter().enumerate() {
            self.grow(index, lane, count);
        }
        self.grow(index, lane as usize, count);
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
        while std::mem::take(&mut self.grows) && !self.impossible {
            std::mem::swap(&mut self.grew, &mut self.growing);
            self.growing.fill(false);
            for lane in 0..self.cut.len() {
                let last = self.last[lane];
                if last == NONE || index.held[last as usize] == NONE {
                    continue;
                }
                for number in index.holds.list(index.held[last as usize]) {
                    let section = &index.sections[number as usize];
                    if section.close <= self.last[lane] {
                        continue;
                    }
                    let later = self.later(index, lane, number);
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

    /// The first event behind the opening of a section, of those in the set, that opens one that it excludes, or
    /// [`NONE`]. If neither lane grew since they were last looked at, there is none that is not known.
    #[inline]
    fn later(&self, index: &Index<'_>, lane: usize, number: u32) -> u32 {
        let section = &index.sections[number as usize];
        let mut first = NONE;
        for &group in index.groups(section.lock) {
            let other = group.lane as usize;
            if other == lane || (section.shared && group.shared) {
                continue;
            }
            let last = self.last[other];
            if last == NONE || last < section.open {
                continue;
            }
            if !(self.grew[lane] || self.grew[other] || self.growing[lane] || self.growing[other]) {
                continue;
            }
            let open = index.opened_after(group, section.open);
            if open <= last {
                first = first.min(open);
            }
        }
        first
    }
}

//! Which locks accesses have in common: one look at each list of sections, however long it is.

use super::index::Index;
use super::work::Work;
use crate::sections::{NONE, Section};

/// Memory for looks at the locks of events, used again.
#[derive(Debug)]
pub(super) struct CommonLocks {
    /// By lock: the last look that saw it, in exclusive sections and in shared ones.
    seen: Vec<[u64; 2]>,
    look: u64,
    /// The event whose locks that look saw, or [`NONE`].
    of: u32,
    common: Vec<u32>,
}

const EXCLUSIVE: usize = 0;
const SHARED: usize = 1;

impl CommonLocks {
    pub(super) fn new(locks: usize) -> CommonLocks {
        CommonLocks { seen: vec![[0; 2]; locks], look: 0, of: NONE, common: Vec::new() }
    }

    /// Whether both hold a lock in a way that excludes the other. To ask about one `b` after the other costs least.
    #[inline]
    pub(super) fn exclude(&mut self, index: &Index<'_>, a: u32, b: u32, steps: &mut u64) -> bool {
        if self.of != b {
            self.look += 1;
            self.of = b;
            for section in index.open_before(b) {
                *steps += 1;
                self.seen[section.lock as usize][usize::from(section.shared)] = self.look;
            }
        }
        index.open_before(a).any(|section| {
            *steps += 1;
            let seen = self.seen[section.lock as usize];
            seen[EXCLUSIVE] == self.look || !section.shared && seen[SHARED] == self.look
        })
    }

    /// Whether all accesses are under one lock, which those that write have alone: of two such, never are both next.
    /// If time is up, it says no.
    pub(super) fn protect(&mut self, index: &Index<'_>, accesses: &[u32], work: &mut Work<'_>) -> bool {
        let Some((&first, rest)) = accesses.split_first() else { return true };
        if work.is_over() {
            return false;
        }
        self.common.clear();
        self.common.extend(index.open_before(first).map(|section| section.lock));
        work.spent += self.common.len() as u64;
        self.common.retain(|&lock| is_under(index, first, lock));
        for &at in rest {
            if self.common.is_empty() || work.is_over() {
                return false;
            }
            work.spent += self.common.len() as u64;
            self.common.retain(|&lock| is_under(index, at, lock));
        }
        !self.common.is_empty()
    }
}

/// As many sections are looked at before the one of the lock is searched for: mostly there are no more.
const NEAR: usize = 8;

/// Whether an access is under a lock; with the lock alone, if it writes.
fn is_under(index: &Index<'_>, at: u32, lock: u32) -> bool {
    let reads = index.events[at as usize].op().only_reads();
    let protects = |section: &Section| section.lock == lock && (reads || !section.shared);
    let mut near = 0;
    if index.open_before(at).take(NEAR).inspect(|_| near += 1).any(protects) {
        return true;
    }
    let chain = index.chain[at as usize];
    let groups = index.groups(lock);
    let from = groups.partition_point(|group| group.chain < chain);
    near == NEAR
        && groups[from..].iter().take_while(|group| group.chain == chain).any(|&group| {
            let last = index.opened_up_to(group, at).map(|number| &index.sections[number as usize]);
            last.is_some_and(|section| section.close > at && protects(section))
        })
}

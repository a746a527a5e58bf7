//! Which notify of a condition ends which wait: each the earliest that came after it, and ended no other.

use std::collections::{BTreeMap, BTreeSet};

/// One condition: who waits, and the notifies that may still end a wait. Events are their indexes.
#[derive(Debug)]
pub(crate) struct Pairing<T> {
    /// Since when threads wait.
    waits: BTreeSet<u64>,
    /// What is known of each notify, and whether it is one of all.
    notifies: BTreeMap<u64, (T, bool)>,
    /// Notifies since the last wait that more would be of no use after: as many as threads waited then, none after a
    /// notify-all.
    room: usize,
}

impl<T> Default for Pairing<T> {
    fn default() -> Self {
        Pairing { waits: BTreeSet::new(), notifies: BTreeMap::new(), room: 0 }
    }
}

impl<T: Clone> Pairing<T> {
    pub(crate) fn wait(&mut self, since: u64) {
        self.waits.insert(since);
        self.room = self.waits.len();
    }

    /// A notify, of one or of all that wait.
    pub(crate) fn notify(&mut self, at: u64, notify: T, all: bool) {
        if self.room > 0 && !self.waits.is_empty() {
            self.room = if all { 0 } else { self.room - 1 };
            self.notifies.insert(at, (notify, all));
            if self.notifies.len() > 2 * self.waits.len() {
                self.trim();
            }
        }
    }

    /// Forgets the notifies that are of no use to those who wait: what came when there were as many before as had waited
    /// by then stays over.
    fn trim(&mut self) {
        let mut waits = self.waits.iter().peekable();
        let (mut waiting, mut served) = (0, 0);
        self.notifies.retain(|&at, &mut (_, all)| {
            while waits.next_if(|&&since| since < at).is_some() {
                waiting += 1;
            }
            let useful = served < waiting;
            if useful {
                served = if all { waiting } else { served + 1 };
            }
            useful
        });
    }

    /// The notify that a wait since then would be paired with now.
    pub(crate) fn first_since(&self, since: u64) -> Option<T> {
        self.notifies.range(since..).next().map(|(_, (notify, _))| notify.clone())
    }

    /// The wait since then is over: the notify that it is paired with, if one ended it.
    pub(crate) fn over(&mut self, since: u64, notified: bool) -> Option<T> {
        self.waits.remove(&since);
        let mut paired = None;
        if notified && let Some((&at, (notify, all))) = self.notifies.range(since..).next() {
            paired = Some(notify.clone());
            let all = *all;
            if !all {
                self.notifies.remove(&at);
            }
        }
        let oldest = self.waits.first().copied().unwrap_or(u64::MAX);
        while let Some(entry) = self.notifies.first_entry().filter(|entry| *entry.key() < oldest) {
            entry.remove();
        }
        paired
    }

    /// All notifies that are kept.
    pub(crate) fn notifies_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.notifies.values_mut().map(|(notify, _)| notify)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_without_end_keeps_no_notifies_of_others() {
        let mut cond = Pairing::default();
        cond.wait(0);
        for round in 1..1000 {
            cond.wait(10 * round);
            cond.notify(10 * round + 1, round, false);
            assert_eq!(cond.over(10 * round, true), Some(round));
            cond.notify(10 * round + 2, round, round % 7 == 0);
            assert!(cond.notifies.len() <= 3, "{cond:?}");
        }
        assert_eq!(cond.first_since(0), Some(1));
    }

    /// Against all notifies kept: whoever wakes is paired with the same.
    #[test]
    fn what_is_forgotten_is_of_no_use() {
        let mut seed = 3u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..2000 {
            let mut cond = Pairing::default();
            let mut waits: Vec<u64> = Vec::new();
            let mut notifies: Vec<(u64, bool)> = Vec::new();
            for at in 0..40 {
                match random(5) {
                    0 => {
                        cond.wait(at);
                        waits.push(at);
                    }
                    1..=3 => {
                        let all = random(6) == 0;
                        cond.notify(at, at, all);
                        notifies.push((at, all));
                    }
                    _ if waits.is_empty() => {}
                    _ => {
                        let since = waits.swap_remove(random(waits.len() as u64) as usize);
                        let notified = random(4) > 0;
                        let first = notifies.iter().position(|notify| notified && notify.0 > since);
                        let expected = first.map(|first| notifies[first].0);
                        if let Some(first) = first.filter(|&first| !notifies[first].1) {
                            notifies.remove(first);
                        }
                        assert_eq!(cond.over(since, notified), expected);
                    }
                }
            }
        }
    }
}

//! All racy events: for each variable and each two chains, a walk along the accesses of both that never goes back.
//!
//! Let e and f be accesses in two chains, e recorded first. The closure of what is before both contains nothing that is
//! recorded behind f. If it contains e, so it does for every access behind f in f's chain. So each question crosses out
//! e, or finds that f is racy, and closures only grow during a walk. What is before f alone is closed once, for all
//! chains of e: it often contains e, too.

use super::NONE;
use super::closure::Closure;
use super::index::Index;
use super::locks::CommonLocks;
use super::pairs::{add_before_both, conflict};
use super::work::Work;
use event::Op;

/// A racy event and one that it races with, recorded before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Pair {
    pub(super) later: u32,
    pub(super) earlier: u32,
}

/// The accesses of a variable between two `alloc` or `free`, these included if they are `free`.
pub(super) struct Lifetime<'i> {
    /// In recorded order; no `alloc`, and no `free` but that at the ends.
    pub(super) accesses: &'i [u32],
    /// The `free` that it begins with.
    pub(super) freed_before: Option<u32>,
    /// The `free` that it ends with.
    pub(super) freed_after: Option<u32>,
}

/// The lifetimes of a variable.
pub(super) fn lifetimes<'i>(index: &'i Index<'_>, var: u32) -> impl Iterator<Item = Lifetime<'i>> {
    let mut rest = index.accesses(var);
    let mut freed_before = None;
    let mut over = rest.is_empty();
    std::iter::from_fn(move || {
        if over {
            return None;
        }
        let op = |at: u32| index.events[at as usize].op();
        let end = rest.iter().position(|&at| op(at).bounds_lifetime());
        let accesses = &rest[..end.unwrap_or(rest.len())];
        let boundary = end.map(|end| rest[end]);
        let freed_after = boundary.filter(|&at| op(at) == Op::Free);
        let lifetime = Lifetime { accesses, freed_before, freed_after };
        match end {
            Some(end) => rest = &rest[end + 1..],
            None => over = true,
        }
        freed_before = freed_after;
        Some(lifetime)
    })
}

/// Operations that conflict with the same ones.
pub(super) const CLASSES: [Op; 4] = [Op::Read, Op::Write, Op::AtomicLoad, Op::AtomicStore];

pub(super) fn class(op: Op) -> Op {
    match op {
        Op::AtomicRmw => Op::AtomicStore,
        op => op,
    }
}

/// The accesses of one chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    pub(super) chain: u32,
    start: u32,
    end: u32,
    /// By class: whether there are any.
    has: u8,
}

/// The accesses of a lifetime by chain.
#[derive(Default, Debug)]
pub(super) struct ByChain {
    pub(super) chains: Vec<Chain>,
    events: Vec<u32>,
    /// Scratch: by chain, how many accesses; then where the next goes.
    counts: Vec<u32>,
}

impl ByChain {
    pub(super) fn fill(&mut self, index: &Index<'_>, accesses: &[u32]) {
        self.counts.resize(index.chains(), 0);
        self.chains.clear();
        for &at in accesses {
            let chain = index.chain[at as usize];
            if self.counts[chain as usize] == 0 {
                self.chains.push(Chain { chain, start: 0, end: 0, has: 0 });
            }
            self.counts[chain as usize] += 1;
        }
        let mut end = 0;
        for chain in &mut self.chains {
            let count = &mut self.counts[chain.chain as usize];
            (chain.start, chain.end) = (end, end + *count);
            end = chain.end;
            *count = chain.start;
        }
        self.events.clear();
        self.events.resize(accesses.len(), 0);
        for &at in accesses {
            let next = &mut self.counts[index.chain[at as usize] as usize];
            self.events[*next as usize] = at;
            *next += 1;
        }
        for chain in &mut self.chains {
            self.counts[chain.chain as usize] = 0;
            for &at in &self.events[chain.start as usize..chain.end as usize] {
                let op = class(index.events[at as usize].op());
                chain.has |= CLASSES.iter().position(|&class| class == op).map_or(0, |bit| 1 << bit);
            }
        }
    }

    #[inline]
    pub(super) fn events(&self, chain: Chain) -> &[u32] {
        &self.events[chain.start as usize..chain.end as usize]
    }

    /// Whether a chain has an access that conflicts with this operation.
    #[inline]
    pub(super) fn has_conflict(chain: Chain, op: Op) -> bool {
        CLASSES.iter().enumerate().any(|(bit, &class)| chain.has >> bit & 1 == 1 && conflict(class, op))
    }
}

/// Whether no two accesses of a lifetime can race, because of how its variable is used: by one chain, or never written,
/// or only atomically, or always under one lock. If time is up, it says no.
pub(super) fn cannot_race(index: &Index<'_>, accesses: &[u32], locks: &mut CommonLocks, work: &mut Work<'_>) -> bool {
    let Some(&first) = accesses.first() else { return true };
    work.spent += accesses.len() as u64;
    let op = |at: u32| index.events[at as usize].op();
    let chain = index.chain[first as usize];
    let mut classes = 0u8;
    let mut several = false;
    for &at in accesses {
        several |= index.chain[at as usize] != chain;
        let class = class(op(at));
        classes |= CLASSES.iter().position(|&c| c == class).map_or(0, |bit| 1 << bit);
    }
    const READ: u8 = 1;
    const WRITE: u8 = 2;
    const ATOMIC: u8 = 12;
    if !several || classes & !ATOMIC == 0 || classes & !(READ | 4) == 0 {
        return true;
    }
    debug_assert!(classes & (READ | WRITE) != 0);
    locks.protect(index, accesses, work)
}

/// The search for sync-preserving races.
pub(super) struct Search<'i, 'a> {
    index: &'i Index<'a>,
    closure: Closure,
    by_chain: ByChain,
    /// By event: whether it is known to be racy.
    racy: Vec<bool>,
    pub(super) found: Vec<Pair>,
    /// How many accesses were not looked at together with all others, because the time was over.
    pub(super) unexamined: u64,
    /// Accesses that are not known to be racy, and their numbers in `alone`.
    left: Vec<(u32, u32)>,
    /// By number: where in `alone` the closure of what is before an access begins, or [`NONE`].
    alone_starts: Vec<u32>,
    /// Such closures, chain by chain.
    alone: Vec<u32>,
    single: Closure,
    locks: CommonLocks,
}

/// As many counts are kept in [`Search::alone`].
const MOST_ALONE: usize = 1 << 24;

impl<'i, 'a> Search<'i, 'a> {
    pub(super) fn new(index: &'i Index<'a>) -> Self {
        Search {
            index,
            closure: Closure::new(index.chains()),
            by_chain: ByChain::default(),
            racy: vec![false; index.events.len()],
            found: Vec::new(),
            unexamined: 0,
            left: Vec::new(),
            alone_starts: Vec::new(),
            alone: Vec::new(),
            single: Closure::new(index.chains()),
            locks: CommonLocks::new(index.locks()),
        }
    }

    pub(super) fn is_racy(&self, event: u32) -> bool {
        self.racy[event as usize]
    }

    fn note(&mut self, later: u32, earlier: u32) {
        if !std::mem::replace(&mut self.racy[later as usize], true) {
            self.found.push(Pair { later, earlier });
        }
    }

    /// Adds what another search found.
    pub(super) fn add(&mut self, pair: Pair) {
        self.note(pair.later, pair.earlier);
    }

    /// Looks at the accesses of one lifetime.
    pub(super) fn lifetime(&mut self, lifetime: &Lifetime<'_>, work: &mut Work<'_>) {
        let freed = lifetime.freed_before.is_some() || lifetime.freed_after.is_some();
        let quiet = cannot_race(self.index, lifetime.accesses, &mut self.locks, work);
        if quiet && !freed {
            return;
        }
        if work.is_over() {
            self.unexamined += lifetime.accesses.len() as u64;
            return;
        }
        let mut by_chain = std::mem::take(&mut self.by_chain);
        by_chain.fill(self.index, lifetime.accesses);
        self.frees(lifetime, &by_chain, work);
        if !quiet {
            self.chains(&by_chain, work);
        }
        self.by_chain = by_chain;
    }

    /// Looks at each two chains.
    fn chains(&mut self, by_chain: &ByChain, work: &mut Work<'_>) {
        for &later in &by_chain.chains {
            for op in CLASSES {
                if !by_chain.chains.iter().any(|&chain| chain.chain != later.chain && ByChain::has_conflict(chain, op))
                {
                    continue;
                }
                let events = by_chain.events(later).iter().copied();
                self.left.clear();
                self.left.extend(events.filter(|&at| class(self.index.events[at as usize].op()) == op).zip(0..));
                if self.left.is_empty() {
                    continue;
                }
                self.alone.clear();
                self.alone_starts.clear();
                self.alone_starts.resize(self.left.len(), NONE);
                for &earlier in &by_chain.chains {
                    if earlier.chain == later.chain || !ByChain::has_conflict(earlier, op) {
                        continue;
                    }
                    let all = !work.is_over() && self.walk(earlier.chain, by_chain.events(earlier), op, work);
                    let racy = &self.racy;
                    self.left.retain(|&(at, _)| !racy[at as usize]);
                    if !all {
                        self.unexamined += self.left.len() as u64;
                        break;
                    }
                    if self.left.is_empty() {
                        break;
                    }
                }
            }
        }
    }

    /// How many events of a chain the closure of what is before an access contains. `None`: there is no such closure.
    fn alone(&mut self, f: u32, number: u32, chain: u32) -> Option<u32> {
        let known = self.alone_starts[number as usize];
        if known != NONE {
            return Some(self.alone[(known + chain) as usize]);
        }
        self.single.clear();
        self.single.add_before(self.index, f);
        self.single.close(self.index).ok()?;
        if self.alone.len() + self.index.chains() <= MOST_ALONE {
            self.alone_starts[number as usize] = self.alone.len() as u32;
            self.alone.extend_from_slice(self.single.cut());
        }
        Some(self.single.cut()[chain as usize])
    }

    /// Which of the accesses in `left`, all of this operation, race with an earlier one of these. Whether it came to an
    /// end.
    fn walk(&mut self, chain: u32, earlier: &[u32], op: Op, work: &mut Work<'_>) -> bool {
        let index = self.index;
        let mut k = 0;
        let mut fresh = true;
        for i in 0..self.left.len() {
            let (f, number) = self.left[i];
            work.spent += 1;
            let mut contained = index.clocks.get(index.before[f as usize], chain);
            let mut is_alone = false;
            while let Some(&e) = earlier.get(k).filter(|&&e| e < f) {
                let mut out = contained > index.position[e as usize]
                    || !conflict(index.events[e as usize].op(), op)
                    || self.locks.exclude(index, e, f, &mut work.spent);
                if work.is_over() {
                    return false;
                }
                if !out && !std::mem::replace(&mut is_alone, true) {
                    let alone = self.alone(f, number, chain);
                    work.spent += 8 + std::mem::take(&mut self.single.looked);
                    let Some(alone) = alone else { return !self.single.gave_up };
                    contained = alone;
                    out = contained > index.position[e as usize];
                }
                if !out {
                    if std::mem::take(&mut fresh) {
                        self.closure.clear();
                    }
                    self.closure.add_before(index, e);
                    self.closure.add_before(index, f);
                    let closed = self.closure.close(index);
                    work.spent += 8 + std::mem::take(&mut self.closure.looked);
                    if closed.is_err() {
                        return !self.closure.gave_up;
                    }
                    debug_assert!(!self.closure.has(index, f));
                    if !self.closure.has(index, e) {
                        self.note(f, e);
                        break;
                    }
                }
                work.spent += 1;
                k += 1;
            }
        }
        true
    }

    /// A `free` races with the first access of a chain behind it, or the last before it: the others need that one.
    fn frees(&mut self, lifetime: &Lifetime<'_>, by_chain: &ByChain, work: &mut Work<'_>) {
        if let Some(free) = lifetime.freed_before {
            for &chain in &by_chain.chains {
                if let Some(&first) = by_chain.events(chain).first() {
                    self.pair(free, first, work);
                }
            }
            if let Some(second) = lifetime.freed_after {
                self.pair(free, second, work);
            }
        }
        if let Some(free) = lifetime.freed_after {
            for &chain in &by_chain.chains {
                if let Some(&last) = by_chain.events(chain).last() {
                    self.pair(last, free, work);
                }
            }
        }
    }

    fn pair(&mut self, earlier: u32, later: u32, work: &mut Work<'_>) {
        if self.racy[later as usize] || self.index.chain[earlier as usize] == self.index.chain[later as usize] {
            return;
        }
        if is_race(self.index, &mut self.closure, earlier, later) {
            self.note(later, earlier);
        }
        self.unexamined += u64::from(self.closure.gave_up);
        work.spent += std::mem::take(&mut self.closure.looked);
    }
}

/// Whether two conflicting events are a sync-preserving race; if so, the closure is the set that shows it.
pub(super) fn is_race(index: &Index<'_>, closure: &mut Closure, earlier: u32, later: u32) -> bool {
    debug_assert!(earlier < later && later != NONE);
    closure.clear();
    add_before_both(index, closure, earlier, later);
    closure.close(index).is_ok() && !closure.has(index, earlier) && !closure.has(index, later)
}

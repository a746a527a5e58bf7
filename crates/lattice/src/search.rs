//! A search with one kind of payload: level after level, within its limits.

use crate::breadth::nearest;
use crate::history::{History, StoredLevel};
use crate::key::Key;
use crate::keys::{Keys, Wide, with_keys};
use crate::layout::{ChainExtent, Layout, Tables, end_of};
use crate::limits::{Limits, Shortened};
use crate::merge::{Level, Merge};
use crate::messages::Messages;
use crate::payload::{Candidate, Payload};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A violation, and the number of events of its cut.
pub(crate) struct FoundViolation {
    pub(crate) candidate: Candidate,
    pub(crate) depth: u64,
}

/// The figures of a search.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Figures {
    /// The number of cuts that were visited.
    pub cuts: u64,
    /// The number of cuts of the widest level.
    pub widest: u64,
    /// The number of levels.
    pub levels: u64,
}

/// Levels of at least this size are merged by several threads.
const WORTH_THREADS: usize = 1 << 15;

/// A chain whose next event has a predecessor further away than so many levels gets no field in a stage. A stage that
/// leaves out a chain for this reason has no more levels than this.
const FAR: u32 = 64;

/// By depth: the number of cuts to which a level was narrowed.
pub(crate) type Narrowings = BTreeMap<u64, u64>;

/// How a search goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    /// It goes on with another stage.
    Stage,
    /// It goes on when more messages have been received.
    Wait,
    /// It is over.
    Done,
}

/// A search in progress.
pub(crate) struct Search<P: Payload> {
    pub(crate) payload: P,
    layout: Arc<Layout>,
    keys: Keys,
    pub(crate) column: P::Column,
    /// The memory of an older level, to be used again.
    spare: P::Column,
    /// The number of the current level: how many events its cuts have.
    pub(crate) depth: u64,
    /// The cut of the recorded run on this level.
    recorded: Vec<u32>,
    pub(crate) figures: Figures,
    pub(crate) shortened: BTreeSet<Shortened>,
    pub(crate) history: Option<History<P::Column>>,
    pub(crate) found: Vec<FoundViolation>,
    /// The number of owners without a violation so far.
    open: usize,
    pub(crate) narrowings: Narrowings,
    /// Whether this is a second search, to read back a path: it reports nothing, and narrows where the first one did.
    repeats: bool,
    /// A second search visits only subsets of this cut.
    bound: Option<Vec<u32>>,
    pub(crate) done: bool,
}

impl<P: Payload> Search<P> {
    pub(crate) fn new(mut payload: P, limits: &Limits<'_>, owners: usize) -> Search<P> {
        let (column, carries) = payload.start();
        let found: Vec<FoundViolation> =
            payload.found().into_iter().map(|candidate| FoundViolation { candidate, depth: 0 }).collect();
        let open = owners - found.len();
        Search {
            payload,
            layout: Arc::new(Layout { bits: 64, ..Layout::default() }),
            keys: Keys::base(),
            column,
            spare: P::Column::default(),
            depth: 0,
            recorded: Vec::new(),
            figures: Figures { cuts: 1, widest: 1, levels: 1 },
            shortened: BTreeSet::new(),
            history: limits.history.map(|bytes| History::new(bytes, 0)),
            found,
            open,
            narrowings: Narrowings::new(),
            repeats: false,
            bound: None,
            done: open == 0 || carries == 0,
        }
    }

    /// A second search from a stored level, which visits only subsets of `bound`, if given.
    pub(crate) fn repeat(
        payload: P,
        mut from: StoredLevel<P::Column>,
        depth: u64,
        bound: Option<Vec<u32>>,
        narrowings: Narrowings,
        bytes: usize,
    ) -> Search<P> {
        if let Some(bound) = &bound {
            let within = from.keys.within(&from.layout, bound);
            from.keys.retain(&within);
            P::retain(&mut from.column, &within);
        }
        Search {
            payload,
            layout: from.layout,
            keys: from.keys,
            column: from.column,
            spare: P::Column::default(),
            depth,
            recorded: from.recorded,
            figures: Figures::default(),
            shortened: BTreeSet::new(),
            history: Some(History::new(bytes, depth)),
            found: Vec::new(),
            open: usize::MAX,
            narrowings,
            repeats: true,
            bound,
            done: false,
        }
    }

    /// Whether every owner has a violation, so that nothing more can be found.
    pub(crate) fn has_found_all(&self) -> bool {
        self.open == 0
    }

    /// Continues as far as the messages and the limits allow, but not beyond depth `until`.
    pub(crate) fn advance(&mut self, messages: &Messages<'_>, limits: &Limits<'_>, until: u64) {
        while !self.done && self.depth < until {
            if let Some(why) = limits.must_stop() {
                self.shortened.insert(why);
                self.done = true;
                break;
            }
            let Some(layout) = self.lay_out(messages) else {
                self.shortened.insert(Shortened::Chains(messages.chains.len() as u64));
                self.done = true;
                break;
            };
            if *self.layout != layout {
                self.keys = self.keys.repacked(&self.layout, &layout);
                self.layout = Arc::new(layout);
            }
            let keys = std::mem::replace(&mut self.keys, Keys::base());
            let next = with_keys!(keys, K: keys => self.stage::<K>(keys, messages, limits, until));
            match next {
                Next::Stage => {}
                Next::Wait => break,
                Next::Done => self.done = true,
            }
        }
    }

    /// The layout of the stage that begins with the current level.
    fn lay_out(&self, messages: &Messages<'_>) -> Option<Layout> {
        let (mut base, mut most) = self.keys.extent(&self.layout);
        base.resize(messages.chains.len(), 0);
        most.resize(messages.chains.len(), 0);
        let bound = self.bound.as_deref();
        let mut reach: Vec<ChainExtent> = (0..messages.chains.len() as u32)
            .map(|chain| {
                let taken = base[chain as usize];
                let events = end_of(messages, chain, bound).saturating_sub(taken);
                ChainExtent { chain, ahead: most[chain as usize] - taken, events }
            })
            .filter(|reach| reach.events > 0)
            .collect();
        // Chains that cannot move for many levels get no field.
        let chains = reach.len();
        loop {
            let mut top = base.clone();
            for reach in &reach {
                top[reach.chain as usize] += reach.events.min(reach.ahead.saturating_add(FAR));
            }
            let before = reach.len();
            reach.retain(|reach| {
                let first = messages.event(reach.chain, base[reach.chain as usize]);
                reach.ahead > 0
                    || messages.predecessors(first).iter().all(|prefix| prefix.count <= top[prefix.chain as usize])
            });
            if reach.len() == before {
                break;
            }
        }
        let mut layout = Layout::new(base, &reach)?;
        if reach.len() < chains {
            layout.levels = layout.levels.min(FAR);
        }
        Some(layout)
    }

    /// Computes levels until the stage is over.
    fn stage<K: Wide>(&mut self, keys: Vec<K>, messages: &Messages<'_>, limits: &Limits<'_>, until: u64) -> Next {
        let layout = self.layout.clone();
        let tables = Tables::<K>::new(&layout, messages, self.bound.as_deref());
        let mut level = Level { keys, column: std::mem::take(&mut self.column) };
        let mut spare: Vec<K> = Vec::new();
        let mut next = Next::Stage;
        for _ in 0..layout.levels {
            if self.depth >= until {
                break;
            }
            if let Some(why) = limits.must_stop() {
                self.shortened.insert(why);
                next = Next::Done;
                break;
            }
            if !self.has_arrived(&level.keys, &layout, messages) {
                next = Next::Wait;
                break;
            }
            let recorded = self.recorded.clone();
            self.follow_recorded(messages);
            let mut to = Level { keys: std::mem::take(&mut spare), column: P::clear(std::mem::take(&mut self.spare)) };
            self.payload.begin(level.keys.len(), &self.recorded);
            let merge = Merge { tables: &tables, layout: &layout, messages, from: &level };
            let threads = if level.keys.len() < WORTH_THREADS { 1 } else { limits.threads };
            self.payload.merge(&merge, &mut to, threads);
            let found = self.payload.found();
            let depth = self.depth;
            let old = std::mem::replace(&mut level, to);
            match &mut self.history {
                Some(history) if history.wants(depth) => {
                    history.keep::<P>(depth, layout.clone(), K::wrap(old.keys), old.column, recorded);
                }
                _ => {
                    spare = old.keys;
                    spare.clear();
                    self.spare = old.column;
                }
            }
            if self.repeats {
                self.payload.revive();
            } else {
                self.open -= found.len();
                self.found.extend(found.into_iter().map(|candidate| {
                    let depth = depth + u64::from(candidate.terminal.is_none());
                    FoundViolation { candidate, depth }
                }));
            }
            if level.keys.is_empty() || self.open == 0 {
                next = Next::Done;
                break;
            }
            self.depth += 1;
            self.figures.levels += 1;
            self.figures.cuts += level.keys.len() as u64;
            self.figures.widest = self.figures.widest.max(level.keys.len() as u64);
            self.narrow(&mut level, &layout, messages, limits);
            if self.done {
                next = Next::Done;
                break;
            }
            if self.depth == messages.len() && messages.has_ended() && !messages.has_gaps() && !self.repeats {
                self.judge_ends(&level.column, messages);
            }
        }
        self.keys = K::wrap(level.keys);
        self.column = level.column;
        next
    }

    /// Looks at the cut of all events for runs that fail at their end.
    fn judge_ends(&mut self, column: &P::Column, messages: &Messages<'_>) {
        let cut: Vec<u32> = messages.chains.iter().map(|chain| chain.ready).collect();
        self.payload.end(column, &cut);
        let ended = self.payload.found();
        self.open -= ended.len();
        self.found.extend(ended.into_iter().map(|candidate| FoundViolation { candidate, depth: self.depth }));
    }

    /// Narrows a level that exceeds the limits.
    fn narrow<K: Wide>(
        &mut self,
        level: &mut Level<K, P::Column>,
        layout: &Layout,
        messages: &Messages<'_>,
        limits: &Limits<'_>,
    ) {
        let cuts = level.keys.len() as u64;
        if self.repeats {
            if let Some(&keep) = self.narrowings.get(&self.depth).filter(|&&keep| cuts > keep) {
                self.keep(level, layout, keep);
            }
            return;
        }
        if self.payload.overhead() > limits.bytes {
            self.shortened.insert(Shortened::Memory(cuts));
            self.done = true;
            return;
        }
        let bytes = level.keys.len() * size_of::<K>() + P::bytes(&level.column);
        let fits = (limits.bytes as u64 / 2).saturating_mul(cuts) / (bytes as u64).max(1);
        let free = |most: u64| if P::EXACT { most } else { most / 2 };
        let spent = limits.max_cuts.filter(|&most| self.figures.cuts > free(most)).map(|most| {
            let levels = messages.len().saturating_sub(self.depth).max(1);
            (Shortened::MaxCuts(most), most.saturating_sub(self.figures.cuts) / levels)
        });
        let limits = [
            limits.breadth.map(|breadth| (Shortened::Breadth(breadth), breadth)),
            Some((Shortened::Memory(fits), fits)),
            spent,
        ];
        let Some((why, keep)) = limits.into_iter().flatten().min_by_key(|(_, keep)| *keep) else { return };
        let keep = keep.max(1);
        if cuts > keep {
            self.shortened.insert(why);
            if P::EXACT {
                self.done = true;
                return;
            }
            self.narrowings.insert(self.depth, keep);
            self.keep(level, layout, keep);
        }
    }

    /// Narrows a level to the `keep` cuts that are nearest to the recorded run.
    fn keep<K: Wide>(&self, level: &mut Level<K, P::Column>, layout: &Layout, keep: u64) {
        let kept = nearest(&level.keys, layout, &self.recorded, keep as usize);
        let mut keeps = kept.iter();
        level.keys.retain(|_| *keeps.next().expect("one for each cut"));
        P::retain(&mut level.column, &kept);
    }

    /// Moves the cut of the recorded run to the next level.
    fn follow_recorded(&mut self, messages: &Messages<'_>) {
        self.recorded.resize(messages.chains.len(), 0);
        let next = (0..messages.chains.len() as u32)
            .filter(|&chain| self.recorded[chain as usize] < messages.chains[chain as usize].ready)
            .min_by_key(|&chain| messages.event(chain, self.recorded[chain as usize]).index);
        if let Some(chain) = next {
            self.recorded[chain as usize] += 1;
        }
    }

    /// Whether every event that could continue a cut of the level has been received.
    fn has_arrived<K: Key>(&self, keys: &[K], layout: &Layout, messages: &Messages<'_>) -> bool {
        if self.repeats || messages.has_ended() {
            return true;
        }
        let mut most = layout.base.clone();
        for field in &layout.fields {
            let ahead = keys.iter().map(|key| key.field(field.shift, field.mask)).max().unwrap_or(0);
            most[field.chain as usize] += ahead;
        }
        most.resize(messages.chains.len(), 0);
        messages.chains.iter().zip(&most).all(|(chain, &most_taken)| {
            chain.ended || chain.ready > most_taken || chain.next_follows.iter().any(|prefix| !prefix.is_within(&most))
        })
    }
}

//! The trace as the search for predicted violations sees it: who accesses what in which block, holding which sections.

use super::sync::Blocks;
use event::{Batch, BlockId, Event, Id, LockId, Names, Op, Space};
use reach::Excerpt;
use rustc_hash::{FxHashMap, FxHashSet};

/// Stands for no block.
pub(super) const NONE: u32 = u32::MAX;

/// A section of a lock that a thread is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Section {
    lock: LockId,
    exclusive: bool,
    depth: u32,
    /// Its number.
    number: u32,
}

/// What the whole trace tells of each event.
pub(super) struct Whole {
    /// By event: the first event of its block, or [`NONE`].
    pub(super) block: Vec<u32>,
    /// By event: which of the sets of sections its thread is in.
    held: Vec<u32>,
    sets: Vec<Vec<Section>>,
}

#[derive(Clone, Default)]
struct Thread {
    blocks: Blocks,
    outermost: Option<(u64, u32)>,
    held: Vec<Section>,
    given_up: Vec<Section>,
    set: u32,
}

impl Whole {
    /// Looks through a trace; only blocks of these names count, if some are given.
    pub(super) fn new(names: &Names, batch: &Batch, of: Option<&FxHashSet<String>>) -> Whole {
        let count = names.space(Space::Block).len();
        let counts: Vec<bool> =
            (0..count).map(|b| of.is_none_or(|of| of.contains(names.block(BlockId::from_index(b))))).collect();
        let mut threads = vec![Thread::default(); names.space(Space::Thread).len()];
        let mut whole = Whole { block: Vec::new(), held: Vec::new(), sets: vec![Vec::new()] };
        let mut sections = 0;
        for (at, &event) in (0u32..).zip(&batch.events) {
            let thread = &mut threads[event.thread().index()];
            if event.op() == Op::Begin {
                if thread.outermost.is_none() && counts[event.block().index()] {
                    thread.outermost = Some((thread.blocks.depth(), at));
                }
                thread.blocks.begin(event.block());
            }
            whole.block.push(thread.outermost.map_or(NONE, |(_, begin)| begin));
            if event.op() == Op::End {
                thread.blocks.end(event.block());
                thread.outermost = thread.outermost.filter(|(depth, _)| thread.blocks.depth() > *depth);
            }
            if thread.lock(batch, event, &mut sections) {
                thread.set = whole.sets.len() as u32;
                whole.sets.push(thread.held.clone());
            }
            whole.held.push(thread.set);
        }
        whole
    }

    /// Whether sections of locks keep the second pair of events, of another thread, from being one after the first of `mine` and
    /// one before the last of `mine`: `mine` are in one section, and `theirs` in one that excludes it; or only
    /// one of them is, and they are in the order of their thread, so that the first comes after mine or the last before.
    pub(super) fn exclude(&self, mine: [u32; 2], theirs: [u32; 2]) -> bool {
        let sets = |pair: [u32; 2]| pair.map(|event| &self.sets[self.held[event as usize] as usize]);
        let ([first, last], [other_first, other_last]) = (sets(mine), sets(theirs));
        let through = |section: &&Section, set: &[Section]| set.iter().any(|s| s.number == section.number);
        first.iter().filter(|section| through(section, last)).any(|section| {
            let excludes = |other: &&Section| other.lock == section.lock && (other.exclusive || section.exclusive);
            let one = |set: &[Section]| set.iter().any(|other| excludes(&other));
            theirs[0] <= theirs[1] && (one(other_first) || one(other_last))
                || other_first.iter().filter(excludes).any(|other| through(&other, other_last))
        })
    }
}

impl Thread {
    /// Whether the event changes the sections that the thread is in.
    fn lock(&mut self, batch: &Batch, event: Event, sections: &mut u32) -> bool {
        match event.op() {
            Op::Acquire | Op::TryAcquire | Op::ReadAcquire => {
                let (lock, exclusive) = (event.lock(), event.op() != Op::ReadAcquire);
                if let Some(held) = self.held.iter_mut().find(|s| (s.lock, s.exclusive) == (lock, exclusive)) {
                    held.depth = held.depth.saturating_add(1);
                } else {
                    *sections += 1;
                    self.held.push(Section { lock, exclusive, depth: 1, number: *sections });
                }
            }
            Op::Release | Op::ReadRelease => {
                let (lock, exclusive) = (event.lock(), event.op() == Op::Release);
                if let Some(held) = self.held.iter_mut().find(|s| (s.lock, s.exclusive) == (lock, exclusive)) {
                    held.depth -= 1;
                }
                self.held.retain(|section| section.depth > 0);
            }
            Op::Wait => {
                let lock = batch.extra(event).lock;
                self.given_up = self.held.extract_if(.., |section| section.lock == lock).collect();
            }
            Op::Woken => {
                let lock = batch.extra(event).lock;
                for section in std::mem::take(&mut self.given_up).into_iter().filter(|section| section.lock == lock) {
                    *sections += 1;
                    self.held.push(Section { number: *sections, ..section });
                }
            }
            _ => return false,
        }
        true
    }
}

/// An access of a variable that several threads access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// Its index in the trace.
    pub(super) index: u32,
    pub(super) event: Event,
    /// The first event of its block, or [`NONE`].
    pub(super) block: u32,
}

pub(super) fn is_read(op: Op) -> bool {
    matches!(op, Op::Read | Op::AtomicLoad)
}

impl Access {
    /// Whether two accesses conflict, as far as threads are different.
    pub(super) fn conflicts(&self, other: &Access) -> bool {
        let (mine, theirs) = (self.event, other.event);
        let both_read = is_read(mine.op()) && is_read(theirs.op());
        mine.object() == theirs.object() && mine.thread() != theirs.thread() && !both_read
    }

    /// What makes another access of the same block one that need not be looked at beside this one.
    pub(super) fn kind(&self) -> (u32, u32, bool) {
        (self.event.site().0, self.event.object(), is_read(self.event.op()))
    }
}

/// The accesses of a window.
#[derive(Default)]
pub(super) struct Window {
    pub(super) all: Vec<Access>,
    /// By variable: places in `all`.
    pub(super) vars: FxHashMap<u32, Vec<u32>>,
    /// By block: places in `all`.
    pub(super) blocks: FxHashMap<u32, Vec<u32>>,
    /// Blocks with accesses, in recorded order.
    pub(super) order: Vec<u32>,
}

impl Window {
    pub(super) fn new(whole: &Whole, excerpt: &Excerpt) -> Window {
        #[derive(Clone, Copy)]
        struct Use {
            thread: u32,
            shared: bool,
            written: bool,
        }
        let window = excerpt.window.start as u32..excerpt.window.end as u32;
        let events = || window.clone().zip(&excerpt.batch.events[excerpt.fixed..]);
        let accesses = |op: Op| op.has_value() || matches!(op, Op::Alloc | Op::Free);
        let mut uses: FxHashMap<u32, Use> = FxHashMap::default();
        for (_, event) in events().filter(|(_, event)| accesses(event.op())) {
            let thread = event.thread().0;
            let used = uses.entry(event.object()).or_insert(Use { thread, shared: false, written: false });
            used.shared |= used.thread != thread;
            used.written |= !is_read(event.op());
        }
        let mut made = Window::default();
        for (index, &event) in events().filter(|(_, event)| accesses(event.op())) {
            if uses.get(&event.object()).is_none_or(|used| !(used.shared && used.written)) {
                continue;
            }
            let place = made.all.len() as u32;
            let block = whole.block[index as usize];
            made.all.push(Access { index, event, block });
            made.vars.entry(event.object()).or_default().push(place);
            if block != NONE {
                let places = made.blocks.entry(block).or_default();
                if places.is_empty() {
                    made.order.push(block);
                }
                places.push(place);
            }
        }
        made
    }
}

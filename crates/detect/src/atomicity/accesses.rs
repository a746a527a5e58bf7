//! The trace as the search for predicted violations sees it: who accesses what in which block, holding which sections.

pub(super) use crate::sections::NONE;

use super::blocks::Blocks;
use crate::sections::{Holds, Section, Sections};
use event::{Batch, BlockId, Event, Id, Names, Op, Space};
use rustc_hash::{FxHashMap, FxHashSet};

/// Of the sections that a thread is in, so many are looked at: whether two events are kept apart is a quick look before
/// a question that is exact, and must not cost more than that.
const MOST_LOOKED_AT: usize = 32;

/// What the whole trace says about each event.
pub(super) struct Whole {
    /// By event: the first event of its block, or [`NONE`].
    pub(super) block: Vec<u32>,
    /// By event: the list of the sections that its thread has open behind it.
    held: Vec<u32>,
    sections: Vec<Section>,
    holds: Holds,
}

#[derive(Clone, Default)]
struct Thread {
    blocks: Blocks,
    outermost: Option<(u64, u32)>,
}

impl Whole {
    /// Looks through a trace; only blocks of these names count, if some are given.
    pub(super) fn new(names: &Names, batch: &Batch, of: Option<&FxHashSet<String>>) -> Whole {
        let count = names.space(Space::Block).len();
        let counts: Vec<bool> =
            (0..count).map(|b| of.is_none_or(|of| of.contains(names.block(BlockId::from_index(b))))).collect();
        let mut threads = vec![Thread::default(); names.space(Space::Thread).len()];
        let (mut block, mut held) = (Vec::new(), Vec::new());
        let mut sections = Sections::default();
        let mut acts = Vec::new();
        for (at, &event) in (0u32..).zip(&batch.events) {
            let thread = &mut threads[event.thread().index()];
            if event.op() == Op::Begin {
                if thread.outermost.is_none() && counts[event.block().index()] {
                    thread.outermost = Some((thread.blocks.depth(), at));
                }
                thread.blocks.begin(event.block());
            }
            block.push(thread.outermost.map_or(NONE, |(_, begin)| begin));
            if event.op() == Op::End {
                thread.blocks.end(event.block());
                thread.outermost = thread.outermost.filter(|(depth, _)| thread.blocks.depth() > *depth);
            }
            let chain = event.thread().0;
            sections.step(batch, at, event, chain, &mut acts);
            held.push(sections.held(chain));
        }
        Whole { block, held, sections: sections.all, holds: sections.holds }
    }

    /// The sections that are open from one event of a thread to a later one, as far as they are looked at.
    fn through(&self, first: u32, last: u32) -> impl Iterator<Item = &Section> {
        let list = self.holds.list(self.held[first as usize]).take(MOST_LOOKED_AT);
        list.map(|number| &self.sections[number as usize]).filter(move |section| section.close > last)
    }

    /// Whether sections of locks keep the second pair of events, of another thread, from being one after the first of
    /// `mine` and one before the last of `mine`: `mine` are in one section, and `theirs` in one that excludes it; or
    /// only one of them is, and they are in the order of their thread, so that the first comes after mine or the last
    /// before. It may say no where yes is true.
    pub(super) fn exclude(&self, mine: [u32; 2], theirs: [u32; 2]) -> bool {
        self.through(mine[0], mine[1]).any(|section| {
            let excludes = |other: &Section| other.lock == section.lock && !(other.shared && section.shared);
            if theirs[0] <= theirs[1] {
                theirs.iter().any(|&event| self.through(event, event).any(excludes))
            } else {
                self.through(theirs[1], theirs[0]).any(excludes)
            }
        })
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
    op.only_reads()
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
pub(super) struct WindowAccesses {
    pub(super) all: Vec<Access>,
    /// By variable: places in `all`.
    pub(super) vars: FxHashMap<u32, Vec<u32>>,
    /// By block: places in `all`.
    pub(super) blocks: FxHashMap<u32, Vec<u32>>,
    /// Blocks with accesses, in recorded order.
    pub(super) order: Vec<u32>,
}

impl WindowAccesses {
    /// Those of the events of a window, the first of which has this index.
    pub(super) fn new(whole: &Whole, window: &[Event], first: usize) -> WindowAccesses {
        #[derive(Clone, Copy)]
        struct Use {
            thread: u32,
            shared: bool,
            written: bool,
        }
        let accesses = |op: Op| op.is_access();
        let events = || (first as u32..).zip(window).filter(|(_, event)| accesses(event.op()));
        let mut uses: FxHashMap<u32, Use> = FxHashMap::default();
        for (_, event) in events() {
            let thread = event.thread().0;
            let used = uses.entry(event.object()).or_insert(Use { thread, shared: false, written: false });
            used.shared |= used.thread != thread;
            used.written |= !is_read(event.op());
        }
        let mut made = WindowAccesses::default();
        for (index, &event) in events() {
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

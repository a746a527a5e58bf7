//! Predicts an event's site and object from what came before, so that only mispredictions are stored. Writer and reader
//! hold equal predictors at every event.
//!
//! Each prediction has a table of fixed size (collisions cost bytes, never correctness):
//!
//! 1. An operation on an object has the site that it had the last time.
//! 2. A site is followed by the site that followed it the last time in that thread.
//! 3. A site walks through memory with a constant stride.
//! 4. A site is reached by the calls by which it was reached the last time.
//!
//! The second and the third are worth their tables only where programs loop, and the first only where the others fail:
//! a frame says which it uses.

use super::action_predictor::boxed;
use super::frame::{FLAG_BY_SITE, FLAG_ONLY_BY_SITE};

/// By what a frame predicts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PredictBy {
    /// The last site of an operation on an object.
    Object,
    /// Both.
    Both,
    /// The successor and the stride of a site.
    Site,
}

impl PredictBy {
    pub(super) fn flags(self) -> u8 {
        match self {
            PredictBy::Object => 0,
            PredictBy::Both => FLAG_BY_SITE,
            PredictBy::Site => FLAG_BY_SITE | FLAG_ONLY_BY_SITE,
        }
    }

    pub(super) fn from_flags(flags: u8) -> PredictBy {
        match (flags & FLAG_BY_SITE != 0, flags & FLAG_ONLY_BY_SITE != 0) {
            (false, _) => PredictBy::Object,
            (true, false) => PredictBy::Both,
            (true, true) => PredictBy::Site,
        }
    }
}

/// Bits of the byte that says how an event was predicted.
pub(super) mod code {
    /// The object is the one the following site's stride leads to.
    pub(crate) const OBJECT_BY_STRIDE: u8 = 1;
    /// The site is the one this operation had on this object the last time.
    pub(crate) const SITE_BY_OBJECT: u8 = 0;
    /// The site is the one that followed the thread's previous site the last time.
    pub(crate) const SITE_BY_SITE: u8 = 1 << 1;
    /// The site is stored.
    pub(crate) const SITE_STORED: u8 = 2 << 1;
    pub(crate) const SITE_MASK: u8 = 3 << 1;
    /// The event has an extra.
    pub(crate) const HAS_EXTRA: u8 = 1 << 3;
    /// The event's call stack is the last one that was stored for its site; its extra, if it has one, says all else.
    pub(crate) const STACK_BY_SITE: u8 = 1 << 4;
    /// Every bit that has a meaning.
    pub(crate) const ALL: u8 = OBJECT_BY_STRIDE | SITE_MASK | HAS_EXTRA | STACK_BY_SITE;
}

const OBJECTS: usize = 1 << 18;
const SITES: usize = 1 << 16;
const THREADS: usize = 1 << 12;

/// What happened at a site before.
#[derive(Clone, Copy, Default)]
struct SiteHistory {
    /// The site that followed it.
    next: u32,
    /// The object it last touched.
    object: u32,
    /// How far that was from the object before.
    stride: u32,
}

pub(super) struct EventPredictor {
    /// By operation and object: the last site.
    sites: Box<[u32; OBJECTS]>,
    /// By site.
    histories: Box<[SiteHistory; SITES]>,
    /// By thread: its last site.
    last: Box<[u32; THREADS]>,
    /// By site: the last call stack that was stored.
    stacks: Box<[u32; SITES]>,
}

impl EventPredictor {
    pub(super) fn new() -> Self {
        EventPredictor { sites: boxed(), histories: boxed(), last: boxed(), stacks: boxed() }
    }

    pub(super) fn reset(&mut self) {
        self.sites.fill(0);
        self.histories.fill(SiteHistory::default());
        self.last.fill(0);
        self.stacks.fill(0);
    }

    /// The last site of a thread: where its next run of events continues.
    #[inline]
    pub(super) fn enter(&self, thread: u32) -> u32 {
        self.last[thread as usize % THREADS]
    }

    /// Remembers a thread's last site when its run of events ends.
    #[inline]
    pub(super) fn leave(&mut self, thread: u32, site: u32) {
        self.last[thread as usize % THREADS] = site;
    }

    /// The site that followed this one the last time.
    #[inline]
    pub(super) fn next_site(&self, previous: u32) -> u32 {
        self.histories[previous as usize % SITES].next
    }

    /// The object that a site will touch if it keeps its stride.
    #[inline]
    pub(super) fn next_object(&self, site: u32) -> u32 {
        let history = self.histories[site as usize % SITES];
        history.object.wrapping_add(history.stride)
    }

    #[inline]
    fn slot(op: u8, object: u32) -> usize {
        // Reads and writes of one object side by side; other operations elsewhere.
        let op = u32::from(op);
        (object.wrapping_mul(2).wrapping_add(op & 1) ^ (op >> 1).wrapping_mul(0x9E37_79B1)) as usize % OBJECTS
    }

    /// The site this operation had on this object the last time.
    #[inline]
    pub(super) fn site_of(&self, op: u8, object: u32) -> u32 {
        self.sites[Self::slot(op, object)]
    }

    /// Learns the site of an operation on an object.
    #[inline]
    pub(super) fn learn_site(&mut self, op: u8, object: u32, site: u32) {
        self.sites[Self::slot(op, object)] = site;
    }

    /// Learns what a site touched, and that it followed another.
    #[inline]
    pub(super) fn learn_successor(&mut self, previous: u32, object: u32, site: u32) {
        self.histories[previous as usize % SITES].next = site;
        let history = &mut self.histories[site as usize % SITES];
        history.stride = object.wrapping_sub(history.object);
        history.object = object;
    }

    /// The call stack of a site.
    #[inline]
    pub(super) fn stack_of(&self, site: u32) -> u32 {
        self.stacks[site as usize % SITES]
    }

    /// Learns the call stack of a site.
    #[inline]
    pub(super) fn learn_stack(&mut self, site: u32, stack: u32) {
        self.stacks[site as usize % SITES] = stack;
    }
}

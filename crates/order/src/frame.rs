//! What a model makes of a trace: elements in lanes, what each needs, and rules.

use crate::rules::{Act, Guard, Rules};
use event::ThreadId;

/// The first `count` elements of a lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Need {
    /// The lane.
    pub lane: u32,
    /// How many of its elements.
    pub count: u32,
}

/// An event that matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element {
    /// Its index in the trace.
    pub event: u64,
    pub(crate) needs: (u32, u32),
    pub(crate) guard: Guard,
    pub(crate) act: Act,
}

/// The elements of one thread, in its order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    /// The thread.
    pub thread: ThreadId,
    /// Its elements.
    pub elements: Vec<Element>,
}

/// The elements of a trace, or of a window of it, under one model.
#[derive(Clone, Default, Debug)]
pub struct Frame {
    /// One lane for each thread that has elements, by the time of its first one.
    pub lanes: Vec<Lane>,
    pub(crate) needs: Vec<Need>,
    /// What depends on the cut or on the path.
    pub rules: Rules,
}

impl Frame {
    /// What an element needs beyond what the element before it in its lane needed: of every lane at most once, and
    /// never of its own.
    #[inline]
    pub fn needs(&self, element: &Element) -> &[Need] {
        &self.needs[element.needs.0 as usize..element.needs.1 as usize]
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.lanes.iter().map(|lane| lane.elements.len()).sum()
    }

    /// Nothing matters.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Whether some element has a rule that depends on the cut or on the path.
    pub fn has_rules(&self) -> bool {
        self.lanes.iter().flat_map(|lane| &lane.elements).any(Element::is_ruled)
    }
}

impl Element {
    /// It has a rule that depends on the cut or on the path.
    #[inline]
    pub fn is_ruled(&self) -> bool {
        self.guard != Guard::None || self.act != Act::None
    }
}

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

impl Frame {
    /// The frame of some of the elements, which need of each other what they need in this one: for frames whose elements
    /// say all that they need, as those of `full-hb` and `sync-only` do. Rules are not kept: it must have none.
    pub fn project(&self, keep: impl Fn(u64) -> bool) -> Frame {
        debug_assert!(!self.has_rules());
        // By lane of this frame: how many of its first elements are kept, and the new lane.
        let mut kept: Vec<Vec<u32>> = Vec::with_capacity(self.lanes.len());
        let mut lanes: Vec<Option<u32>> = Vec::with_capacity(self.lanes.len());
        let mut frame = Frame::default();
        for lane in &self.lanes {
            let mut counts = Vec::with_capacity(lane.elements.len() + 1);
            counts.push(0);
            let mut count = 0;
            for element in &lane.elements {
                count += u32::from(keep(element.event));
                counts.push(count);
            }
            kept.push(counts);
            lanes.push((count > 0).then(|| {
                frame.lanes.push(Lane { thread: lane.thread, elements: Vec::with_capacity(count as usize) });
                frame.lanes.len() as u32 - 1
            }));
        }
        let mut pending: Vec<u32> = vec![0; self.lanes.len()];
        let mut changed: Vec<u32> = Vec::new();
        for (number, lane) in self.lanes.iter().enumerate() {
            let Some(own) = lanes[number] else { continue };
            let mut told: Vec<u32> = vec![0; frame.lanes.len()];
            for (at, element) in lane.elements.iter().enumerate() {
                for need in self.needs(element) {
                    if pending[need.lane as usize] == 0 {
                        changed.push(need.lane);
                    }
                    let most = &mut pending[need.lane as usize];
                    *most = need.count.max(*most);
                }
                if kept[number][at] == kept[number][at + 1] {
                    continue;
                }
                let from = frame.needs.len() as u32;
                changed.sort_unstable();
                for other in changed.drain(..) {
                    let count = kept[other as usize][std::mem::take(&mut pending[other as usize]) as usize];
                    if let Some(lane) = lanes[other as usize]
                        && count > told[lane as usize]
                    {
                        told[lane as usize] = count;
                        frame.needs.push(Need { lane, count });
                    }
                }
                let needs = (from, frame.needs.len() as u32);
                frame.lanes[own as usize].elements.push(Element { needs, ..*element });
            }
            changed.drain(..).for_each(|other| pending[other as usize] = 0);
        }
        frame
    }
}

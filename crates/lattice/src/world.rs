//! The elements that have arrived, by lane. Messages may come in any order.

use order::{Element, Frame, Need, Rules};

/// An element, its number in its lane and what it needs: the paper's message ⟨event, thread, clock⟩, where of the clock only
/// those entries stand that grew since the element before it in its lane.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The lane.
    pub lane: u32,
    /// Which element of the lane it is, from 0.
    pub number: u32,
    /// The index of its event in the trace.
    pub event: u64,
    /// What it does to the automaton.
    pub class: u32,
    /// What it needs of other lanes.
    pub needs: &'a [Need],
}

/// An element that has arrived.
#[derive(Clone, Debug)]
pub(crate) struct Arrived {
    pub(crate) event: u64,
    pub(crate) class: u32,
    needs: (u32, u32),
}

#[derive(Clone, Default, Debug)]
pub(crate) struct LaneWorld {
    slots: Vec<Option<Arrived>>,
    /// How many have arrived without a gap.
    pub(crate) ready: u32,
    /// No more will come.
    pub(crate) ended: bool,
    /// What the next element will need at least.
    pub(crate) bound: Vec<Need>,
}

/// Everything that has arrived.
pub(crate) struct World<'f> {
    pub(crate) lanes: Vec<LaneWorld>,
    needs: Vec<Need>,
    /// Where the rules are.
    pub(crate) frame: Option<&'f Frame>,
    /// One more than the greatest class so far.
    pub(crate) classes: u32,
}

impl<'f> World<'f> {
    pub(crate) fn new(frame: Option<&'f Frame>) -> World<'f> {
        World { lanes: Vec::new(), needs: Vec::new(), frame: frame.filter(|f| f.has_rules()), classes: 0 }
    }

    pub(crate) fn lane(&mut self, lane: u32) -> &mut LaneWorld {
        if self.lanes.len() <= lane as usize {
            self.lanes.resize_with(lane as usize + 1, LaneWorld::default);
        }
        &mut self.lanes[lane as usize]
    }

    /// Lanes that are needed are known, too.
    fn know(&mut self, needs: &[Need]) {
        for need in needs {
            self.lane(need.lane);
        }
    }

    pub(crate) fn progress(&mut self, lane: u32, needs: &[Need]) {
        self.know(needs);
        let bound = &mut self.lane(lane).bound;
        bound.clear();
        bound.extend_from_slice(needs);
    }

    pub(crate) fn message(&mut self, message: Message<'_>) {
        let from = self.needs.len() as u32;
        self.needs.extend_from_slice(message.needs);
        let needs = (from, self.needs.len() as u32);
        self.know(message.needs);
        self.classes = self.classes.max(message.class + 1);
        let lane = self.lane(message.lane);
        if lane.slots.len() <= message.number as usize {
            lane.slots.resize(message.number as usize + 1, None);
        }
        lane.slots[message.number as usize] = Some(Arrived { event: message.event, class: message.class, needs });
        while lane.slots.get(lane.ready as usize).is_some_and(Option::is_some) {
            lane.ready += 1;
        }
    }

    /// An element that has arrived.
    #[inline]
    pub(crate) fn element(&self, lane: u32, number: u32) -> &Arrived {
        self.lanes[lane as usize].slots[number as usize].as_ref().expect("it has arrived")
    }

    /// What it needs beyond the element before it.
    #[inline]
    pub(crate) fn needs(&self, element: &Arrived) -> &[Need] {
        &self.needs[element.needs.0 as usize..element.needs.1 as usize]
    }

    /// Its rules, if it has any.
    #[inline]
    pub(crate) fn ruled(&self, lane: u32, number: u32) -> Option<(&'f Rules, &'f Element)> {
        let frame = self.frame?;
        let element = &frame.lanes[lane as usize].elements[number as usize];
        element.is_ruled().then_some((&frame.rules, element))
    }

    /// No more will come, anywhere.
    pub(crate) fn has_ended(&self) -> bool {
        self.lanes.iter().all(|lane| lane.ended)
    }

    /// Whether some element is missing before one that has arrived.
    pub(crate) fn has_gaps(&self) -> bool {
        self.lanes.iter().any(|lane| lane.slots.len() > lane.ready as usize)
    }

    /// How many elements have arrived in order.
    pub(crate) fn len(&self) -> u64 {
        self.lanes.iter().map(|lane| u64::from(lane.ready)).sum()
    }
}

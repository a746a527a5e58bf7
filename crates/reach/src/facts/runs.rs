//! The sections of each lock by chain, for locks that more than one thread takes.

use super::{Chains, NONE, Section};
use rustc_hash::FxHashMap;

/// A section in terms of its chain: it is open in sets that have at least so many events of the chain, and fewer than
/// so many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub(crate) section: u32,
    /// How many events of its chain it takes to open it; 0: the window begins with it.
    pub(crate) open: u32,
    /// How many to close it; [`NONE`]: it never closes.
    pub(crate) close: u32,
}

/// The sections of one lock, one chain and one kind, in order.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) chain: u32,
    pub(crate) shared: bool,
    pub(crate) stretches: Vec<Stretch>,
}

impl Run {
    /// The last section that is open or was, when so many events of its chain have come.
    #[inline]
    pub(crate) fn last_opened(&self, count: u32) -> Option<&Stretch> {
        let opened = self.stretches.partition_point(|stretch| stretch.open <= count);
        self.stretches[..opened].last()
    }
}

/// Where a section is found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SectionPlace {
    /// The number of its lock among those that matter; [`NONE`] if nothing can hinder it.
    pub(crate) lock: u32,
    pub(crate) chain: u32,
    pub(crate) shared: bool,
    pub(crate) open: u32,
    pub(crate) close: u32,
}

/// The runs of all locks that matter.
pub(crate) struct Runs {
    pub(crate) locks: Vec<Vec<Run>>,
    /// By section.
    pub(crate) places: Vec<SectionPlace>,
    /// The sections that are open when the window begins, of the locks that matter.
    pub(crate) at_first: Vec<u32>,
}

impl Runs {
    pub(crate) fn new(sections: &[Section], chains: &Chains) -> Runs {
        let mut by_lock: FxHashMap<u32, Vec<Run>> = FxHashMap::default();
        let mut places = Vec::with_capacity(sections.len());
        for (number, section) in (0u32..).zip(sections) {
            let chain = chains.of_thread(section.thread);
            let count = |event: u32, none: u32| match event {
                NONE => none,
                event if event < chains.fixed => 0,
                event => chains.position(event) + 1,
            };
            let (open, close) = (count(section.open, 0), count(section.close, NONE));
            places.push(SectionPlace { lock: NONE, chain, shared: section.shared, open, close });
            if chain == NONE || close == 0 {
                continue;
            }
            let runs = by_lock.entry(section.lock.0).or_default();
            let found = runs.iter_mut().find(|run| run.chain == chain && run.shared == section.shared);
            let stretch = Stretch { section: number, open, close };
            match found {
                Some(run) => run.stretches.push(stretch),
                None => runs.push(Run { chain, shared: section.shared, stretches: vec![stretch] }),
            }
        }
        let mut by_lock: Vec<(u32, Vec<Run>)> = by_lock.into_iter().collect();
        by_lock.sort_by_key(|(lock, _)| *lock);
        let hinders = |runs: &[Run]| {
            runs.iter().any(|run| runs.iter().any(|other| other.chain != run.chain && !(run.shared && other.shared)))
        };
        let locks: Vec<Vec<Run>> = by_lock.into_iter().map(|(_, runs)| runs).filter(|runs| hinders(runs)).collect();
        let mut at_first = Vec::new();
        for (lock, runs) in (0u32..).zip(&locks) {
            for stretch in runs.iter().flat_map(|run| &run.stretches) {
                places[stretch.section as usize].lock = lock;
                if stretch.open == 0 {
                    at_first.push(stretch.section);
                }
            }
        }
        Runs { locks, places, at_first }
    }

    /// The event that opens a section; before all others if the window begins with it.
    #[inline]
    pub(crate) fn open_event(&self, chains: &Chains, section: u32) -> u32 {
        let place = self.places[section as usize];
        place.open.checked_sub(1).map_or(0, |at| chains.events[place.chain as usize][at as usize])
    }

    /// The runs of other chains that exclude a section.
    #[inline]
    pub(crate) fn against(&self, section: u32) -> impl Iterator<Item = &Run> {
        let place = self.places[section as usize];
        let runs = if place.lock == NONE { &[][..] } else { &self.locks[place.lock as usize] };
        runs.iter().filter(move |run| run.chain != place.chain && !(run.shared && place.shared))
    }
}

//! The interface of the search: messages go in, violations come out as soon as they are certain, with paths that show
//! them.

use crate::automaton::{Automaton, SmallAutomaton};
use crate::discovered::Discovered;
use crate::limits::{Limits, Shortened};
use crate::messages::{Message, Messages};
use crate::path::PathReader;
use crate::payload::{Counts, Payload, Sets};
use crate::search::{Figures, Search};
use crate::tables::{self, AnySearch};
use num_bigint::BigUint;
use order::{ChainPrefix, EventStructure};

/// A violation that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The owner of the violated automaton.
    pub owner: u32,
    /// The indexes of the events on a path to it; the last one violates, unless it [fails at the end](Self::ended).
    /// Empty if the start state is violated.
    pub path: Vec<u64>,
    /// Whether the last event is a terminal read.
    pub terminal: bool,
    /// Whether the path has all events and only fails at its end ([`Automaton::fails_at_end`]).
    pub ended: bool,
}

/// The result of a search.
#[derive(Clone, Default, Debug)]
pub struct Outcome {
    /// How much was visited.
    pub figures: Figures,
    /// What cut the search short; empty if it was complete.
    pub shortened: Vec<Shortened>,
    /// At most one for each owner: of those that were visited, one with the fewest events.
    pub violations: Vec<Violation>,
    /// Owners with a violation to which no path could be read back.
    pub without_path: Vec<u32>,
}

/// Exact numbers of a lattice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    /// The number of cuts.
    pub cuts: u64,
    /// The number of pairs of a cut and an event that continues it.
    pub edges: u64,
    /// The number of cuts, other than that of all events, that no event continues.
    pub dead_ends: u64,
    /// By owner: the number of runs of all events, and of those that violate.
    pub runs: Vec<(BigUint, BigUint)>,
}

enum Engine<A: Automaton> {
    /// The automaton is a table.
    Table(Box<dyn AnySearch>),
    Sets(Box<Search<Sets<A>>>),
}

impl<A: Automaton> Engine<A> {
    fn search(&mut self) -> &mut (dyn AnySearch + '_) {
        match self {
            Engine::Table(search) => &mut **search,
            Engine::Sets(search) => &mut **search,
        }
    }
}

/// A search over events that may still be arriving.
///
/// Call [`Explorer::chain`] and [`Explorer::message`] as events arrive, [`Explorer::advance`] at any time, and
/// [`Explorer::outcome`] at the end. For a whole [`EventStructure`], [`explore`] does all of this.
pub struct Explorer<'f, A: Automaton> {
    messages: Messages<'f>,
    automaton: Option<A>,
    limits: Limits<'f>,
    engine: Option<Engine<A>>,
    dropped: u64,
}

impl<'f, A: Automaton> Explorer<'f, A> {
    /// A search before the first message. It needs the event structure if that has rules.
    pub fn new(automaton: A, limits: Limits<'f>, structure: Option<&'f EventStructure>) -> Explorer<'f, A> {
        Explorer { messages: Messages::new(structure), automaton: Some(automaton), limits, engine: None, dropped: 0 }
    }

    /// Announces a chain.
    ///
    /// A chain must be announced before the search leaves a level in which it could move. So the first chains are
    /// announced before the first [`Explorer::advance`] (which waits if there is no chain), and the chain of a forked
    /// thread before the message of the fork, with the fork as predecessor of its first event ([`Explorer::progress`]).
    /// Chains that messages name as predecessors are announced by that.
    pub fn chain(&mut self, chain: u32) {
        self.messages.chain(chain);
    }

    /// Receives an event. It is dropped if the search is over.
    pub fn message(&mut self, message: Message<'_>) {
        if self.is_done() {
            self.dropped += 1;
        } else {
            self.messages.message(message);
        }
    }

    /// Announces predecessors that the next event of a chain will have at least, although it has not arrived.
    pub fn progress(&mut self, chain: u32, predecessors: &[ChainPrefix]) {
        self.messages.progress(chain, predecessors);
    }

    /// Announces that a chain has no more events.
    pub fn end(&mut self, chain: u32) {
        self.messages.chain(chain).ended = true;
    }

    /// Whether the search is over, whatever events may still arrive.
    pub fn is_done(&self) -> bool {
        match &self.engine {
            Some(Engine::Table(search)) => search.is_done(),
            Some(Engine::Sets(search)) => search.is_done(),
            None => false,
        }
    }

    /// The number of messages that were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Continues as far as the messages allow. Returns the owners with a violation so far.
    pub fn advance(&mut self) -> Vec<u32> {
        if self.messages.chains.is_empty() {
            return Vec::new();
        }
        self.continue_search()
    }

    fn continue_search(&mut self) -> Vec<u32> {
        if self.engine.is_none()
            && let Some(mut automaton) = self.automaton.take()
        {
            let owners = automaton.start().len();
            let context = self.messages.structure.is_some_and(|structure| structure.rules.slots() > 0);
            // The tables of a small automaton need all classes, and more may arrive.
            let classes = self.messages.classes;
            let is_table = self.messages.has_ended() && !context;
            let small = if is_table { SmallAutomaton::new(&mut automaton, classes) } else { None };
            let limits = &self.limits;
            let most_cuts = self.messages.most_cuts();
            let table = match small {
                Some(small) => Some(tables::small(small, limits, owners)),
                None if is_table => Discovered::new(&mut automaton, classes, most_cuts)
                    .map(|table| tables::large(table, limits, owners)),
                None => None,
            };
            self.engine = Some(match table {
                Some(table) => Engine::Table(table),
                None => Engine::Sets(Box::new(Search::new(Sets::new(automaton), limits, owners))),
            });
        }
        let Some(engine) = &mut self.engine else { return Vec::new() };
        let search = engine.search();
        search.go_on(&self.messages, &self.limits);
        search.violated()
    }

    /// Ends the search, and reads paths to the violations back.
    pub fn outcome(mut self) -> Outcome {
        self.continue_search();
        match self.engine {
            Some(Engine::Table(search)) => search.outcome(&self.messages, &self.limits),
            Some(Engine::Sets(search)) => outcome(*search, &self.messages, &self.limits),
            None => Outcome::default(),
        }
    }
}

pub(crate) fn outcome<P: Payload>(mut search: Search<P>, messages: &Messages<'_>, limits: &Limits<'_>) -> Outcome {
    if !search.has_found_all() && (!search.done || messages.has_gaps()) {
        search.shortened.insert(Shortened::Missing);
    }
    let mut outcome =
        Outcome { figures: search.figures, shortened: search.shortened.into_iter().collect(), ..Outcome::default() };
    let mut payload = search.payload;
    payload.revive();
    let reader = PathReader { messages, limits, narrowings: &search.narrowings };
    for found in search.found {
        let candidate = found.candidate;
        let Some(history) = &search.history else {
            outcome.without_path.push(candidate.owner);
            continue;
        };
        let mut steps = Vec::new();
        let point = (candidate.cut.clone(), candidate.path, found.depth);
        let start;
        (payload, start) = reader.read_back(payload, history, point, &mut steps);
        if start.is_none() {
            outcome.without_path.push(candidate.owner);
            continue;
        }
        let index = |&(chain, number): &(u32, u32)| messages.event(chain, number).index;
        let mut path: Vec<u64> = steps.iter().rev().map(index).collect();
        if let Some(chain) = candidate.terminal {
            path.push(index(&(chain, candidate.cut[chain as usize])));
        }
        let (terminal, ended) = (candidate.terminal.is_some(), candidate.ended);
        outcome.violations.push(Violation { owner: candidate.owner, path, terminal, ended });
    }
    outcome.violations.sort_by_key(|violation| violation.owner);
    outcome
}

/// Sends all events of a structure to a search.
fn feed<A: Automaton>(explorer: &mut Explorer<'_, A>, structure: &EventStructure, class: &dyn Fn(u64) -> u32) {
    for (chain, of) in (0..).zip(&structure.chains) {
        explorer.chain(chain);
        for (number, event) in (0..).zip(&of.events) {
            let (index, predecessors) = (event.index, structure.predecessors(event));
            explorer.message(Message { chain, number, index, class: class(index), predecessors });
        }
        explorer.end(chain);
    }
}

/// Searches a whole event structure. `class` gives the class of an event, by index.
pub fn explore<A: Automaton>(
    structure: &EventStructure,
    class: &dyn Fn(u64) -> u32,
    automaton: A,
    limits: &Limits<'_>,
) -> Outcome {
    let mut explorer = Explorer::new(automaton, *limits, Some(structure));
    feed(&mut explorer, structure, class);
    explorer.outcome()
}

/// To count, so many steps of an automaton are discovered beforehand, however few cuts there may be.
const LEAST_TABLE: u64 = 1 << 12;

/// Counts the cuts, edges and runs of an event structure exactly. It is an error if a limit is met first.
pub fn count<A: Automaton>(
    structure: &EventStructure,
    class: &dyn Fn(u64) -> u32,
    mut automaton: A,
    limits: &Limits<'_>,
) -> Result<Counted, Shortened> {
    let owners = automaton.start().len();
    let limits = Limits { history: None, breadth: None, ..*limits };
    let mut explorer = Explorer::new(automaton, limits, Some(structure));
    feed(&mut explorer, structure, class);
    let (messages, mut automaton) = (explorer.messages, explorer.automaton.expect("the search has not begun"));
    // Without rules there are no contexts and no dead ends.
    let table = if messages.structure.is_none() {
        Discovered::new(&mut automaton, messages.classes, messages.most_cuts().max(LEAST_TABLE))
    } else {
        None
    };
    if let Some(table) = table {
        return tables::count(table, &messages, &limits, owners);
    }
    let mut search = Search::new(Counts::new(automaton), &limits, owners);
    let events = messages.len();
    let mut dead_ends = 0;
    while !search.done && search.depth < events {
        let before = search.depth;
        search.advance(&messages, &limits, before + 1);
        if let Some(&why) = search.shortened.first() {
            return Err(why);
        }
        dead_ends += search.payload.dead_ends();
    }
    let runs = if search.depth == events {
        search.payload.paths(&search.column, 0, owners)
    } else {
        vec![Default::default(); owners]
    };
    Ok(Counted { cuts: search.figures.cuts, edges: search.payload.edges, dead_ends, runs })
}

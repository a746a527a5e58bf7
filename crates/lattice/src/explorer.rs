//! The search as its users see it: messages in, verdicts as early as they are certain, and paths that show violations.

use crate::automaton::{Automaton, Closed};
use crate::limits::{Limits, Shortened};
use crate::messages::{Message, Messages};
use crate::path::Walk;
use crate::payload::{Bits, Counts, Few, Many, Payload, Sets};
use crate::search::{Figures, Search};
use num_bigint::BigUint;
use order::{ChainPrefix, EventStructure};

/// A violation that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Whose.
    pub owner: u32,
    /// The events of the events on a path to it, in order; the last one violates. Empty: violated before the first.
    pub path: Vec<u64>,
    /// The last is a terminal read.
    pub terminal: bool,
}

/// What came of a search.
#[derive(Clone, Default, Debug)]
pub struct Outcome {
    /// What was looked at.
    pub figures: Figures,
    /// What cut it short; empty if nothing did.
    pub shortened: Vec<Shortened>,
    /// PathState most one for each owner, of the least possible number of events among those that were looked at.
    pub violations: Vec<Violation>,
    /// Owners that are violated, but no path could be read back.
    pub unshown: Vec<u32>,
}

/// Exact numbers of a lattice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Cuts.
    pub cuts: u64,
    /// Pairs of a cut and an event that continues it.
    pub edges: u64,
    /// Cuts, other than the whole, that nothing continues.
    pub dead_ends: u64,
    /// By owner: runs of all events, and those that are violated.
    pub runs: Vec<(BigUint, BigUint)>,
}

enum Engine<A: Automaton> {
    Few(Search<Bits<Few>>),
    Many(Search<Bits<Many>>),
    Sets(Search<Sets<A>>),
}

macro_rules! each {
    ($engine:expr, $run:ident => $e:expr) => {
        match $engine {
            Engine::Few($run) => $e,
            Engine::Many($run) => $e,
            Engine::Sets($run) => $e,
        }
    };
}

/// A search over events that may still be arriving.
pub struct Explorer<'f, A: Automaton> {
    messages: Messages<'f>,
    automaton: Option<A>,
    limits: Limits<'f>,
    engine: Option<Engine<A>>,
    dropped: u64,
}

impl<'f, A: Automaton> Explorer<'f, A> {
    /// A search before the first message. A structure is needed where events have rules.
    pub fn new(automaton: A, limits: Limits<'f>, structure: Option<&'f EventStructure>) -> Explorer<'f, A> {
        Explorer { messages: Messages::new(structure), automaton: Some(automaton), limits, engine: None, dropped: 0 }
    }

    /// A chain from which messages may come. All chains must be known before a level is left in which they could move: the
    /// first before the first [`Explorer::advance`] (a search that knows no chain waits), that of a forked thread before
    /// the message of the fork, with the fork as what its first event needs ([`Explorer::progress`]). Chains that
    /// messages need are known.
    pub fn chain(&mut self, chain: u32) {
        self.messages.chain(chain);
    }

    /// An event has arrived. It is dropped if it can change nothing any more.
    pub fn message(&mut self, message: Message<'_>) {
        if self.is_done() {
            self.dropped += 1;
        } else {
            self.messages.message(message);
        }
    }

    /// The next event of a chain will need at least this, even if it has not arrived.
    pub fn progress(&mut self, chain: u32, predecessors: &[ChainPrefix]) {
        self.messages.progress(chain, predecessors);
    }

    /// No more events will come from a chain.
    pub fn end(&mut self, chain: u32) {
        self.messages.chain(chain).ended = true;
    }

    /// Nothing that comes can change what is known.
    pub fn is_done(&self) -> bool {
        self.engine.as_ref().is_some_and(|engine| each!(engine, run => run.done))
    }

    /// Messages that were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Goes on as far as the messages allow. Owners that are violated so far.
    pub fn advance(&mut self) -> Vec<u32> {
        // Nobody is there yet.
        if self.messages.chains.is_empty() {
            return Vec::new();
        }
        self.go_on()
    }

    fn go_on(&mut self) -> Vec<u32> {
        if self.engine.is_none()
            && let Some(mut automaton) = self.automaton.take()
        {
            let owners = automaton.start().len();
            let context = self.messages.structure.is_some_and(|structure| structure.rules.slots() > 0);
            // While messages arrive, new classes may.
            let closed = if self.messages.has_ended() && !context {
                Closed::new(&mut automaton, self.messages.classes)
            } else {
                None
            };
            let limits = &self.limits;
            self.engine = Some(match closed {
                Some(closed) if closed.states <= 8 => Engine::Few(Search::new(Bits::new(closed), limits, owners)),
                Some(closed) => Engine::Many(Search::new(Bits::new(closed), limits, owners)),
                None => Engine::Sets(Search::new(Sets::new(automaton), limits, owners)),
            });
        }
        let Some(engine) = &mut self.engine else { return Vec::new() };
        each!(engine, run => {
            run.advance(&self.messages, &self.limits, u64::MAX);
            run.found.iter().map(|found| found.candidate.owner).collect()
        })
    }

    /// What came of it, with paths.
    pub fn outcome(mut self) -> Outcome {
        self.go_on();
        let Some(engine) = self.engine else { return Outcome::default() };
        each!(engine, run => outcome(run, &self.messages, &self.limits))
    }
}

fn outcome<P: Payload>(mut run: Search<P>, messages: &Messages<'_>, limits: &Limits<'_>) -> Outcome {
    if !run.has_found_all() && (!run.done || messages.has_gaps()) {
        run.shortened.insert(Shortened::Missing);
    }
    let mut outcome =
        Outcome { figures: run.figures, shortened: run.shortened.into_iter().collect(), ..Outcome::default() };
    let mut payload = run.payload;
    payload.revive();
    let walk = Walk { messages, limits, caps: &run.caps };
    for found in run.found {
        let candidate = found.candidate;
        let Some(history) = &run.history else {
            outcome.unshown.push(candidate.owner);
            continue;
        };
        let mut places = Vec::new();
        let spot = (candidate.cut.clone(), candidate.at, found.depth);
        let start;
        (payload, start) = walk.back(payload, history, spot, &mut places);
        if start.is_none() {
            outcome.unshown.push(candidate.owner);
            continue;
        }
        let index = |&(chain, number): &(u32, u32)| messages.event(chain, number).index;
        let mut path: Vec<u64> = places.iter().rev().map(index).collect();
        if let Some(chain) = candidate.terminal {
            path.push(index(&(chain, candidate.cut[chain as usize])));
        }
        outcome.violations.push(Violation { owner: candidate.owner, path, terminal: candidate.terminal.is_some() });
    }
    outcome.violations.sort_by_key(|violation| violation.owner);
    outcome
}

/// Gives a search every event of a structure.
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

/// Searches a whole structure. `class` says what an event does to the automaton.
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

/// Counts the cuts, edges and runs of a structure. An error if a limit was met first.
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
    let (messages, automaton) = (explorer.messages, explorer.automaton.expect("the search has not begun"));
    let mut run = Search::new(Counts::new(automaton), &limits, owners);
    let events = messages.len();
    let mut dead_ends = 0;
    while !run.done && run.depth < events {
        let before = run.depth;
        run.advance(&messages, &limits, before + 1);
        if let Some(&why) = run.shortened.first() {
            return Err(why);
        }
        dead_ends += run.payload.dead_ends();
    }
    let runs =
        if run.depth == events { run.payload.paths(&run.column, 0, owners) } else { vec![Default::default(); owners] };
    Ok(Counted { cuts: run.figures.cuts, edges: run.payload.edges, dead_ends, runs })
}

//! The search as its users see it: messages in, verdicts as early as they are certain, and paths that show violations.

use crate::automaton::{Automaton, Closed};
use crate::limits::{Limits, Shortened};
use crate::path::Walk;
use crate::payload::{Bits, Counts, Few, Many, Payload, Sets};
use crate::run::{Figures, Run};
use crate::world::{Message, World};
use num_bigint::BigUint;
use order::{Frame, Need};

/// A violation that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Whose.
    pub owner: u32,
    /// The events of the elements on a path to it, in order; the last one violates. Empty: violated before the first.
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
    /// At most one for each owner, of the least possible number of elements among those that were looked at.
    pub violations: Vec<Violation>,
    /// Owners that are violated, but no path could be read back.
    pub unshown: Vec<u32>,
}

/// Exact numbers of a lattice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Cuts.
    pub cuts: u64,
    /// Pairs of a cut and an element that continues it.
    pub edges: u64,
    /// Cuts, other than the whole, that nothing continues.
    pub dead_ends: u64,
    /// By owner: runs of all elements, and those that are violated.
    pub runs: Vec<(BigUint, BigUint)>,
}

enum Engine<A: Automaton> {
    Few(Run<Bits<Few>>),
    Many(Run<Bits<Many>>),
    Sets(Run<Sets<A>>),
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

/// A search over elements that may still be arriving.
pub struct Explorer<'f, A: Automaton> {
    world: World<'f>,
    automaton: Option<A>,
    limits: Limits<'f>,
    engine: Option<Engine<A>>,
    dropped: u64,
}

impl<'f, A: Automaton> Explorer<'f, A> {
    /// A search before the first message. A frame is needed where elements have rules.
    pub fn new(automaton: A, limits: Limits<'f>, frame: Option<&'f Frame>) -> Explorer<'f, A> {
        Explorer { world: World::new(frame), automaton: Some(automaton), limits, engine: None, dropped: 0 }
    }

    /// A lane from which messages may come. All lanes must be known before a level is left in which they could move: the
    /// first before the first [`Explorer::advance`] (a search that knows no lane waits), that of a forked thread before
    /// the message of the fork, with the fork as what its first element needs ([`Explorer::progress`]). Lanes that
    /// messages need are known.
    pub fn lane(&mut self, lane: u32) {
        self.world.lane(lane);
    }

    /// An element has arrived. It is dropped if it can change nothing any more.
    pub fn message(&mut self, message: Message<'_>) {
        if self.is_done() {
            self.dropped += 1;
        } else {
            self.world.message(message);
        }
    }

    /// The next element of a lane will need at least this, even if it has not arrived.
    pub fn progress(&mut self, lane: u32, needs: &[Need]) {
        self.world.progress(lane, needs);
    }

    /// No more elements will come from a lane.
    pub fn end(&mut self, lane: u32) {
        self.world.lane(lane).ended = true;
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
        if self.world.lanes.is_empty() {
            return Vec::new();
        }
        self.go_on()
    }

    fn go_on(&mut self) -> Vec<u32> {
        if self.engine.is_none()
            && let Some(mut automaton) = self.automaton.take()
        {
            let owners = automaton.start().len();
            let context = self.world.frame.is_some_and(|frame| frame.rules.slots() > 0);
            // While messages arrive, new classes may.
            let closed =
                if self.world.has_ended() && !context { Closed::new(&mut automaton, self.world.classes) } else { None };
            let limits = &self.limits;
            self.engine = Some(match closed {
                Some(closed) if closed.states <= 8 => Engine::Few(Run::new(Bits::new(closed), limits, owners)),
                Some(closed) => Engine::Many(Run::new(Bits::new(closed), limits, owners)),
                None => Engine::Sets(Run::new(Sets::new(automaton), limits, owners)),
            });
        }
        let Some(engine) = &mut self.engine else { return Vec::new() };
        each!(engine, run => {
            run.advance(&self.world, &self.limits, u64::MAX);
            run.found.iter().map(|found| found.candidate.owner).collect()
        })
    }

    /// What came of it, with paths.
    pub fn outcome(mut self) -> Outcome {
        self.go_on();
        let Some(engine) = self.engine else { return Outcome::default() };
        each!(engine, run => outcome(run, &self.world, &self.limits))
    }
}

fn outcome<P: Payload>(mut run: Run<P>, world: &World<'_>, limits: &Limits<'_>) -> Outcome {
    if !run.has_found_all() && (!run.done || world.has_gaps()) {
        run.shortened.insert(Shortened::Missing);
    }
    let mut outcome =
        Outcome { figures: run.figures, shortened: run.shortened.into_iter().collect(), ..Outcome::default() };
    let mut payload = run.payload;
    payload.revive();
    let walk = Walk { world, limits, caps: &run.caps };
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
        let event = |&(lane, number): &(u32, u32)| world.element(lane, number).event;
        let mut path: Vec<u64> = places.iter().rev().map(event).collect();
        if let Some(lane) = candidate.terminal {
            path.push(event(&(lane, candidate.cut[lane as usize])));
        }
        outcome.violations.push(Violation { owner: candidate.owner, path, terminal: candidate.terminal.is_some() });
    }
    outcome.violations.sort_by_key(|violation| violation.owner);
    outcome
}

/// Gives a search every element of a frame.
fn feed<A: Automaton>(explorer: &mut Explorer<'_, A>, frame: &Frame, class: &dyn Fn(u64) -> u32) {
    for (lane, of) in (0..).zip(&frame.lanes) {
        explorer.lane(lane);
        for (number, element) in (0..).zip(&of.elements) {
            let (event, needs) = (element.event, frame.needs(element));
            explorer.message(Message { lane, number, event, class: class(event), needs });
        }
        explorer.end(lane);
    }
}

/// Searches a whole frame. `class` says what an event does to the automaton.
pub fn explore<A: Automaton>(frame: &Frame, class: &dyn Fn(u64) -> u32, automaton: A, limits: &Limits<'_>) -> Outcome {
    let mut explorer = Explorer::new(automaton, *limits, Some(frame));
    feed(&mut explorer, frame, class);
    explorer.outcome()
}

/// Counts the cuts, edges and runs of a frame. An error if a limit was met first.
pub fn count<A: Automaton>(
    frame: &Frame,
    class: &dyn Fn(u64) -> u32,
    mut automaton: A,
    limits: &Limits<'_>,
) -> Result<Counted, Shortened> {
    let owners = automaton.start().len();
    let limits = Limits { history: None, breadth: None, ..*limits };
    let mut explorer = Explorer::new(automaton, limits, Some(frame));
    feed(&mut explorer, frame, class);
    let (world, automaton) = (explorer.world, explorer.automaton.expect("the search has not begun"));
    let mut run = Run::new(Counts::new(automaton), &limits, owners);
    let elements = world.len();
    let mut dead_ends = 0;
    while !run.done && run.depth < elements {
        let before = run.depth;
        run.advance(&world, &limits, before + 1);
        if let Some(&why) = run.shortened.first() {
            return Err(why);
        }
        dead_ends += run.payload.dead_ends();
    }
    let runs = if run.depth == elements {
        run.payload.paths(&run.column, 0, owners)
    } else {
        vec![Default::default(); owners]
    };
    Ok(Counted { cuts: run.figures.cuts, edges: run.payload.edges, dead_ends, runs })
}

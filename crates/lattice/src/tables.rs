//! Searches whose automaton is a table. They are the same for every automaton, and by far the most code of a search
//! (loops are unrolled for each number of chains). So they are compiled here, and not again wherever an automaton is.

use crate::automaton::SmallAutomaton;
use crate::discovered::Discovered;
use crate::explorer::{Counted, Outcome, outcome};
use crate::limits::{Limits, Shortened};
use crate::messages::Messages;
use crate::payload::{Bits, Dense, Few, Listed, Many, Numbers, Payload, counted};
use crate::search::Search;

/// A search, whatever its cuts carry.
pub(crate) trait AnySearch {
    /// Whether it is over, whatever events may still arrive.
    fn is_done(&self) -> bool;
    /// Continues as far as the messages and the limits allow.
    fn go_on(&mut self, messages: &Messages<'_>, limits: &Limits<'_>);
    /// The owners with a violation so far.
    fn violated(&self) -> Vec<u32>;
    /// Ends the search, and reads paths to the violations back.
    fn outcome(self: Box<Self>, messages: &Messages<'_>, limits: &Limits<'_>) -> Outcome;
}

impl<P: Payload> AnySearch for Search<P> {
    fn is_done(&self) -> bool {
        self.done
    }

    fn go_on(&mut self, messages: &Messages<'_>, limits: &Limits<'_>) {
        self.advance(messages, limits, u64::MAX);
    }

    fn violated(&self) -> Vec<u32> {
        self.found.iter().map(|found| found.candidate.owner).collect()
    }

    fn outcome(self: Box<Self>, messages: &Messages<'_>, limits: &Limits<'_>) -> Outcome {
        outcome(*self, messages, limits)
    }
}

/// A search whose cuts have a bit for each state.
#[inline(never)]
pub(crate) fn small(automaton: SmallAutomaton, limits: &Limits<'_>, owners: usize) -> Box<dyn AnySearch> {
    if automaton.states <= 8 {
        Box::new(Search::<Bits<Few>>::new(Bits::new(automaton), limits, owners))
    } else {
        Box::new(Search::<Bits<Many>>::new(Bits::new(automaton), limits, owners))
    }
}

/// A search whose cuts have lists of states.
#[inline(never)]
pub(crate) fn large(table: Discovered, limits: &Limits<'_>, owners: usize) -> Box<dyn AnySearch> {
    Box::new(Search::new(Listed::new(table), limits, owners))
}

/// Counts the cuts, edges and runs. It is an error if a limit is met first.
#[inline(never)]
pub(crate) fn count(
    table: Discovered,
    messages: &Messages<'_>,
    limits: &Limits<'_>,
    owners: usize,
) -> Result<Counted, Shortened> {
    macro_rules! counted {
        ($payload:expr) => {{
            let mut search = Search::new($payload, limits, owners);
            search.advance(messages, limits, messages.len());
            if let Some(&why) = search.shortened.first() {
                return Err(why);
            }
            let runs = search.payload.paths(&search.column, 0, owners);
            Ok(Counted { cuts: search.figures.cuts, edges: search.payload.edges, dead_ends: 0, runs })
        }};
    }
    match Dense::new(table.minimised(counted), messages) {
        Ok(dense) => counted!(dense),
        Err(table) => counted!(Numbers::new(table, messages)),
    }
}

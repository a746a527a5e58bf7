//! A search whose messages are incomplete must say so.

use event::PathStatus;
use lattice::{Automaton, Explorer, Limits, Message};

/// Violated by class 1.
struct One;

impl Automaton for One {
    fn start(&mut self) -> Vec<u32> {
        vec![0]
    }
    fn step(&mut self, state: u32, class: u32) -> u32 {
        state.max(u32::from(class == 1))
    }
    fn status(&self, state: u32) -> PathStatus {
        if state == 1 { PathStatus::Violated } else { PathStatus::Open }
    }
}

fn message(number: u32, class: u32) -> Message<'static> {
    Message { chain: 0, number, index: number.into(), class, predecessors: &[] }
}

/// Event 1 never arrives, so event 2, which violates, is never taken.
#[test]
fn a_gap_that_is_never_filled_cuts_the_search_short() {
    let mut explorer = Explorer::new(One, Limits::default(), None);
    explorer.message(message(0, 0));
    explorer.message(message(2, 1));
    explorer.end(0);
    let outcome = explorer.outcome();
    assert!(!outcome.shortened.is_empty() || !outcome.violations.is_empty(), "{outcome:?}");
}

/// A chain has not ended, so more events may come.
#[test]
fn a_chain_that_has_not_ended_cuts_the_search_short() {
    let mut explorer = Explorer::new(One, Limits::default(), None);
    explorer.message(message(0, 0));
    let outcome = explorer.outcome();
    assert!(!outcome.shortened.is_empty(), "{outcome:?}");
}

/// Before the first message, the search cannot conclude that there are no events.
#[test]
fn going_on_before_the_first_message_ends_nothing() {
    let mut explorer = Explorer::new(One, Limits::default(), None);
    assert_eq!(explorer.advance(), []);
    explorer.message(message(0, 1));
    explorer.end(0);
    assert_eq!(explorer.advance(), [0], "dropped {}", explorer.dropped());
}

/// Repeated messages and repeated calls change nothing.
#[test]
fn messages_twice_change_nothing() {
    let mut explorer = Explorer::new(One, Limits::default(), None);
    explorer.chain(1);
    explorer.message(message(0, 0));
    explorer.message(message(0, 0));
    explorer.advance();
    explorer.message(message(0, 0));
    explorer.message(message(1, 1));
    explorer.end(1);
    explorer.advance();
    explorer.end(0);
    assert_eq!((explorer.advance(), explorer.advance(), explorer.is_done()), (vec![0], vec![0], true));
    explorer.message(message(1, 1));
    explorer.message(message(7, 1));
    let outcome = explorer.outcome();
    assert_eq!(outcome.violations[0].path, [0, 1]);
}

//! Limits while counting, and predecessors in chains that were not announced.

use event::{Batch, Event, Names, Op, PathStatus, SiteId, Space, ThreadId};
use lattice::{Automaton, Explorer, Limits, Message, Shortened, count};
use order::{ChainPrefix, EventStructure, Trace, full_hb};

/// One state that stays open.
struct Idle;

impl Automaton for Idle {
    fn start(&mut self) -> Vec<u32> {
        vec![0]
    }
    fn step(&mut self, state: u32, _class: u32) -> u32 {
        state
    }
    fn status(&self, _state: u32) -> PathStatus {
        PathStatus::Open
    }
}

/// Threads whose events are independent.
fn independent(threads: u32, events: u32) -> EventStructure {
    let (mut names, mut batch) = (Names::default(), Batch::default());
    for thread in 0..threads {
        names.add(Space::Thread, &format!("T{thread}")).expect("a name");
        let label = names.add(Space::Label, &format!("e{thread}")).expect("a name");
        for _ in 0..events {
            batch.events.push(Event::new(ThreadId(thread), Op::Internal, label, SiteId::default()));
        }
    }
    full_hb(&Trace::new(&names, &batch), |_| true)
}

#[test]
fn counting_ends_at_its_limits() {
    let structure = independent(4, 4);
    let counted = |limits: Limits<'_>| count(&structure, &|_| 0, Idle, &limits).map(|counted| counted.cuts);
    assert_eq!(counted(Limits::default()), Ok(625));
    assert_eq!(counted(Limits { max_cuts: Some(625), ..Limits::default() }), Ok(625));
    assert_eq!(counted(Limits { max_cuts: Some(600), ..Limits::default() }), Err(Shortened::MaxCuts(600)));
    assert!(matches!(counted(Limits { bytes: 4000, ..Limits::default() }), Err(Shortened::Memory(_))));
}

#[test]
fn predecessors_may_be_in_a_chain_that_was_not_announced() {
    let mut explorer = Explorer::new(Idle, Limits::default(), None);
    explorer.progress(0, &[ChainPrefix { chain: 2, count: 1 }]);
    explorer.end(1);
    explorer.advance();
    assert!(!explorer.is_done());
    explorer.message(Message {
        chain: 0,
        number: 0,
        index: 1,
        class: 0,
        predecessors: &[ChainPrefix { chain: 2, count: 1 }],
    });
    explorer.message(Message { chain: 2, number: 0, index: 0, class: 0, predecessors: &[] });
    explorer.end(0);
    explorer.end(2);
    assert_eq!(explorer.outcome().figures.cuts, 3);
}

//! Limits while counting, and predecessors in chains that were not announced.

use event::{Batch, Event, Names, Op, PathStatus, SiteId, Space, ThreadId};
use lattice::{Automaton, Explorer, Limits, Message, Shortened, count};
use num_bigint::BigUint;
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
    assert!(matches!(counted(Limits { bytes: 1000, ..Limits::default() }), Err(Shortened::Memory(_))));
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

/// A few states, of which the last one is violated for good; with `epochs`, each is there several times. If that is
/// many times, a table of them is too large for the fast way to count.
struct Doors {
    doors: u32,
    epochs: u32,
}

impl Automaton for Doors {
    fn start(&mut self) -> Vec<u32> {
        vec![0]
    }
    fn step(&mut self, state: u32, class: u32) -> u32 {
        let (epoch, door, last) = (state / self.doors, state % self.doors, self.doors - 1);
        let next = match (door, class) {
            (door, _) if door == last => last,
            (_, 0) => door + 1,
            (_, class) => (door * 3 + class) % last,
        };
        (epoch + 1) % self.epochs * self.doors + next
    }
    fn status(&self, state: u32) -> PathStatus {
        if state % self.doors == self.doors - 1 { PathStatus::Violated } else { PathStatus::Open }
    }
}

#[test]
fn all_ways_to_count_agree_whatever_the_number_of_threads() {
    for (threads, events, doors) in [(2, 90, 8), (3, 30, 8), (4, 12, 8), (6, 5, 8), (4, 12, 3), (6, 5, 2), (2, 90, 3)] {
        let structure = independent(threads, events);
        let class = |event: u64| (event * 7 % 5 % 3) as u32;
        let counted = |epochs, threads| {
            let limits = Limits { threads, ..Limits::default() };
            count(&structure, &class, Doors { doors, epochs }, &limits).expect("no limit")
        };
        let (fast, general) = (counted(1, 1), counted(50_000, 1));
        assert_eq!(fast, general);
        assert_eq!(fast, counted(10, 1));
        assert_eq!(fast, counted(1, 3));
        let factorial = |n: u32| (1..=n).map(BigUint::from).product::<BigUint>();
        let all = factorial(threads * events) / factorial(events).pow(threads);
        assert_eq!(fast.runs[0].0, all, "independent events have every order");
        assert!(doors < 8 || fast.runs[0].1 > BigUint::ZERO && fast.runs[0].1 < all);
        assert_eq!(fast.cuts, u64::from(events + 1).pow(threads));
    }
}

//! The search against its definition, a plain breadth-first search over sets of cuts, on random orders.

use crate::naive::{Machine, Random, TestEvent, chains, search, shows};
use event::PathStatus;
use lattice::{Automaton, Explorer, Limits, Message, Outcome};
use order::ChainPrefix;
use std::collections::BTreeMap;

fn feed(explorer: &mut Explorer<'_, Machine>, chains: &[Vec<TestEvent>]) {
    for (chain, events) in (0..).zip(chains) {
        explorer.chain(chain);
        for (number, event) in (0..).zip(events) {
            let TestEvent { index, class, ref predecessors } = *event;
            explorer.message(Message { chain, number, index, class, predecessors });
        }
        explorer.end(chain);
    }
}

fn found(outcome: &Outcome) -> BTreeMap<u32, u64> {
    outcome.violations.iter().map(|v| (v.owner, v.path.len() as u64)).collect()
}

fn check(chains: &[Vec<TestEvent>], machine: &mut Machine, outcome: &Outcome, what: &str) {
    let (cuts, expected) = search(chains, machine);
    assert_eq!(found(outcome), expected, "{what}");
    assert!(outcome.without_path.is_empty() && outcome.shortened.is_empty(), "{what}: {outcome:?}");
    for violation in &outcome.violations {
        assert!(shows(chains, machine, violation.owner, &violation.path), "{what}: {violation:?}");
    }
    if expected.is_empty() {
        assert_eq!(outcome.figures.cuts, cuts, "{what}");
    }
}

#[test]
fn searches_find_what_the_definition_says() {
    let (mut violated, mut held, mut wide) = (0, 0, 0);
    for seed in 0..6000u64 {
        let mut r = Random(seed * 77 + 5);
        let classes = r.below(4) + 1;
        let count = [2, 3, 4, 5, 8, 14, 40][r.below(7) as usize];
        // With many chains, few events are enough.
        let (most, dense) = match count {
            2 => (60, r.below(60)),
            3..=5 => (24, r.below(60)),
            8 => (14, 20 + r.below(60)),
            _ => (11, 40),
        };
        let chains = chains(&mut r, count, most, classes, dense);
        // From 64 on, sets of states are lists.
        let states = [2, 6, 8, 20, 64, 90, 400][r.below(7) as usize];
        let owners = 1 + r.below(3);
        let mut machine = Machine::random(&mut r, owners, states, classes);
        // With little memory for old levels, most of them are computed again to read a path back.
        let history = [1 << 20, 2000, 0][r.below(3) as usize];
        let limits = Limits { history: Some(history), ..Limits::default() };
        let mut explorer = Explorer::new(machine.clone(), limits, None);
        feed(&mut explorer, &chains);
        let outcome = explorer.outcome();
        check(&chains, &mut machine, &outcome, &format!("seed {seed}"));
        violated += u32::from(!outcome.violations.is_empty());
        held += u32::from(outcome.violations.is_empty());
        wide += u32::from(count > 12);
    }
    println!("{violated} violated, {held} not; {wide} with many chains");
    assert!(violated > 1000 && held > 500 && wide > 1000);
}

/// Pairs of threads, each of which begins when the pair before has ended.
fn chain(r: &mut Random) -> Vec<Vec<TestEvent>> {
    let mut chains: Vec<Vec<TestEvent>> = Vec::new();
    let mut index = 0;
    for pair in 0..100u32 {
        for _ in 0..2 {
            let mut own = Vec::new();
            for number in 0..3 {
                let before = |chain| ChainPrefix { chain, count: 3 };
                let begins = number == 0 && pair > 0;
                let predecessors = if begins { vec![before(2 * pair - 2), before(2 * pair - 1)] } else { vec![] };
                own.push(TestEvent { index, class: r.below(3), predecessors });
                index += 1;
            }
            chains.push(own);
        }
    }
    chains
}

#[test]
fn long_chains_and_many_threads_that_come_and_go() {
    for seed in 0..40u64 {
        let mut r = Random(seed);
        // Or eight chains of a hundred events with many predecessors in other chains.
        let chains = if seed % 2 == 0 { chain(&mut r) } else { chains(&mut r, 8, 800, 3, 98) };
        let mut machine = Machine::random(&mut r, 1, 7, 3);
        if seed % 3 > 0 {
            machine.status = vec![PathStatus::Open; 7];
        }
        let history = [1 << 22, 20_000][r.below(2) as usize];
        let limits = Limits { history: Some(history), ..Limits::default() };
        let mut explorer = Explorer::new(machine.clone(), limits, None);
        feed(&mut explorer, &chains);
        check(&chains, &mut machine, &explorer.outcome(), &format!("seed {seed}"));
    }
}

#[test]
fn messages_may_come_in_any_order() {
    let mut early = 0;
    for seed in 0..3000u64 {
        let mut r = Random(seed * 13 + 1);
        let chains = chains(&mut r, 2 + seed as u32 % 4, 20, 3, 40);
        let mut machine = Machine::random(&mut r, 1 + seed as u32 % 2, 5, 3);
        let mut messages: Vec<(u32, u32)> =
            (0..).zip(&chains).flat_map(|(chain, of)| (0..of.len() as u32).map(move |n| (chain, n))).collect();
        for at in (1..messages.len()).rev() {
            messages.swap(at, r.below(at as u32 + 1) as usize);
        }
        let mut explorer = Explorer::new(machine.clone(), Limits::default(), None);
        (0..chains.len() as u32).for_each(|chain| explorer.chain(chain));
        let mut left: Vec<usize> = chains.iter().map(Vec::len).collect();
        for chain in (0..chains.len()).filter(|&chain| left[chain] == 0) {
            explorer.end(chain as u32);
        }
        let mut said = 0;
        for (at, &(chain, number)) in messages.iter().enumerate() {
            let TestEvent { index, class, ref predecessors } = chains[chain as usize][number as usize];
            explorer.message(Message { chain, number, index, class, predecessors });
            left[chain as usize] -= 1;
            if left[chain as usize] == 0 {
                explorer.end(chain);
            }
            let now = explorer.advance().len();
            assert!(now >= said, "what is certain stays so");
            said = now;
            if at + 1 < messages.len() && explorer.is_done() {
                early += 1;
                let before = explorer.dropped();
                explorer.message(Message { chain, number, index, class, predecessors });
                assert_eq!(explorer.dropped(), before + 1, "it can change nothing");
                break;
            }
        }
        let outcome = explorer.outcome();
        assert_eq!(found(&outcome), search(&chains, &mut machine).1, "seed {seed}");
        for violation in &outcome.violations {
            assert!(shows(&chains, &mut machine, violation.owner, &violation.path), "seed {seed}");
        }
    }
    println!("{early} decided before the last message");
    assert!(early > 300);
}

#[test]
fn progress_lets_levels_go_on() {
    // The second chain sends no event, but announces that its next one follows both events of the first.
    let status = vec![PathStatus::Open, PathStatus::Open, PathStatus::Violated];
    let machine = Machine { next: vec![vec![1], vec![2], vec![2]], status, starts: vec![0] };
    let mut explorer = Explorer::new(machine, Limits::default(), None);
    explorer.chain(0);
    explorer.chain(1);
    for number in 0..2 {
        explorer.message(Message { chain: 0, number, index: u64::from(number), class: 0, predecessors: &[] });
    }
    assert_eq!(explorer.advance(), [], "an event of the second chain may come first");
    explorer.progress(1, &[ChainPrefix { chain: 0, count: 2 }]);
    assert_eq!(explorer.advance(), [0]);
}

#[test]
fn a_narrow_search_keeps_the_recorded_run_and_its_neighbourhood() {
    let (mut violated, mut shortened) = ([0; 3], [0; 3]);
    for seed in 0..800u64 {
        let mut r = Random(seed * 3 + 2);
        let chains = chains(&mut r, 6, 30, 3, 10);
        let mut machine = Machine::random(&mut r, 1, 12, 3);
        let mut order: Vec<&TestEvent> = chains.iter().flatten().collect();
        order.sort_by_key(|event| event.index);
        let mut state = 0;
        let recorded = order.iter().position(|event| {
            state = machine.step(state, event.class);
            machine.status(state) == PathStatus::Violated
        });
        let narrow = [
            Limits { breadth: Some(1), ..Limits::default() },
            Limits { breadth: Some(7), history: Some(0), ..Limits::default() },
            Limits { max_cuts: Some(200), ..Limits::default() },
        ];
        for (at, limits) in narrow.into_iter().enumerate() {
            let mut explorer = Explorer::new(machine.clone(), limits, None);
            feed(&mut explorer, &chains);
            let outcome = explorer.outcome();
            assert!(outcome.without_path.is_empty(), "seed {seed}");
            let path = outcome.violations.first().map(|violation| violation.path.clone());
            if let Some(path) = &path {
                assert!(shows(&chains, &mut machine, 0, path), "seed {seed}");
                violated[at] += 1;
            }
            // A narrowed level still has the cut of the recorded run.
            if let Some(last) = recorded {
                assert!(path.is_some_and(|path| path.len() <= last + 1), "seed {seed}");
            }
            let most = limits.breadth.unwrap_or(u64::MAX);
            assert!(outcome.figures.widest <= most.saturating_mul(6), "successors of what was kept");
            assert!(outcome.figures.cuts <= limits.max_cuts.map_or(u64::MAX, |n| n + 6 * 31), "seed {seed}");
            shortened[at] += u32::from(!outcome.shortened.is_empty());
        }
    }
    println!("violated {violated:?}, cut short {shortened:?}");
    assert!(violated[1] >= violated[0] && violated[0] > 100 && shortened.iter().all(|n| *n > 100));
}

#[test]
fn several_threads_find_what_one_finds() {
    for seed in [1, 2, 3] {
        let mut r = Random(seed);
        let mut event = |index| TestEvent { index, class: r.below(3), predecessors: vec![] };
        let chains: Vec<Vec<TestEvent>> = (0..6).map(|chain| (0..12).map(|n| event(n * 6 + chain)).collect()).collect();
        let mut machine = Machine::random(&mut r, 2, 6, 3);
        if seed == 1 {
            machine.status = vec![PathStatus::Open; 12];
        }
        let outcomes = [1, 2, 3].map(|threads| {
            let limits = Limits { threads, ..Limits::default() };
            let mut explorer = Explorer::new(machine.clone(), limits, None);
            feed(&mut explorer, &chains);
            explorer.outcome()
        });
        for outcome in &outcomes[1..] {
            assert_eq!(outcome.figures, outcomes[0].figures);
            assert_eq!(outcome.violations, outcomes[0].violations);
        }
    }
}

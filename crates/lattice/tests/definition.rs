//! The search against its definition on random orders: a plain breadth-first search over sets of cuts.

mod naive;

use lattice::{Automaton, Explorer, Limits, Message, Outcome, Status};
use naive::{Element, Machine, Random, lanes, search, shows};
use order::Need;
use std::collections::BTreeMap;

fn feed(explorer: &mut Explorer<'_, Machine>, lanes: &[Vec<Element>]) {
    for (lane, elements) in (0..).zip(lanes) {
        explorer.lane(lane);
        for (number, element) in (0..).zip(elements) {
            let Element { event, class, ref needs } = *element;
            explorer.message(Message { lane, number, event, class, needs });
        }
        explorer.end(lane);
    }
}

fn found(outcome: &Outcome) -> BTreeMap<u32, u64> {
    outcome.violations.iter().map(|v| (v.owner, v.path.len() as u64)).collect()
}

fn check(lanes: &[Vec<Element>], machine: &mut Machine, outcome: &Outcome, what: &str) {
    let (cuts, expected) = search(lanes, machine);
    assert_eq!(found(outcome), expected, "{what}");
    assert!(outcome.unshown.is_empty() && outcome.shortened.is_empty(), "{what}: {outcome:?}");
    for violation in &outcome.violations {
        assert!(shows(lanes, machine, violation.owner, &violation.path), "{what}: {violation:?}");
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
        // With many lanes, few elements are enough.
        let (most, dense) = match count {
            2 => (60, r.below(60)),
            3..=5 => (24, r.below(60)),
            8 => (14, 20 + r.below(60)),
            _ => (11, 40),
        };
        let lanes = lanes(&mut r, count, most, classes, dense);
        let states = [2, 6, 8, 20, 64, 90][r.below(6) as usize];
        let owners = 1 + r.below(3);
        let mut machine = Machine::random(&mut r, owners, states, classes);
        // Little memory for old levels: most must be explored again for a path.
        let history = [1 << 20, 2000, 0][r.below(3) as usize];
        let limits = Limits { history: Some(history), ..Limits::default() };
        let mut explorer = Explorer::new(machine.clone(), limits, None);
        feed(&mut explorer, &lanes);
        let outcome = explorer.outcome();
        check(&lanes, &mut machine, &outcome, &format!("seed {seed}"));
        violated += u32::from(!outcome.violations.is_empty());
        held += u32::from(outcome.violations.is_empty());
        wide += u32::from(count > 12);
    }
    println!("{violated} violated, {held} not; {wide} with many lanes");
    assert!(violated > 1000 && held > 500 && wide > 1000);
}

/// Pairs of threads in a chain: each pair begins when the one before has ended.
fn chain(r: &mut Random) -> Vec<Vec<Element>> {
    let mut lanes: Vec<Vec<Element>> = Vec::new();
    let mut event = 0;
    for pair in 0..100u32 {
        for _ in 0..2 {
            let mut own = Vec::new();
            for number in 0..3 {
                let before = |lane| Need { lane, count: 3 };
                let begins = number == 0 && pair > 0;
                let needs = if begins { vec![before(2 * pair - 2), before(2 * pair - 1)] } else { vec![] };
                own.push(Element { event, class: r.below(3), needs });
                event += 1;
            }
            lanes.push(own);
        }
    }
    lanes
}

#[test]
fn long_lanes_and_many_threads_that_come_and_go() {
    for seed in 0..40u64 {
        let mut r = Random(seed);
        // Or eight lanes of a hundred elements that hear of each other all the time.
        let lanes = if seed % 2 == 0 { chain(&mut r) } else { lanes(&mut r, 8, 800, 3, 98) };
        let mut machine = Machine::random(&mut r, 1, 7, 3);
        if seed % 3 > 0 {
            machine.status = vec![Status::Open; 7];
        }
        let history = [1 << 22, 20_000][r.below(2) as usize];
        let limits = Limits { history: Some(history), ..Limits::default() };
        let mut explorer = Explorer::new(machine.clone(), limits, None);
        feed(&mut explorer, &lanes);
        check(&lanes, &mut machine, &explorer.outcome(), &format!("seed {seed}"));
    }
}

#[test]
fn messages_may_come_in_any_order() {
    let mut early = 0;
    for seed in 0..3000u64 {
        let mut r = Random(seed * 13 + 1);
        let lanes = lanes(&mut r, 2 + seed as u32 % 4, 20, 3, 40);
        let mut machine = Machine::random(&mut r, 1 + seed as u32 % 2, 5, 3);
        let mut messages: Vec<(u32, u32)> =
            (0..).zip(&lanes).flat_map(|(lane, of)| (0..of.len() as u32).map(move |n| (lane, n))).collect();
        for at in (1..messages.len()).rev() {
            messages.swap(at, r.below(at as u32 + 1) as usize);
        }
        let mut explorer = Explorer::new(machine.clone(), Limits::default(), None);
        (0..lanes.len() as u32).for_each(|lane| explorer.lane(lane));
        let mut left: Vec<usize> = lanes.iter().map(Vec::len).collect();
        for lane in (0..lanes.len()).filter(|&lane| left[lane] == 0) {
            explorer.end(lane as u32);
        }
        let mut said = 0;
        for (at, &(lane, number)) in messages.iter().enumerate() {
            let Element { event, class, ref needs } = lanes[lane as usize][number as usize];
            explorer.message(Message { lane, number, event, class, needs });
            left[lane as usize] -= 1;
            if left[lane as usize] == 0 {
                explorer.end(lane);
            }
            let now = explorer.advance().len();
            assert!(now >= said, "what is certain stays so");
            said = now;
            if at + 1 < messages.len() && explorer.is_done() {
                early += 1;
                let before = explorer.dropped();
                explorer.message(Message { lane, number, event, class, needs });
                assert_eq!(explorer.dropped(), before + 1, "it can change nothing");
                break;
            }
        }
        let outcome = explorer.outcome();
        assert_eq!(found(&outcome), search(&lanes, &mut machine).1, "seed {seed}");
        for violation in &outcome.violations {
            assert!(shows(&lanes, &mut machine, violation.owner, &violation.path), "seed {seed}");
        }
    }
    println!("{early} decided before the last message");
    assert!(early > 300);
}

#[test]
fn progress_lets_levels_go_on() {
    // The second lane is silent, but says that its next element needs both of the first.
    let status = vec![Status::Open, Status::Open, Status::Violated];
    let machine = Machine { next: vec![vec![1], vec![2], vec![2]], status, starts: vec![0] };
    let mut explorer = Explorer::new(machine, Limits::default(), None);
    explorer.lane(0);
    explorer.lane(1);
    for number in 0..2 {
        explorer.message(Message { lane: 0, number, event: u64::from(number), class: 0, needs: &[] });
    }
    assert_eq!(explorer.advance(), [], "an element of the second lane may come first");
    explorer.progress(1, &[Need { lane: 0, count: 2 }]);
    assert_eq!(explorer.advance(), [0]);
}

#[test]
fn a_narrow_search_keeps_the_recorded_run_and_its_neighbourhood() {
    let (mut violated, mut shortened) = ([0; 3], [0; 3]);
    for seed in 0..800u64 {
        let mut r = Random(seed * 3 + 2);
        let lanes = lanes(&mut r, 6, 30, 3, 10);
        let mut machine = Machine::random(&mut r, 1, 12, 3);
        let mut order: Vec<&Element> = lanes.iter().flatten().collect();
        order.sort_by_key(|element| element.event);
        let mut state = 0;
        let recorded = order.iter().position(|element| {
            state = machine.step(state, element.class);
            machine.status(state) == Status::Violated
        });
        let narrow = [
            Limits { breadth: Some(1), ..Limits::default() },
            Limits { breadth: Some(7), history: Some(0), ..Limits::default() },
            Limits { max_cuts: Some(200), ..Limits::default() },
        ];
        for (at, limits) in narrow.into_iter().enumerate() {
            let mut explorer = Explorer::new(machine.clone(), limits, None);
            feed(&mut explorer, &lanes);
            let outcome = explorer.outcome();
            assert!(outcome.unshown.is_empty(), "seed {seed}");
            let path = outcome.violations.first().map(|violation| violation.path.clone());
            if let Some(path) = &path {
                assert!(shows(&lanes, &mut machine, 0, path), "seed {seed}");
                violated[at] += 1;
            }
            // The recorded run is always among what is kept.
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
        let mut element = |event| Element { event, class: r.below(3), needs: vec![] };
        let lanes: Vec<Vec<Element>> = (0..6).map(|lane| (0..12).map(|n| element(n * 6 + lane)).collect()).collect();
        let mut machine = Machine::random(&mut r, 2, 6, 3);
        if seed == 1 {
            machine.status = vec![Status::Open; 12];
        }
        let outcomes = [1, 2, 3].map(|threads| {
            let limits = Limits { threads, ..Limits::default() };
            let mut explorer = Explorer::new(machine.clone(), limits, None);
            feed(&mut explorer, &lanes);
            explorer.outcome()
        });
        for outcome in &outcomes[1..] {
            assert_eq!(outcome.figures, outcomes[0].figures);
            assert_eq!(outcome.violations, outcomes[0].violations);
        }
    }
}

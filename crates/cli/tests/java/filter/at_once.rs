//! Accesses that are made at the same time, in whatever order: variables that must be found to race, whatever that is,
//! and variables that must not.

use super::acts::{Act, Do, THREADS, VARIABLES, Way};
use super::recorded::Recorded;
use super::soundness::{Order, access, conflict, is_atomic};
use super::{AT_ONCE, Machine};
use oracle::random::Random;
use oracle::{cases, read};
use std::collections::{BTreeMap, BTreeSet};

/// Variables of objects that all have, to be read and written plainly; the last also by a `VarHandle`.
const SHARED: [usize; 7] = [0, 1, 2, 3, 4, 5, 8];

/// Either nothing orders the threads of a program, or every variable that is written has its lock.
fn random(r: &mut Random) -> (Vec<Act>, bool) {
    let (threads, guarded) = (2 + r.below(THREADS - 1), r.percent(50));
    let variables: Vec<usize> = (0..1 + r.below(3)).map(|_| *r.pick(&SHARED)).collect();
    let lock = r.below(3);
    let mut acts: Vec<Act> = (1..threads).map(|t| Act { thread: 0, what: Do::Fork(t) }).collect();
    for thread in 0..threads {
        let mostly = *r.pick(&variables);
        for _ in 0..1 + r.below(24) {
            let v = if r.percent(70) { mostly } else { *r.pick(&variables) };
            // Loads would order what they see.
            let ways: &[Way] = if v == 8 && !guarded { &[Way::Write, Way::Store] } else { &[Way::Read, Way::Write] };
            let act = Act { thread, what: Do::Access(*r.pick(ways), v) };
            if guarded {
                let [take, give] = [Do::Acquire(lock), Do::Release(lock)].map(|what| Act { thread, what });
                acts.extend([take, act, give]);
            } else {
                acts.push(act);
            }
        }
    }
    (acts, guarded)
}

/// Variables that race in every order.
fn racing(acts: &[Act]) -> BTreeSet<String> {
    let races = |e: &Act, f: &Act| {
        let both_atomic = [e, f].iter().all(|act| access(act).is_some_and(|(way, _)| is_atomic(way)));
        e.thread != f.thread && conflict(e, f) && !both_atomic
    };
    let racy = acts.iter().filter(|e| acts.iter().any(|f| races(e, f)));
    racy.filter_map(access).map(|(_, v)| VARIABLES[v].name.to_owned()).collect()
}

fn wrong(acts: &[Act], guarded: bool, recorded: &Recorded) -> Option<String> {
    let present: Vec<Act> = recorded.was.iter().flatten().map(|&act| acts[act]).collect();
    let wanted = if guarded { BTreeSet::new() } else { racing(acts) };
    let found = Order::of(&present, false).racy(&present);
    if std::panic::catch_unwind(|| read(&recorded.text)).is_err() {
        return Some("no possible trace".to_owned());
    }
    (wanted != found).then(|| format!("races {found:?}, but must {wanted:?}"))
}

#[test]
fn accesses_at_once() {
    let machine = Machine::new();
    let seeds: Vec<u64> = (0..cases(300)).collect();
    let (mut racy, mut events) = (0, 0);
    for some in seeds.chunks(AT_ONCE) {
        let made: BTreeMap<u64, (Vec<Act>, bool)> =
            some.iter().map(|&seed| (seed, random(&mut Random::new(7 << 40 | seed)))).collect();
        let programs = made.iter().map(|(&seed, (acts, _))| (seed, acts.clone())).collect();
        for (seed, recorded) in machine.run(&programs, true) {
            let (acts, guarded) = &made[&seed];
            let recorded = recorded.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let wrong = wrong(acts, *guarded, &recorded);
            assert_eq!(wrong, None, "seed {seed}\n{}recorded\n{}", super::acts::trace_of(acts), recorded.text);
            events += recorded.was.len();
            racy += if *guarded { 0 } else { racing(acts).len() };
        }
    }
    println!("{} programs, {events} events, {racy} racy variables", seeds.len());
}

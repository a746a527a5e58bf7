//! Threads that wait in loops of atomic accesses.

use crate::completeness::races;
use crate::soundness::{Case, racy, refuted};
use crate::traces::{AMPLE, Lie};
use oracle::random::Random;
use oracle::seeds;
use std::fmt::Write;

/// A trace of up to three threads that load and try to change one to three atomic variables again and again, with some
/// plain accesses and a lock.
fn waiting_trace(r: &mut Random) -> String {
    let threads = 2 + r.below(2);
    let names = &["x", "y", "z"][..1 + r.below(3)];
    let (stay, updates, stores, others) =
        (*r.pick(&[60, 80]), *r.pick(&[0, 20, 60]), *r.pick(&[5, 15]), *r.pick(&[10, 25]));
    let mut values = [0; 3];
    let mut holder = None;
    let mut text: String = names.iter().map(|name| format!("#! init {name}=0\n")).collect();
    let mut t = 0;
    // What a thread does next in its loop.
    let mut next = [0; 3];
    for number in 0..9 + r.below(7) {
        if !r.percent(stay) {
            t = r.below(threads);
        }
        let op = if r.percent(others) {
            match r.below(4) {
                0 | 3 if holder.is_none() => {
                    holder = Some(t);
                    "acq(l)".to_string()
                }
                0 | 3 if holder == Some(t) => {
                    holder = None;
                    "rel(l)".to_string()
                }
                0 | 3 => "tfail(l)".to_string(),
                1 => format!("r({})", r.pick(&["p", "q"])),
                _ => format!("w({})", r.pick(&["p", "q"])),
            }
        } else {
            let which = next[t] % names.len();
            next[t] += 1;
            let name = names[which];
            if r.percent(stores) {
                values[which] = r.below(2);
                format!("ast({name})={}", values[which])
            } else if r.percent(updates) {
                if r.percent(10) {
                    values[which] = r.below(2);
                }
                format!("armw({name})={}", values[which])
            } else {
                format!("ald({name})={}", values[which])
            }
        };
        writeln!(text, "T{}|{op}|{number}", t + 1).expect("a string");
    }
    text
}

#[test]
fn accesses_of_waiting_threads_that_are_left_out_change_nothing() {
    let (mut looks, mut found) = (0, 0);
    let seeds = seeds(3_000);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let mut r = Random::new(8 << 32 | seed);
        let text = waiting_trace(&mut r);
        let lie = *r.pick(&[Lie::Apart, Lie::Apart, Lie::Together, Lie::Side(6)]);
        let case = Case::of(&text, AMPLE, lie, &mut r);
        let refuted = refuted(&case);
        assert!(refuted.is_empty(), "{refuted:?} seed {seed}\n{}", case.shown());
        assert_eq!(racy(&case.trace), racy(&case.after), "seed {seed}\n{}", case.shown());
        let (before, after) = (races(&case.trace), races(&case.after));
        let lost = before.difference(&after).next();
        assert_eq!(lost, None, "seed {seed}\n{}", case.shown());
        looks += case.out.looks;
        found += before.len();
    }
    println!("{looks} accesses left out, {found} races");
    assert!(looks as u64 > count / 2 && found as u64 > count / 30);
}

/// What is left out of a trace: how many of its events, by examples.
#[test]
fn a_load_is_left_out_if_it_tells_nothing() {
    let examples = [
        // That store was seen before.
        ("t ald(x)=0 t ald(x)=0 t ald(x)=0 u ast(x)=1 t ald(x)=1", 2),
        // Another store of the same value.
        ("t ald(x)=0 u ast(x)=0 t ald(x)=0 t ald(x)=0", 1),
        // Something else in between.
        ("t ald(x)=0 t r(y) t ald(x)=0", 0),
        ("t ald(x)=0 t acq(l) t ald(x)=0", 0),
        // A value that is not known may be another one.
        ("t ald(x)=0 t ald(x) t ald(x)=0 t ald(x) t ald(x)", 1),
        // Another memory order.
        ("t ald(x)=0@relaxed t ald(x)=0@acquire", 0),
        // The second round is written: a sequence lock confirms what it has read by it.
        ("t ald(x)=0 t ald(y)=0 t ald(x)=0 t ald(y)=0", 0),
        ("t ald(x)=0 t ald(y)=0 t ald(x)=0 t ald(y)=0 t ald(x)=0 t ald(y)=0", 2),
        // Tries to take a spin lock.
        ("t ast(x)=1 u armw(x)=1 u armw(x)=1 u armw(x)=1 t ast(x)=0 u armw(x)=1", 2),
        // Each of two threads that try tells the other one that it has come. From then on it knows.
        ("t ast(x)=1 u armw(x)=1 v armw(x)=1 u armw(x)=1 v armw(x)=1 u armw(x)=1 v armw(x)=1", 3),
        // Try-locks that fail in one section, and in another.
        ("t acq(l) u tfail(l) u tfail(l) u tfail(l) t rel(l) t acq(l) u tfail(l) u tfail(l)", 3),
        // There was a store in between, so that what u released before is not known to those who see v's.
        ("t ast(x)=1 u armw(x)=1 t ast(x)=0 v armw(x)=1 u armw(x)=1 v ald(x)=1 v ald(x)=1", 1),
    ];
    for (events, left_out) in examples {
        let words: Vec<&str> = events.split(' ').collect();
        let text: String = words.chunks(2).map(|event| format!("{}|{}|0\n", event[0], event[1])).collect();
        let case = Case::of(&format!("#! init x=0 y=0\n{text}"), AMPLE, Lie::Apart, &mut Random::new(0));
        assert_eq!(case.out.looks, left_out, "{}", case.shown());
        assert_eq!(refuted(&case), Vec::<String>::new(), "{}", case.shown());
    }
}

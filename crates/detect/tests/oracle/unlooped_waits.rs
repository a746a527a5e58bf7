//! Waits without a loop against the definition, on random small programs of one lock.

use detect::wait_without_loop::WaitWithoutLoop;
use oracle::random::Random;
use oracle::unlooped_waits::{UnloopedWait, unlooped_waits};
use oracle::{cases, read};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A run of three threads that access variables, mostly under a lock, wait and notify.
fn trace(r: &mut Random) -> String {
    let mut text = String::new();
    let mut holder = None;
    // By thread that waits: whether a notify is there for it.
    let mut waiting: [Option<bool>; 3] = [None; 3];
    let mut put = |thread: usize, op: String, site: usize| {
        let site = if site == 0 { String::new() } else { format!("s{site}") };
        let _ = writeln!(text, "T{thread}|{op}|{site}");
    };
    for _ in 0..20 + r.below(40) {
        let thread = holder.filter(|_| r.percent(90)).unwrap_or_else(|| r.below(3));
        let (x, site) = (*r.pick(&["x", "y"]), *r.pick(&[0, 1, 1, 2, 2]));
        if let Some(notified) = waiting[thread] {
            if holder.is_none() && (notified || r.percent(10)) {
                let why = if notified { "" } else { "=timeout" };
                put(thread, format!("woken(c,l){why}"), 0);
                (waiting[thread], holder) = (None, Some(thread));
            }
            continue;
        }
        if holder != Some(thread) {
            match r.below(3) {
                0 => put(thread, format!("{}({x})", r.pick(&["r", "w"])), site),
                _ if holder.is_none() => {
                    put(thread, "acq(l)".to_owned(), 0);
                    holder = Some(thread);
                }
                _ => {}
            }
            continue;
        }
        match r.below(20) {
            0..=3 => put(thread, format!("r({x})"), site),
            4..=9 => put(thread, format!("w({x})"), site),
            10 => {
                put(thread, format!("r({x})"), site);
                put(thread, format!("w({x})"), site);
            }
            11 => put(thread, format!("{}({x})", r.pick(&["ald", "ast", "armw"])), site),
            12..=14 if waiting.iter().flatten().count() < 2 => {
                put(thread, "wait(c,l)".to_owned(), 0);
                (waiting[thread], holder) = (Some(false), None);
            }
            12..=16 if waiting.contains(&Some(false)) => {
                put(thread, "notifyall(c)".to_owned(), 0);
                waiting.iter_mut().flatten().for_each(|notified| *notified = true);
            }
            17 if r.percent(20) => put(thread, format!("rpin({x},0)"), 0),
            _ => {
                put(thread, "rel(l)".to_owned(), 0);
                holder = None;
            }
        }
    }
    text
}

#[test]
fn waits_without_a_loop_are_those_of_the_definition() {
    let (mut found, mut found_in) = (0, 0);
    let count = cases(40_000);
    for seed in 0..count {
        let text = trace(&mut Random::new(7 << 40 | seed));
        let trace = read(&text);
        let expected = unlooped_waits(&trace.names, &trace.batch);
        let mut detector = WaitWithoutLoop::new();
        detector.batch(&trace.names, &trace.batch);
        let waits = detector.finish();
        let reported: BTreeSet<UnloopedWait> = waits
            .waits
            .iter()
            .map(|wait| (wait.wait.event as usize, wait.woken.event as usize, wait.take.event as usize))
            .collect();
        assert_eq!(reported, expected, "seed {seed}\n{text}");
        assert_eq!((reported.len(), waits.left_out), (waits.waits.len(), 0), "seed {seed}\n{text}");
        for wait in &waits.waits {
            let (take, other) =
                (trace.batch.events[wait.take.event as usize], trace.batch.events[wait.other.event as usize]);
            assert_eq!((take.object(), take.site()), (other.object(), other.site()), "seed {seed}\n{text}");
            assert_ne!(take.thread(), other.thread(), "seed {seed}\n{text}");
        }
        found += expected.len();
        found_in += u64::from(!expected.is_empty());
    }
    assert!(found_in > count / 200 && found_in < count / 2, "{found} in {found_in} traces");
}

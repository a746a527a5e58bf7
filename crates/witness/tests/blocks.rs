//! Violations of atomicity and lost wake-ups: the checker agrees with the definitions.

#[path = "../../detect/tests/atomicity/naive.rs"]
#[allow(dead_code, unreachable_pub, reason = "each test uses its part")]
mod naive;

use crate::common::definition::{Definition, Next};
use crate::common::{Random, Sample, maker, mutate};
use event::{Causality, Event, Op, SiteId, ThreadId};
use naive::Naive;
use trace::Trace;
use trace::text::TextReader;
use witness::{check_atomicity, check_lost_wakeup};

/// Puts blocks around events.
fn with_blocks(random: &mut Random, sample: &mut Sample) {
    let mut open = [0; 3];
    let mut waiting = [false; 3];
    let mut events = Vec::new();
    for &event in &sample.batch.events {
        let thread = event.thread().0 as usize;
        if !waiting[thread] && random.one_in(2) && !matches!(event.op(), Op::Begin | Op::End) {
            let end = open[thread] > 0 && random.one_in(3);
            if end || open[thread] < 1 {
                let op = if end { Op::End } else { Op::Begin };
                open[thread] = if end { open[thread] - 1 } else { open[thread] + 1 };
                events.push(Event::new(ThreadId(thread as u32), op, 0, SiteId(0)));
            }
        }
        waiting[thread] = event.op() == Op::Wait;
        if !matches!(event.op(), Op::Begin | Op::End | Op::Pin | Op::ReadPin) {
            events.push(event);
        }
    }
    sample.batch.events = events;
}

/// A random schedule, mostly feasible, which may end with a terminal read.
fn schedule(random: &mut Random, events: usize, definition: &Definition<'_>) -> Vec<u64> {
    let mut schedule: Vec<usize> = Vec::new();
    for _ in 0..random.below(events) + 1 {
        let next = |wanted| {
            let next = (0..events).filter(|&e| !schedule.contains(&e));
            next.filter(|&e| definition.next(Causality::Maximal, &schedule, e) == wanted).collect::<Vec<usize>>()
        };
        let (may, terminal) = (next(Next::Yes), next(Next::Terminal));
        if !terminal.is_empty() && random.one_in(8) {
            schedule.push(random.pick(&terminal));
            break;
        }
        if !may.is_empty() {
            let choice = random.pick(&may);
            schedule.push(choice);
        }
    }
    let mut schedule: Vec<u64> = schedule.into_iter().map(|e| e as u64).collect();
    if random.one_in(8) {
        mutate(random, &mut schedule, events);
    }
    schedule
}

#[test]
fn cycles_are_those_of_the_definition() {
    let mut random = Random(77);
    let mut found = [0; 2];
    for _ in 0..60_000 {
        let events = 5 + random.below(12);
        let mut sample = maker::make(&mut random, events, false);
        with_blocks(&mut random, &mut sample);
        let begins: Vec<u64> =
            (0u64..).zip(&sample.batch.events).filter(|(_, e)| e.op() == Op::Begin).map(|(at, _)| at).collect();
        if begins.is_empty() {
            continue;
        }
        let definition = Definition::new(&sample);
        let schedule = schedule(&mut random, sample.batch.events.len(), &definition);
        let naive = Naive::new(&sample.batch);
        let begin = random.pick(&begins);
        let feasible = definition.feasible(Causality::Maximal, &schedule, true).is_ok();
        let expected = feasible && schedule.contains(&begin) && {
            let order: Vec<usize> = schedule.iter().map(|&e| e as usize).collect();
            Naive::on_cycle(&naive.before(&order), begin as usize)
        };
        let checked =
            check_atomicity(Causality::Maximal, &sample.names, &sample.batch, &sample.initial(), &schedule, begin);
        assert_eq!(checked.is_ok(), expected, "{schedule:?} {begin} {checked:?}\n{}", sample.show());
        found[usize::from(expected)] += 1;
    }
    println!("atomicity: {} refused, {} accepted", found[0], found[1]);
    assert!(found[1] > 500 && found[0] > 500, "{found:?}");
}

fn read(text: &str) -> Trace {
    let text: String = text.split_whitespace().map(|event| format!("{event}\n")).collect();
    Trace::read(&mut TextReader::new(text.as_bytes())).expect("it is a trace")
}

#[test]
fn a_block_inside_others_can_be_the_transaction() {
    let trace = read("A|begin(o)|0 A|r(x)|1 A|begin(t)|2 A|r(x)|3 B|w(x)|4 A|r(x)|5 A|end(t)|6 A|end(o)|7");
    let check = |schedule: &[u64], begin| {
        check_atomicity(Causality::Maximal, &trace.names, &trace.batch, &|_| event::Value::Unknown, schedule, begin)
    };
    assert_eq!(check(&[0, 1, 2, 3, 4, 5], 2), Ok(()));
    assert_eq!(check(&[0, 1, 2, 3, 4, 5], 0), Ok(()));
    // Taken alone, the inner block is serialisable here, and the outer one is not.
    assert_eq!(check(&[0, 1, 4, 2, 3], 0), Ok(()));
    assert!(check(&[0, 1, 4, 2, 3], 2).is_err());
    for (schedule, begin) in [(&[0, 1, 2, 3, 4][..], 2), (&[0, 1][..], 2), (&[0, 1, 2, 3, 4, 5][..], 3), (&[], 99)] {
        assert!(check(schedule, begin).is_err(), "{schedule:?}");
    }
}

#[test]
fn points_between_posts_and_awaits_are_no_transactions() {
    let trace = read("A|begin|0 A|post(o)|1 A|await(o)|2 A|end|3");
    let unknown = |_| event::Value::Unknown;
    assert!(check_atomicity(Causality::Maximal, &trace.names, &trace.batch, &unknown, &[0, 1, 2, 3], 0).is_err());
    let trace = read("A|begin|0 A|post(o)|1 B|await(o)|2 B|post(p)|3 A|await(p)|4 A|end|5");
    assert!(check_atomicity(Causality::Maximal, &trace.names, &trace.batch, &unknown, &[0, 1, 2, 3, 4], 0).is_ok());
}

#[test]
fn a_lost_wakeup_needs_the_test_then_the_notify_then_the_wait() {
    let trace = read("P|r(x)|0 P|acq(l)|1 P|wait(c,l)|2 E|w(x)|3 E|notify(c)|4 E|notify(c)|5");
    let check = |schedule: &[u64], [wait, notify, test]: [u64; 3]| {
        let unknown = |_| event::Value::Unknown;
        check_lost_wakeup(Causality::Maximal, &trace.names, &trace.batch, &unknown, schedule, wait, notify, test)
    };
    assert_eq!(check(&[0, 3, 4, 1, 2], [2, 4, 0]), Ok(()));
    let refused: [(&[u64], [u64; 3]); 8] = [
        (&[0, 1, 2, 3, 4], [2, 4, 0]),
        (&[0, 1, 3, 2, 4], [2, 4, 0]),
        (&[0, 3, 4, 1, 2, 5], [2, 4, 0]),
        (&[0, 3, 4, 5, 1, 2], [2, 5, 0]),
        (&[0, 1, 2], [2, 4, 0]),
        (&[0, 3, 4, 1, 2], [1, 4, 0]),
        (&[0, 3, 4, 1, 2], [2, 4, 1]),
        (&[3, 4, 0, 1, 2], [2, 4, 0]),
    ];
    for (schedule, claim) in refused {
        assert!(check(schedule, claim).is_err(), "{schedule:?} {claim:?}");
    }
}

#[test]
fn the_notify_that_woke_it_counts_or_the_first_that_woke_nobody() {
    let woken = read(
        "P|r(x)|0 P|acq(l)|1 P|wait(c,l)|2 E|w(x)|3 E|notify(c)|4 E|notify(c)|5 P|woken(c,l)|6 P|rel(l)|7 \
         Q|r(x)|8 Q|acq(l)|9 Q|wait(c,l)|10 R|r(x)|11 R|acq(l)|12 R|wait(c,l)|13 E|w(x)|14 E|notify(c)|15 \
         E|notify(c)|16 Q|woken(c,l)|17",
    );
    let unknown = |_| event::Value::Unknown;
    let check = |schedule: &[u64], [wait, notify, test]: [u64; 3]| {
        check_lost_wakeup(Causality::Maximal, &woken.names, &woken.batch, &unknown, schedule, wait, notify, test)
    };
    assert_eq!(check(&[0, 3, 4, 1, 2], [2, 4, 0]), Ok(()));
    assert!(check(&[0, 3, 4, 5, 1, 2], [2, 5, 0]).is_err());
    // Event 15 woke Q, so R should have been woken by 16.
    let before = [0, 1, 2, 3, 4, 5, 6, 7, 11, 14, 15, 16, 12, 13];
    assert_eq!(check(&before, [13, 16, 11]), Ok(()));
    assert!(check(&before, [13, 15, 11]).is_err());
    // A read that is followed by another one, or of a variable that the notifier did not write, is no test.
    let again = read("P|r(x)|0 E|w(x)|1 P|r(x)|2 P|r(y)|3 P|acq(l)|4 P|wait(c,l)|5 E|notify(c)|6 F|w(y)|7");
    for test in [0, 2, 3] {
        let schedule = [0, 1, 2, 3, 4, 6, 5];
        let (names, batch) = (&again.names, &again.batch);
        assert!(
            check_lost_wakeup(Causality::Maximal, names, batch, &unknown, &schedule, 5, 6, test).is_err(),
            "{test}"
        );
    }
}

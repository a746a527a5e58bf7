//! Lost wake-ups against their definition: every one passes the checker, and on small traces none is missed.

use crate::common::{Random, Sample};
use crate::runs;
use detect::Search;
use detect::lost_wakeup::{LostWakeups, Predicted, Waits, predict};
use event::{Batch, Causality, Event, Names, Op, SiteId, Value, VarId, Wake};
use std::collections::BTreeSet;
use trace::Trace;
use trace::text::TextReader;

fn waits(names: &Names, batch: &Batch) -> Waits {
    let mut lost = LostWakeups::new();
    lost.batch(names, batch);
    lost.finish()
}

/// What is predicted, every claim passed through the checker.
fn predicted(names: &Names, batch: &Batch, initial: &dyn Fn(VarId) -> Value, window: usize) -> Predicted {
    let search = Search { window, ..Search::default() };
    let found = predict(names, batch, initial, &waits(names, batch), &search);
    for lost in &found.lost {
        let schedule = lost.schedule.whole();
        let [wait, notify, test] = [lost.wakeup.wait, lost.wakeup.notify, lost.wakeup.test].map(|place| place.event);
        let model = Causality::Maximal;
        let result = witness::check_lost_wakeup(model, names, batch, initial, &schedule, wait, notify, test);
        assert_eq!(result, Ok(()), "{lost:?}");
    }
    found
}

/// Puts in reads, which threads may have tested something with, and writes, which may have been the reason to notify.
fn with_accesses(random: &mut Random, sample: &mut Sample) {
    let mut waiting = [false; 3];
    let mut events = Vec::new();
    for &event in &sample.batch.events {
        let me = &mut waiting[event.thread().0 as usize];
        if !*me && random.one_in(3) {
            let variable = random.below(2) as u32;
            events.push(Event::new(event.thread(), Op::Read, variable, SiteId(0)));
        }
        if matches!(event.op(), Op::Notify | Op::NotifyAll) && !random.one_in(3) {
            let variable = random.below(2) as u32;
            events.push(Event::new(event.thread(), Op::Write, variable, SiteId(0)));
        }
        *me = event.op() == Op::Wait;
        events.push(event);
    }
    sample.batch.events = events;
}

/// The test before a wait, and the notify that ended it or should have.
fn definition(sample: &Sample, pairs: &[(usize, usize)], wait: usize) -> Option<(usize, usize)> {
    let events = &sample.batch.events;
    let own = |e: &usize| events[*e].thread() == events[wait].thread();
    let notify = match (wait + 1..events.len()).find(own) {
        Some(woken) => pairs.iter().find(|pair| pair.0 == woken).map(|pair| pair.1),
        None => (wait + 1..events.len()).find(|&e| {
            let paired = pairs.iter().any(|pair| pair.1 == e);
            events[e].object() == events[wait].object()
                && (events[e].op() == Op::NotifyAll || events[e].op() == Op::Notify && !paired)
        }),
    }?;
    let writes = |e: usize| matches!(events[e].op(), Op::Write | Op::AtomicStore | Op::AtomicRmw);
    let by_notifier = |e: usize| events[e].thread() == events[notify].thread();
    let reads = |e: &usize| matches!(events[*e].op(), Op::Read | Op::AtomicLoad);
    let mut seen = BTreeSet::new();
    let last = |e: &usize| seen.insert(events[*e].object());
    let over = (0..wait).rev().filter(own).find(|&e| events[e].op() == Op::Woken);
    let accesses = (over.unwrap_or(0)..wait).rev().filter(own).filter(|e| reads(e) || writes(*e));
    let mut candidates: Vec<usize> = accesses.filter(last).filter(reads).collect();
    let end = events.len();
    let lock = sample.batch.extra(events[wait]).lock.0;
    let given = (0..wait).filter(own).rev().find(|&e| events[e].op() == Op::Release && events[e].object() == lock);
    let notifiers: BTreeSet<u32> = (0..end)
        .filter(|e| matches!(events[*e].op(), Op::Notify | Op::NotifyAll) && !own(e))
        .filter(|&e| events[e].object() == events[wait].object())
        .map(|e| events[e].thread().0)
        .collect();
    let is_news = |read: usize| {
        let is_write = |&e: &usize| writes(e) && events[e].object() == events[read].object();
        (0..end).filter(is_write).any(|e| notifiers.contains(&events[e].thread().0))
    };
    if candidates.iter().any(|&read| Some(read) > given && is_news(read)) {
        candidates.retain(|&read| Some(read) > given);
    }
    let written = |read: usize, since: usize| {
        let is_of = |&e: &usize| writes(e) && by_notifier(e) && events[e].object() == events[read].object();
        (since..notify).rev().find(is_of)
    };
    let newest = candidates.iter().filter_map(|&read| written(read, 0)).max()?;
    let reported = (0..newest).rev().find(|&e| {
        let notifies = matches!(events[e].op(), Op::Notify | Op::NotifyAll);
        notifies && by_notifier(e) && events[e].object() == events[notify].object()
    });
    let test = candidates.into_iter().find(|&e| written(e, reported.unwrap_or(0)).is_some())?;
    written(test, test).map(|_| (test, notify))
}

/// Wake-ups with the notifies that they are paired with.
fn pairs(sample: &Sample) -> Vec<(usize, usize)> {
    let events = &sample.batch.events;
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (woken, &event) in events.iter().enumerate() {
        if event.op() != Op::Woken || sample.batch.extra(event).wake != Wake::Notified {
            continue;
        }
        let Some(wait) = (0..woken).rev().find(|&e| events[e].thread() == event.thread()) else { continue };
        if events[wait].op() != Op::Wait {
            continue;
        }
        let notify = (wait..woken).find(|&e| match events[e].op() {
            Op::Notify => events[e].object() == event.object() && pairs.iter().all(|pair| pair.1 != e),
            Op::NotifyAll => events[e].object() == event.object(),
            _ => false,
        });
        pairs.extend(notify.map(|notify| (woken, notify)));
    }
    pairs
}

#[test]
fn all_lost_wakeups_of_small_traces() {
    let mut random = Random(11);
    let (mut total, mut impossible) = (0, 0);
    for _ in 0..60_000 {
        let events = 4 + random.below(6);
        let mut sample = crate::common::maker::make(&mut random, events, false);
        if sample.batch.events.iter().all(|event| event.op() != Op::Wait) {
            continue;
        }
        with_accesses(&mut random, &mut sample);
        let pairs = pairs(&sample);
        let all = 0..sample.batch.events.len();
        let candidates: Vec<[usize; 3]> = all
            .filter(|&e| sample.batch.events[e].op() == Op::Wait)
            .filter_map(|wait| definition(&sample, &pairs, wait).map(|(test, notify)| [wait, notify, test]))
            .collect();
        if candidates.is_empty() {
            continue;
        }
        let mut expected: BTreeSet<[usize; 3]> = BTreeSet::new();
        let done = runs::every(&sample, 5_000, |prefix, terminal| {
            let Some(last) = prefix.last().filter(|_| !terminal) else { return };
            let at = |e: usize| prefix.iter().position(|&other| other == e);
            let lost =
                |&&[wait, notify, test]: &&[usize; 3]| wait == *last && at(notify).is_some() && at(test) < at(notify);
            expected.extend(candidates.iter().filter(lost));
        });
        if done.is_none() {
            continue;
        }
        let found = predicted(&sample.names, &sample.batch, &sample.initial(), 1000);
        assert_eq!((found.undecided, found.apart, found.unasked), (0, 0, 0));
        let got: BTreeSet<[usize; 3]> = found
            .lost
            .iter()
            .map(|l| [l.wakeup.wait, l.wakeup.notify, l.wakeup.test].map(|place| place.event as usize))
            .collect();
        assert_eq!(got, expected, "{}", sample.show());
        total += got.len();
        impossible += usize::from(expected.is_empty());
    }
    println!("{total} lost, {impossible} traces with candidates and none");
    assert!(total > 500 && impossible > 10);
}

fn read(text: &str) -> Trace {
    Trace::read(&mut TextReader::new(text.as_bytes())).expect("it is a trace")
}

fn corpus(name: &str) -> Trace {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/traces").join(name).join("trace.std");
    read(&std::fs::read_to_string(path).expect("it is there"))
}

#[test]
fn the_remote_agent_loses_a_signal_and_the_repaired_one_does_not() {
    let zero = |_| Value::Int(0);
    let trace = corpus("rax");
    let found = predicted(&trace.names, &trace.batch, &zero, 10_000);
    assert_eq!(found.lost.len(), 1);
    let wakeup = found.lost[0].wakeup;
    assert_eq!([wakeup.wait, wakeup.notify, wakeup.test].map(|place| place.event), [2, 6, 0]);
    assert_eq!(wakeup.later, None);
    let trace = corpus("rax-locked");
    let found = predicted(&trace.names, &trace.batch, &zero, 10_000);
    assert_eq!(found, Predicted::default());
}

#[test]
fn a_signal_lost_in_the_recorded_run_is_observed() {
    let observed = |text: &str| {
        let text: String = text.split_whitespace().map(|event| format!("{event}\n")).collect();
        let trace = read(&text);
        let found = waits(&trace.names, &trace.batch);
        found.observed.iter().map(|w| [w.wait, w.notify, w.test].map(|place| place.event)).collect::<Vec<_>>()
    };
    assert_eq!(observed("P|r(x)|0 E|w(x)|1 E|notify(c)|2 P|acq(l)|3 P|wait(c,l)|4"), [[4, 2, 0]]);
    // Notified before the test, woken later, or notified later: not lost. Without a test nothing is claimed.
    assert!(observed("E|w(x)|0 E|notify(c)|1 P|r(x)|2 P|acq(l)|3 P|wait(c,l)|4").is_empty());
    assert!(observed("P|r(x)|0 E|w(x)|1 E|notify(c)|2 P|acq(l)|3 P|wait(c,l)|4 P|woken(c,l)=timeout|5").is_empty());
    assert!(observed("P|r(x)|0 E|w(x)|1 E|notify(c)|2 P|acq(l)|3 P|wait(c,l)|4 E|notify(c)|5").is_empty());
    assert!(observed("E|w(x)|0 E|notify(c)|1 P|acq(l)|2 P|wait(c,l)|3").is_empty());
    assert!(observed("P|r(y)|0 E|w(x)|1 E|notify(c)|2 P|acq(l)|3 P|wait(c,l)|4").is_empty());
    assert!(observed("P|r(x)|0 E|w(x)|1 E|notify(c)|2 P|r(y)|3 P|acq(l)|4 P|wait(c,l)|5").is_empty());
}

/// A queue whose producer notifies behind its unlock: what it announced, another consumer has taken, and who waits has
/// seen that there is nothing. That it has read a slot before which the producer has filled since was no test.
#[test]
fn a_notify_of_what_the_thread_has_dealt_with_is_none_that_it_lost() {
    let text = "C|acq(l)|1 C|r(n)|2 C|w(n)|3 C|r(q)|4 C|rel(l)|5 \
        P|acq(l)|6 P|w(q)|7 P|r(n)|8 P|w(n)|9 P|rel(l)|10 \
        D|acq(l)|11 D|r(n)|12 D|w(n)|13 D|r(q)|14 D|rel(l)|15 \
        C|acq(l)|16 C|r(n)|17 C|wait(c,l)|18 P|notify(c)|19 C|woken(c,l)|20";
    let found = |text: &str| {
        let trace = read(&text.split_whitespace().map(|event| format!("{event}\n")).collect::<String>());
        predicted(&trace.names, &trace.batch, &|_| Value::Unknown, 1000).lost.len()
    };
    assert_eq!(found(text), 0);
    // Without a look it has.
    assert_eq!(found(&text.replace("C|r(n)|17 ", "")), 1);
    // One condition for two things: it waits for the second, and that it has looked for the first long before is of no
    // concern.
    let text = "M|acq(l)|1 M|r(x)|2 M|rel(l)|3 M|acq(l)|4 M|r(y)|5 M|wait(c,l)|6 \
        A|acq(l)|7 A|w(x)|8 A|rel(l)|9 A|notify(c)|10 M|woken(c,l)|11 M|r(y)|12 M|wait(c,l)|13 \
        B|acq(l)|14 B|w(y)|15 B|rel(l)|16 B|notify(c)|17 M|woken(c,l)|18";
    assert_eq!(found(text), 0);
    // A large copy behind what is announced.
    let copy: String = (0..500).map(|n| format!("N|w(i{n})|2 ")).collect();
    let text = format!("P|r(x)|0 P|acq(l)|1 P|wait(c,l)|2 N|w(x)|3 {copy} N|notify(c)|4 P|woken(c,l)|5");
    assert_eq!(found(&text), 1);
    // What a thread writes for itself, and a recorder may leave out, makes no difference.
    let text = "P|r(x)|0 N|w(x)|1 N|notify(c)|2 P|acq(l)|3 P|wait(c,l)|4 N|w(p)|5 N|notify(c)|6 P|woken(c,l)|7";
    assert_eq!([found(text), found(&text.replace("N|w(p)|5 ", ""))], [1, 1]);
}

#[test]
fn another_notify_after_it_is_reported_and_far_ones_are_counted() {
    let mut text = "P|r(x)|1\nP|acq(l)|2\nP|wait(c,l)|3\n".to_string();
    for _ in 0..50 {
        text += "E|w(x)|4\n";
    }
    let trace = read(&(text + "E|notify(c)|5\nE|notify(c)|6\n"));
    let unknown = |_| Value::Unknown;
    let found = predicted(&trace.names, &trace.batch, &unknown, 1000);
    assert_eq!((found.lost.len(), found.lost[0].wakeup.later), (1, Some(54)));
    let found = predicted(&trace.names, &trace.batch, &unknown, 20);
    assert_eq!((found.lost.len(), found.apart), (0, 1));
}

/// What a thread reads after its test does not take the test's place, wherever its variable has its number.
#[test]
fn a_test_is_remembered_behind_other_reads() {
    for others in [0, 10, 63, 64, 65, 200] {
        let noise: String = (0..others).map(|k| format!("P|r(v{k})|2\n")).collect();
        let text = format!(
            "P|r(x)|1\n{noise}P|acq(l)|3\nP|wait(c,l)|4\nE|w(x)|5\nE|notify(c)|6\nP|woken(c,l)|7\nP|rel(l)|8\n"
        );
        let trace = read(&text);
        let found = predicted(&trace.names, &trace.batch, &|_| Value::Unknown, 10_000);
        let tests: Vec<u64> = found.lost.iter().map(|lost| lost.wakeup.test.event).collect();
        assert_eq!(tests, [0], "{others}");
    }
}

/// With more threads than there are bits for, it may not be known who wrote what: then nothing is claimed.
#[test]
fn many_threads_do_not_make_news_of_others_writes() {
    let crowd: String = (0..70).map(|k| format!("X{k}|w(y)|1\n")).collect();
    let text = format!(
        "P|acq(l)|1\nP|r(x)|2\nP|rel(l)|3\nP|r(y)|4\nP|acq(l)|5\nP|wait(c,l)|6\nE|w(x)|7\nE|notify(c)|8\n\
         P|woken(c,l)|9\nP|rel(l)|10\n{crowd}"
    );
    let trace = read(&text);
    // The checker would refuse another test than x, for no notifier writes y.
    let found = predicted(&trace.names, &trace.batch, &|_| Value::Unknown, 10_000);
    assert!(found.lost.iter().all(|lost| lost.wakeup.test.event == 1), "{found:?}");
}

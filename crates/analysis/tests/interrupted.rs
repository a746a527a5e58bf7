//! An interrupt at any moment ends an analysis by all detectors within half a second, with the report of what there is.
//!
//! Only the time that the analysis has on a processor counts, so that a busy machine does not fail the test.

use analysis::{Analysis, Control, Outcome, Plan};
use generate::{Generator, Options};
use std::fmt::Write;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use trace::Source;
use trace::text::TextReader;

/// What the end may take.
const HALF_A_SECOND: Duration = Duration::from_millis(500);

/// How long a thread was on a processor.
fn on_processor(task: &str) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{task}/schedstat")).ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}

/// Analyses a trace, interrupted after so much time on a processor: how much more it took, and what came of it. `None`:
/// it ended by itself.
fn interrupted(source: &mut dyn Source, after: Duration) -> Option<(Duration, Outcome)> {
    let cancel = AtomicBool::new(false);
    let (say, hear) = channel();
    thread::scope(|scope| {
        let cancel = &cancel;
        let worker = scope.spawn(move || {
            let link = fs::read_link("/proc/thread-self").expect("this is Linux");
            say.send(link.to_str().expect("a number").to_owned()).expect("somebody listens");
            let control = Control { cancel, ..Control::none() };
            let mut analysis = Analysis::new(Plan::new()).expect("a plan");
            let outcome = analysis.run(source, &control).expect("an outcome");
            (on_processor("thread-self").expect("this is Linux"), outcome)
        });
        let task = hear.recv().expect("the worker has begun");
        let mut before = on_processor(&task)?;
        while before < after && !worker.is_finished() {
            thread::sleep(Duration::from_millis(1));
            before = on_processor(&task)?;
        }
        cancel.store(true, Ordering::Relaxed);
        let (whole, outcome) = worker.join().expect("it does not panic");
        outcome.interrupted.then_some((whole.saturating_sub(before), outcome))
    })
}

/// Interrupts the analysis of a trace at several moments.
fn check(name: &str, moments: &[u64], mut source: impl FnMut() -> Box<dyn Source>) {
    let mut ended = 0;
    for &after in moments {
        let Some((took, outcome)) = interrupted(&mut *source(), Duration::from_millis(after)) else { continue };
        assert!(took < HALF_A_SECOND, "{name}: {took:?} after an interrupt at {after} ms");
        let stats = &outcome.report.stats.per_analysis;
        assert!(analysis::detectors::all().all(|detector| stats.contains_key(detector.name())), "{name}: {stats:?}");
        assert!(stats.values().any(|stats| stats.truncated.is_some()) || !outcome.report.trace.losses.is_empty());
        ended += 1;
    }
    assert!(ended > 0, "{name}: all moments were too late");
}

#[test]
fn a_long_trace_is_left_soon() {
    let options =
        Options { events: 3_000_000, vars: 5_000, all_ops: true, values: true, seed: 6, ..Options::default() };
    check("long", &[20, 150, 300, 500, 800, 1300, 2100, 3400], || {
        Box::new(Generator::new(options.clone()).expect("options"))
    });
}

/// Two threads that hold many locks of their own while they write many variables.
#[test]
fn many_held_locks_and_many_variables_are_left_soon() {
    let mut text = String::new();
    for thread in ["A", "B"] {
        (0..1500).for_each(|lock| writeln!(text, "{thread}|acq({thread}{lock})|a:{lock}").expect("room"));
        (0..1500).for_each(|var| writeln!(text, "{thread}|w(v{var})|b:{var}").expect("room"));
        (0..1500).for_each(|lock| writeln!(text, "{thread}|rel({thread}{lock})|c:{lock}").expect("room"));
    }
    check("locks", &[2, 30, 100, 300], || Box::new(TextReader::new(std::io::Cursor::new(text.clone()))));
}

/// Blocks of many threads, each before the next, and events of others after all of them.
#[test]
fn many_open_blocks_are_left_soon() {
    let mut text: String = (0..1500).map(|k| format!("T{k}|begin(b{k})|a\n")).collect();
    for k in (0..1499).rev() {
        write!(text, "T{k}|w(c{k})|b\nT{}|r(c{k})|c\n", k + 1).expect("room");
    }
    for k in 0..20_000 {
        write!(text, "T1499|w(d{k})|d\nU{}|r(d{k})|e\n", k % 50).expect("room");
    }
    check("blocks", &[2, 30, 100, 300, 700], || Box::new(TextReader::new(std::io::Cursor::new(text.clone()))));
}

/// Most of its events cannot have happened as recorded.
#[test]
fn a_trace_with_problems_is_left_soon() {
    let mut text = String::new();
    for k in 0..60_000 {
        let (t, u, x) = (k % 8, (k + 1) % 8, k % 30);
        writeln!(text, "T{t}|rel(l{})|a\nT{t}|w(x{x})=1|b\nT{u}|r(x{x})=2|c\nT{t}|acq(l{})|d", k % 50, k * 7 % 50)
            .expect("room");
    }
    check("problems", &[2, 50, 200, 600], || Box::new(TextReader::new(std::io::Cursor::new(text.clone()))));
}

//! Watched variables are written by all threads, and the planted violation is there exactly if it is asked for.

use event::{Op, Space, ThreadId, Value, VarId};
use generate::{Generator, Options};
use trace::Trace;

/// The recorded values of the watched variables.
struct Write {
    event: usize,
    thread: ThreadId,
    /// The place of the variable's name among the watched ones.
    variable: usize,
    value: i64,
}

fn options(seed: u64) -> Options {
    let watch = vec!["a".to_owned(), "b".to_owned()];
    Options { events: 20_000, threads: 5, vars: 200, locks: 5, watch, watch_every: 50.0, seed, ..Options::default() }
}

fn generate(options: &Options) -> Trace {
    Trace::read(&mut Generator::new(options.clone()).expect("these options make sense")).expect("it does not fail")
}

fn writes(trace: &Trace, options: &Options) -> Vec<Write> {
    let watched = |var: VarId| options.watch.iter().position(|name| trace.names.var(var) == name);
    let mut writes = Vec::new();
    for (index, &event) in trace.batch.events.iter().enumerate() {
        if event.op().space() == Some(Space::Var)
            && let Some(variable) = watched(event.var())
        {
            assert_eq!(event.op(), Op::Write);
            let Value::Int(value) = trace.batch.extra(event).value else { panic!("a value is recorded") };
            writes.push(Write { event: index, thread: event.thread(), variable, value });
        }
    }
    writes
}

#[test]
fn without_a_violation_nobody_writes_7() {
    let options = options(1);
    let trace = generate(&options);
    let writes = writes(&trace, &options);
    assert!(writes.iter().all(|write| (0..7).contains(&write.value)));
    for thread in 0..5 {
        for variable in 0..2 {
            assert!(writes.iter().any(|write| (write.thread, write.variable) == (ThreadId(thread), variable)));
        }
    }
    // One occasion in eight has up to five writes.
    assert!((250..1000).contains(&writes.len()), "{}", writes.len());
    assert_eq!(trace.batch.inits.len(), 2);
}

#[test]
fn the_planted_writes_stand_together_and_belong_to_two_threads() {
    for seed in 0..50 {
        let quiet = options(seed);
        let planted = Options { plant: Some(12_345), ..quiet.clone() };
        let trace = generate(&planted);
        let writes = writes(&trace, &planted);
        let first = writes.iter().position(|write| write.value == 7).expect("the violation is there");
        let [a7, a0, b7, b0] = &writes[first..first + 4] else { panic!("four writes") };
        assert!((12_345..13_345).contains(&a7.event), "{}", a7.event);
        assert_eq!([a7, a0, b7, b0].map(|write| write.event - a7.event), [0, 1, 2, 3]);
        assert_eq!([a7, a0, b7, b0].map(|write| write.variable), [0, 0, 1, 1]);
        assert_eq!([a7, a0, b7, b0].map(|write| write.value), [7, 0, 7, 0]);
        assert!(a7.thread == a0.thread && b7.thread == b0.thread && a7.thread != b7.thread);
        assert_eq!(writes.iter().filter(|write| write.value == 7).count(), 2);
        // Up to there it is the trace that it would be without.
        assert_eq!(trace.batch.events[..12_345], generate(&quiet).batch.events[..12_345]);
    }
}
